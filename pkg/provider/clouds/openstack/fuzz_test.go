package openstack

import (
	"testing"

	. "github.com/onsi/gomega"
)

// FuzzCloudConfig: nothing panics, what was parsed and written is read again as it was, and what was made external stays so.
func FuzzCloudConfig(f *testing.F) {
	for _, seed := range []string{
		"[Global]\nauth-url=https://k\nusername=u\npassword=\"#\\\"\\n\"\ntenant-id=t\nca-file=/a/b.pem\nuse-clouds=off\n",
		"[global \"b\"] ; c\r\nPassword=a \\\r\n b\r\nsecret-name=\\\"\n[LoadBalancer]\nuse-octavia\nlb-version=v2\nmonitor-delay=5s\n",
		"\ufeff[BlockStorage]\nbs-version=\nignore-volume-az=1\nnode-volume-attach-limit=010\n[Networking]\npublic-network-name=\n" +
			"public-network-name=\té\n[LoadBalancerClass \"a\t\\\\\\\"\"]\n[Metadata]\nrequest-timeout=-1.5h\n",
		"[1]\n", "[Global\xff", "{", "a=b", "[a]\nß-1=\n[a]\nb\n",
	} {
		f.Add(seed, 31)
	}
	f.Fuzz(func(t *testing.T, text string, minor int) {
		g := NewWithT(t)
		_ = Profile{}.CloudConfigProblem(map[string][]byte{configKey: []byte(text), "b.pem": []byte(text)})
		conf, problem := parse(text)
		if problem != "" {
			return
		}
		for _, made := range []config{conf, conf.external(minor), conf.volumes(minor)} {
			again, problem := parse(string(made.render()))
			g.Expect(problem).To(BeEmpty())
			g.Expect(again).To(Equal(made))
		}
		g.Expect(conf.external(minor).external(minor)).To(Equal(conf.external(minor)))
		g.Expect(conf.volumes(minor).volumes(minor)).To(Equal(conf.volumes(minor)))
		g.Expect(conf.external(minor).volumes(minor).value(globalSection, "password")).To(Equal(conf.value(globalSection, "password")))
	})
}
