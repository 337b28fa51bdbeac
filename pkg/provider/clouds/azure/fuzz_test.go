package azure

import (
	"testing"

	. "github.com/onsi/gomega"
)

func FuzzCloudConfig(f *testing.F) {
	for _, seed := range []string{
		`{"tenantId": "t", "aadClientSecret": "s", "useManagedIdentityExtension": true, "cloudProviderBackoffExponent": 1.5}`,
		"tenantId: t\ntagsMap:\n  a: b\n", "? {a: 1e400}\n: [&x 1, *x]", `{"a": 18446744073709551616, "b": -0.0, "c": 1e3}`,
		"[Global]\npassword=p\n", `{"tags": "é\ufeff"}`, `{"tags": "a\u007fb", "x": {"` + "\u2028" +
			`": null}}`, "a: .nan", "a: 0x10", "-",
	} {
		f.Add([]byte(seed), []byte(`{"cloudConfigType": "secret"}`))
	}
	f.Fuzz(func(t *testing.T, file, secret []byte) {
		g := NewWithT(t)
		data := map[string][]byte{fileKey: file, secretKey: secret}
		made, problem := read(data)
		_ = Profile{}.CloudConfigProblem(data)
		if problem != "" {
			g.Expect(made).To(BeNil())
			return
		}
		again, problem := parse(fileKey, made.render())
		g.Expect(problem).To(BeEmpty())
		g.Expect(again).To(Equal(made))
		settings, problem := made.external(true)
		g.Expect(problem).To(BeEmpty())
		repeated, problem := settings.external(false)
		g.Expect(problem).To(BeEmpty())
		g.Expect(repeated).To(Equal(settings), "what is external already stays as it is")
	})
}
