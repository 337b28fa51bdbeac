package provider_test

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestFactsAreWhatTheRulesSay(t *testing.T) {
	catalogue := everyProvider()
	for name, test := range map[string]struct{ provider, version, migration, external string }{
		"nothing is refused":               {"openstack", "1.25.16", "", ""},
		"only the migration is refused":    {"openstack", "1.26.15", "is the last with the in-tree provider openstack", ""},
		"both for want of a CCM":           {"openstack", "1.37.0", "is the last with", "Kubernetes 1.37"},
		"each with what is to be done":     {"vsphere", "1.27.16", "upgrade with the in-tree provider to 1.28", "create the cluster with 1.28"},
		"a link stands behind each reason": {"simcloud", "1.24.17", "the testbed is 1.25 to 1.30, without 1.27 (https://", "the testbed is 1.25 to 1.30, without 1.27 (https://"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			facts, ok := catalogue.Facts(test.provider, test.version)
			g.Expect(ok).To(BeTrue())
			for _, pair := range [][2]string{{facts.MigrationProblem, test.migration}, {facts.VersionProblem, test.external}} {
				if pair[1] == "" {
					g.Expect(pair[0]).To(BeEmpty())
					continue
				}
				g.Expect(pair[0]).To(And(ContainSubstring(pair[1]), HaveSuffix(").")))
			}
		})
	}
	_, ok := catalogue.Facts("nimbus", "1.30.14")
	NewWithT(t).Expect(ok).To(BeFalse())
}

func TestFactsHaveWhatPreflightJudgesBy(t *testing.T) {
	for name, test := range map[string]struct {
		provider, version, id, image string
		plugins                      []string
	}{
		"AWS": {"aws", "1.26.15", "aws:///eu-central-1a/i-0123456789abcdef0", "1.dkr.ecr.cn-north-1.amazonaws.com.cn/web", []string{"kubernetes.io/aws-ebs"}},
		"Azure, with two plugins": {
			"azure", "1.29.15", "azure:///subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/virtualMachines/vm",
			"mine.azurecr.us/web",
			[]string{"kubernetes.io/azure-disk", "kubernetes.io/azure-file"},
		},
		"GCP":                         {"gcp", "1.30.14", "gce://project/europe-west3-a/vm", "europe-docker.pkg.dev/web", []string{"kubernetes.io/gce-pd"}},
		"OpenStack, without registry": {"openstack", "1.25.16", "openstack:///3d1e5e0c-5a4b-4c5d-8e6f-0a1b2c3d4e5f", "", []string{"kubernetes.io/cinder"}},
		"Hetzner, never in-tree":      {"hetzner", "1.30.14", "hcloud://1", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			facts, _ := everyProvider().Facts(test.provider, test.version)
			g.Expect(test.id).To(MatchRegexp(facts.ProviderIDForm))
			g.Expect(facts.InTreePlugins).To(Equal(test.plugins))
			_, ours := facts.Registries.Of(test.image)
			g.Expect(ours).To(Equal(test.image != ""))
		})
	}
}
