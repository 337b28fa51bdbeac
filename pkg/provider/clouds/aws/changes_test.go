package aws

import (
	"testing"

	. "github.com/onsi/gomega"
)

// A key has no effect up to the minor before the one that reads it first, and each one from that on.
func TestKeysOfNewerCCMsAreNamedUntilTheirMinor(t *testing.T) {
	for _, test := range []struct{ key, value, last, first string }{
		{"SupportedTopologyInstanceTypePattern", "^p5", "1.29.15", "1.30.0"},
		{"ClusterServiceLoadBalancerHealthProbeMode", "Shared", "1.32.4", "1.33.0"},
		{"ClusterServiceSharedLoadBalancerHealthProbePort", "10256", "1.32.4", "1.33.0"},
		{"ClusterServiceSharedLoadBalancerHealthProbePath", "/healthz", "1.32.4", "1.33.0"},
		{"NLBSecurityGroupMode", "Managed", "1.34.9", "1.35.0"},
	} {
		t.Run(test.key, func(t *testing.T) {
			g, data := NewWithT(t), Profile{}.Example()
			data[configKey] = append(data[configKey], "\n[Global]\n"+test.key+"="+test.value+"\n"...)
			g.Expect(Profile{}.CloudConfigProblem(data)).To(BeEmpty())
			g.Expect(Profile{}.ChangedSettings(test.last, data)).To(ConsistOf(HaveField("Name", "[Global] "+test.key)))
			g.Expect(Profile{}.ChangedSettings(test.first, data)).To(BeEmpty())
		})
	}
	NewWithT(t).Expect(firstMinors()).To(HaveLen(5), "each has a row above")
}
