package observation

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestRegistriesOfAnImage(t *testing.T) {
	registries := Registries{Hosts: []string{"gcr.io", "*.pkg.dev", "*.dkr.ecr.*.amazonaws.com"}}
	for name, test := range map[string]struct{ repository, host string }{
		"a host that is named":              {"gcr.io/project/web", "gcr.io"},
		"a host of a pattern":               {"europe-docker.pkg.dev/project/web", "europe-docker.pkg.dev"},
		"a pattern with two parts":          {"1.dkr.ecr.eu-central-1.amazonaws.com/web", "1.dkr.ecr.eu-central-1.amazonaws.com"},
		"another host":                      {"quay.io/project/web", ""},
		"a host that only begins like it":   {"gcr.io.example.com/web", ""},
		"a repository without a host":       {"web", ""},
		"none":                              {"", ""},
		"a path that looks like a registry": {"docker.io/gcr.io/web", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			host, ok := registries.Of(test.repository)
			g.Expect(ok).To(Equal(test.host != ""))
			if ok {
				g.Expect(host).To(Equal(test.host))
			}
		})
	}
}
