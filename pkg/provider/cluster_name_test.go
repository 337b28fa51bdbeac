package provider_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

// clusterNameOfATenant would be another argument, line, command or credential where it is not taken as it is.
const clusterNameOfATenant = "x --kubeconfig=/etc/evil\n[Global]\n$(HCLOUD_TOKEN) `evil`; evil"

func TestTheClusterNameIsOneValue(t *testing.T) {
	forEach(t, func(g Gomega, provider string, profile provider.Profile, minor int) {
		in := input(provider, minor)
		if provider == "openstack" {
			in.ClusterUID = "" // Its CSI driver takes the name where there is no UID.
		}
		plain, err := profile.Render(in)
		g.Expect(err).NotTo(HaveOccurred())
		in.Inherited.ClusterName = clusterNameOfATenant
		named, err := profile.Render(in)
		g.Expect(err).NotTo(HaveOccurred())
		before := append(plain.CCM.Objects, plain.CSI.Objects...)
		after := append(named.CCM.Objects, named.CSI.Objects...)
		g.Expect(after).To(HaveLen(len(before)))
		for i := range after {
			differ(g, provider, nil, before[i].Object, after[i].Object)
		}
	})
}

// differ fails for a difference that is no argument whose value is the whole name.
func differ(g Gomega, provider string, place []string, before, after any) {
	switch b := before.(type) {
	case map[string]any:
		a := after.(map[string]any)
		g.Expect(a).To(HaveLen(len(b)), "%s %v", provider, place)
		for key := range b {
			differ(g, provider, append(slices.Clip(place), key), b[key], a[key])
		}
	case []any:
		a := after.([]any)
		g.Expect(a).To(HaveLen(len(b)), "%s %v", provider, place)
		for i := range b {
			differ(g, provider, place, b[i], a[i])
		}
	case string:
		a := after.(string)
		if a == b {
			return
		}
		flag, _, _ := strings.Cut(b, "=")
		g.Expect(place[len(place)-1]).To(BeElementOf("args", "command"), "%s %v: %s", provider, place, a)
		g.Expect(a).To(Equal(flag+"="+strings.ReplaceAll(clusterNameOfATenant, "$", "$$")), "%s %v", provider, place)
	default:
		g.Expect(after).To(Equal(before))
	}
}
