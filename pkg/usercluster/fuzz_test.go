package usercluster

import (
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// FuzzKubeconfig: whatever a tenant writes, what is accepted runs nothing, reads no file and goes to one server by verified TLS.
func FuzzKubeconfig(f *testing.F) {
	for _, seed := range []string{
		kubeconfigWith(server, token), kubeconfigWith(server+", insecure-skip-tls-verify: true", token),
		kubeconfigWith(server+", proxy-url: http://p", token),
		kubeconfigWith(server, token+", as: admin"), kubeconfigWith(server, "tokenFile: /x"),
		kubeconfigWith(server, "exec: {command: x, apiVersion: client.authentication.k8s.io/v1}"),
		kubeconfigWith("server: http://a", "username: a, password: b"), kubeconfigWith("server: 'https://a:b@c'", token),
		kubeconfigWith("server: https://a, certificate-authority: /x", token),
		"{", "a: &a [*a]", "apiVersion: v1\nkind: Config\ncurrent-context: ''\n", `{"apiVersion":"v1","kind":"Config","clusters":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g := NewWithT(t)
		config, err := ParseKubeconfig(data, Allow{})
		if err != nil {
			refused := &KubeconfigError{}
			g.Expect(errors.As(err, &refused)).To(BeTrue())
			return
		}
		g.Expect(strings.ToLower(config.Host)).To(HavePrefix("https://"))
		g.Expect(config.ExecProvider).To(BeNil())
		g.Expect(config.AuthProvider).To(BeNil())
		g.Expect(config.Proxy).To(BeNil())
		g.Expect(config.Insecure).To(BeFalse())
		g.Expect(config.Impersonate.UserName + config.Impersonate.UID).To(BeEmpty())
		g.Expect(config.Impersonate.Groups).To(BeEmpty())
		g.Expect(config.Impersonate.Extra).To(BeEmpty())
		g.Expect([]string{config.CertFile, config.KeyFile, config.CAFile, config.BearerTokenFile}).To(HaveEach(""))
	})
}

// FuzzWeight: an answer weighs more than its bytes, whatever it is.
func FuzzWeight(f *testing.F) {
	for _, seed := range []string{`{"items":[{"a":{}},{},[],"\"}"]}`, "k8s\x00\n\x02v1\x12\x04Node", "[[[[[[", `"\`, "}]}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		g := NewWithT(t)
		scale := jsonScale{}
		for _, b := range answer {
			scale.add(b)
		}
		g.Expect(scale.weight).To(BeNumerically(">=", weightOfByte*len(answer)))
		g.Expect(scale.depth).To(BeNumerically(">=", 0))
		g.Expect(weighProtobuf(answer, 0)).To(BeNumerically(">=", weightOfByte*len(answer)))
	})
}
