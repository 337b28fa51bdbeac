package observation

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestCloudLoops(t *testing.T) {
	lifecycle, route, service := CloudNodeLifecycleLoop, RouteLoop, ServiceLoop
	tests := map[string]struct {
		flags map[string]string
		want  []string
	}{
		"an in-tree KCM without node CIDRs runs no routes": {
			flags: map[string]string{"cloud-provider": "aws"}, want: []string{lifecycle, service},
		},
		"an in-tree KCM with node CIDRs runs routes by default": {
			flags: map[string]string{"cloud-provider": "aws", "allocate-node-cidrs": "true"}, want: []string{lifecycle, route, service},
		},
		"routes can be switched off": {
			flags: map[string]string{
				"cloud-provider":         "aws",
				"allocate-node-cidrs":    "true",
				"configure-cloud-routes": "false",
			},
			want: []string{lifecycle, service},
		},
		"a boolean that cannot be read is off": {
			flags: map[string]string{"cloud-provider": "aws", "allocate-node-cidrs": "maybe"}, want: []string{lifecycle, service},
		},
		"an external KCM runs none":          {flags: map[string]string{"cloud-provider": "external", "controllers": "*"}},
		"a KCM without a provider runs none": {flags: map[string]string{"controllers": "*"}},
		"loops are excluded by their short names": {
			flags: map[string]string{"cloud-provider": "aws", "controllers": "*,-service,-route,-cloud-node-lifecycle"},
		},
		"loops are excluded by their registered names": {
			flags: map[string]string{"cloud-provider": "aws", "controllers": "*,-service-lb-controller,-cloud-node-lifecycle-controller"},
		},
		"the first mention decides": {
			flags: map[string]string{
				"cloud-provider": "aws",
				"controllers":    "service,*,-service,-cloud-node-lifecycle",
			},
			want: []string{service},
		},
		"without a star only what is named runs": {
			flags: map[string]string{"cloud-provider": "aws", "controllers": "ttl, service"}, want: []string{service},
		},
		"an exclusion after the star counts": {
			flags: map[string]string{"cloud-provider": "aws", "controllers": "*, -service"}, want: []string{lifecycle},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(Arguments{Flags: test.flags}.CloudLoops()).To(Equal(test.want))
		})
	}
}

func TestArgumentsZeroValueIsNotUnderstood(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Arguments{}.Understood()).To(BeFalse())
	g.Expect(Arguments{Problem: "x", Flags: map[string]string{}}.Understood()).To(BeFalse())
	g.Expect(Arguments{Flags: map[string]string{}}.Understood()).To(BeTrue())
}

func TestFlagsAndGates(t *testing.T) {
	g := NewWithT(t)
	a := Arguments{
		Flags: map[string]string{"v": "2", "feature-gates": "A=true, B=false,C=odd,D", "leader-elect-renew-deadline": "20s"},
	}
	value, given := a.Flag("v")
	g.Expect([]any{value, given}).To(Equal([]any{"2", true}))
	g.Expect(a.True("missing", true)).To(BeTrue())
	for gate, want := range map[string][2]bool{
		"A": {true, true}, "B": {false, true}, "C": {false, true}, "D": {false, false}, "E": {false, false},
	} {
		on, given := a.FeatureGate(gate)
		g.Expect([2]bool{on, given}).To(Equal(want), gate)
	}
	g.Expect(a.Duration("leader-elect-renew-deadline", time.Second)).To(Equal(20 * time.Second))
	g.Expect(a.Duration("v", time.Second)).To(Equal(time.Second))
}
