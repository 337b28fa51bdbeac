package provider_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
)

func TestAProfileCannotNameABrokenRelease(t *testing.T) {
	const ccm, csi = "docker.io/hetznercloud/hcloud-cloud-controller-manager", "docker.io/hetznercloud/hcloud-csi-driver"
	for name, test := range map[string]struct {
		image, tag string
		problem    string
	}{
		"a CCM that panics":           {ccm, "v1.30.0", "spec.images[0].tag v1.30.0 does not work: It panics since 2026-07-01"},
		"the first that does not":     {ccm, "v1.30.1", ""},
		"a driver that ends at once":  {csi, "v2.18.3", "spec.images[0].tag v2.18.3 does not work: "},
		"a driver that cuts labels":   {csi, "v2.20.1", "spec.images[0].tag v2.20.1 does not work: "},
		"the first driver that works": {csi, "v2.19.0", ""},
		"a build of one's own":        {ccm, "ours", ""},
	} {
		t.Run(name, func(t *testing.T) {
			problems := everyProvider().OverlayProblems(ucv1.ProviderProfileSpec{
				ProviderName: "hetzner", Images: []ucv1.ImageOverride{{Image: test.image, Tag: test.tag}},
			})
			if test.problem == "" {
				NewWithT(t).Expect(problems).To(BeEmpty())
				return
			}
			NewWithT(t).Expect(problems).To(ConsistOf(And(HavePrefix(test.problem), ContainSubstring("See https://"))))
		})
	}
}

// The catalogue itself has none of them.
func TestTheCatalogueHasNoBrokenRelease(t *testing.T) {
	g, catalogue := NewWithT(t), everyProvider()
	for _, name := range catalogue.Names() {
		profile, _ := catalogue.Lookup(name)
		minors, _ := versions.Supported(profile)
		for _, minor := range minors {
			addons := rendered(g, name, profile, minor)
			for _, object := range slices.Concat(addons.CCM.Objects, addons.CSI.Objects) {
				pod := podOf(g, object)
				if pod == nil {
					continue
				}
				for _, image := range imagesOf(pod.Spec) {
					at := strings.LastIndex(image, ":")
					for _, broken := range profile.Describe().Broken {
						g.Expect(broken.Has(image[:at], image[at+1:])).To(BeFalse(), "%s with 1.%d", image, minor)
					}
				}
			}
		}
	}
}
