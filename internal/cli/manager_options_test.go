package cli

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"
)

func TestManagerOptions(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"the defaults are valid":                        {},
		"the webhook can be left out":                   {args: []string{"--webhook-certificates=none"}},
		"an unknown source of certificates is named":    {args: []string{"--webhook-certificates=vault"}, want: `"vault"`},
		"a manager without a namespace has no Lease":    {args: []string{"--namespace="}, want: "--namespace"},
		"a manager without workers would never look up": {args: []string{"--workers=0"}, want: "--workers"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			options := &managerOptions{}
			flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
			options.bind(flags)
			g.Expect(flags.Parse(tc.args)).To(Succeed())
			err := options.validate()
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

func TestKubeconfigsOfTenantsAreRefusedByDefault(t *testing.T) {
	g := NewWithT(t)
	options := &managerOptions{}
	options.bind(pflag.NewFlagSet("manager", pflag.ContinueOnError))
	g.Expect(options.allow).To(BeZero())
}
