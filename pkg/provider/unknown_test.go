package provider_test

import (
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func TestUnknownProvidersAreNamed(t *testing.T) {
	const has = " is not in the catalogue, which has aws, azure, gcp, hetzner, openstack, simcloud, vsphere"
	for name, test := range map[string]struct{ provider, says string }{
		"a known one is fine":                    {"openstack", ""},
		"a letter was left out":                  {"opnstack", "Provider opnstack" + has + "; did you mean openstack?"},
		"two letters are swapped":                {"vpshere", "Provider vpshere" + has + "; did you mean vsphere?"},
		"an upper-case name is not the same":     {"OpenStack", "Provider OpenStack" + has + "; did you mean openstack?"},
		"an in-tree name that differs from ours": {"gce", "Provider gce" + has + "; did you mean gcp?"},
		"nothing is suggested for another word":  {"nimbus", "Provider nimbus" + has + "."},
		"half of a short name is no typo":        {"abc", "Provider abc" + has + "."},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(builtIn().Unknown(test.provider)).To(Equal(test.says))
		})
	}
}

func TestUnknownProvidersAreRefused(t *testing.T) {
	typo := func(cluster *ucv1.Cluster) { cluster.Spec.Cloud.ProviderName = "opnstack" }
	off, on := clusterOf("1.25.16", false, typo), clusterOf("1.25.16", true, typo)
	for name, test := range map[string]struct {
		before, after *ucv1.Cluster
		refused       bool
	}{
		"when the Cluster is created":                    {nil, off, true},
		"when it is created with the feature":            {nil, on, true},
		"when the feature is switched on":                {off, on, true},
		"not when something else changes":                {off, off, false},
		"not when the feature was switched on before it": {on, on, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			objections := builtIn().Objections(test.before, test.after)
			if !test.refused {
				g.Expect(objections).To(BeEmpty())
				return
			}
			g.Expect(objections).To(HaveSuffix("did you mean openstack?"))
		})
	}
}
