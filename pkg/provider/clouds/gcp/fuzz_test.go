package gcp

import (
	"testing"

	. "github.com/onsi/gomega"
)

// FuzzCloudConfig: nothing panics, and what was parsed and written is read again as it was, by the transformer's results too.
func FuzzCloudConfig(f *testing.F) {
	for _, seed := range []string{
		"", "[global]\nproject-id = alpha\nlocal-zone = europe-west3-a\nnetwork-name = default\nmultizone\n",
		"[Global]\nnode-tags=a\nnode-tags=\" b # \\\"\\\\\"\nstack-type=IPV4 ; c\n", "[global]\ntoken-url=\"", "{}", "[global",
		`{"type": "service_account", "private_key": "-----BEGIN A-----\n-----END A-----\n"}`, "e30=",
	} {
		f.Add([]byte(seed), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, conf, account []byte) {
		g := NewWithT(t)
		Profile{}.CloudConfigProblem(map[string][]byte{configKey: conf, credentialsKey: account})
		_, _ = readCredentials(account)
		made, problem := parse(conf)
		if problem != "" {
			return
		}
		_ = made.problem()
		for _, config := range []global{made, made.external()} {
			again, problem := parse(config.render())
			g.Expect(problem).To(BeEmpty())
			g.Expect(again).To(Equal(config))
		}
		g.Expect(made.disks()[tokenURLKey]).To(Equal([]string{"nil"}))
	})
}
