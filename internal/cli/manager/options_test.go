package manager

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
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
		"some namespaces":                               {args: []string{"--namespaces=user-a,user-b", "--namespaces=user-c"}},
		"an empty namespace would stand for all":        {args: []string{"--namespaces=user-a,"}, want: `--namespaces has ""`},
		"a pattern is no namespace":                     {args: []string{"--namespaces=user-*"}, want: `"user-*"`},
		"further addresses of the API server": {
			args: []string{"--management-api-server-addresses=seed.example.com:6443,[2001:db8::1]:443"},
		},
		"an address of the API server has a port": {
			args: []string{"--management-api-server-addresses=seed.example.com"},
			want: `"seed.example.com"`,
		},
		"its port is a number": {
			args: []string{"--management-api-server-addresses=192.0.2.1:https"},
			want: "1 to 65535",
		},
		"its host is named": {
			args: []string{"--management-api-server-addresses=:6443"},
			want: "the host is empty",
		},
		"a URL is no address of the API server": {
			args: []string{"--management-api-server-addresses=https://192.0.2.1:6443"},
			want: "not HOST:PORT",
		},
		"looks ahead without a limit are none": {args: []string{"--look-ahead-qps=0"}, want: "Never switches the looks off"},
		"a testbed shortens a wait":            {args: []string{"--unsafe-waits=settle=2s,probe=1s"}},
		"a deadline cannot be shortened":       {args: []string{"--unsafe-waits=handover=2s"}, want: "handover=2s"},
		"a wait cannot become longer":          {args: []string{"--unsafe-waits=settle=1h"}, want: "settle=1h"},
		"a wait cannot be left out":            {args: []string{"--unsafe-waits=settle=0s"}, want: "settle=0s"},
		"a wait is a duration":                 {args: []string{"--unsafe-waits=settle=2"}, want: "settle=2"},
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

func TestAManagerWaitsForTheRealTimesByDefault(t *testing.T) {
	g := NewWithT(t)
	options := &managerOptions{}
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	options.bind(flags)
	g.Expect(options.deadlines()).To(Equal(observation.RealDeadlines()))
	g.Expect(flags.FlagUsages()).NotTo(ContainSubstring(unsafeWaits), "it is hidden")

	g.Expect(flags.Parse([]string{"--unsafe-waits=settle=5s"})).To(Succeed())
	want := observation.RealDeadlines()
	want.Settle = 5 * time.Second
	g.Expect(options.deadlines()).To(Equal(want))
}

func TestOneOfSeveralManagersWorksByDefault(t *testing.T) {
	g := NewWithT(t)
	options := &managerOptions{}
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	options.bind(flags)
	g.Expect(flags.Parse(nil)).To(Succeed())
	g.Expect(options.leaderElect).To(BeTrue())
	g.Expect(flags.Parse([]string{"--leader-elect=false"})).To(Succeed())
	g.Expect(options.leaderElect).To(BeFalse())
}

func TestKubeconfigsOfTenantsAreRefusedByDefault(t *testing.T) {
	g := NewWithT(t)
	options := &managerOptions{}
	options.bind(pflag.NewFlagSet("manager", pflag.ContinueOnError))
	g.Expect(options.allow).To(BeZero())

	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	options.bind(flags)
	g.Expect(flags.Parse([]string{"--allow-user-cluster-addresses=127.0.0.0/8,fd00:ec2::/32"})).To(Succeed())
	g.Expect(options.allow.Addresses).To(HaveLen(2))

	options.allow.Addresses = nil
	flags = pflag.NewFlagSet("plan", pflag.ContinueOnError)
	management.BindAllow(flags, &options.allow, management.Loopback()...)
	g.Expect(flags.Parse(nil)).To(Succeed())
	g.Expect(options.allow.Addresses).To(Equal(management.Loopback()), "a person's workstation may have user clusters of its own")
}

func TestTheManagerLooksAtTheNamespacesThatItIsGiven(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want map[string]cache.Config
	}{
		"all of them": {nil, nil},
		"two of them": {[]string{"--namespaces=user-a,user-b"}, map[string]cache.Config{"user-a": {}, "user-b": {}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			options := &managerOptions{}
			flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
			options.bind(flags)
			g.Expect(flags.Parse(tc.args)).To(Succeed())
			g.Expect(options.defaultNamespaces()).To(Equal(tc.want))
		})
	}
}
