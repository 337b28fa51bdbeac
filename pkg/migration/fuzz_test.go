package migration

import (
	"regexp"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// FuzzLoopsOff: whatever list of controllers a KCM has, with the flag that we give it no cloud loop runs, and the lists of others
// and times that cannot be read do no harm.
func FuzzLoopsOff(f *testing.F) {
	for _, seed := range []string{
		"*", "", "service,*", "-*,node-route-controller, cloud-node-lifecycle", "*,-service-lb-controller,service", "a,,b", "- service",
	} {
		f.Add(seed, 30, "true", "CSIMigration=true,a= b,=")
		f.Add(seed, 25, "T", "15s")
	}
	f.Fuzz(func(t *testing.T, controllers string, minor int, routes, other string) {
		g := NewWithT(t)
		arguments := observation.Arguments{Flags: map[string]string{
			"cloud-provider": "openstack", "controllers": controllers, "allocate-node-cidrs": routes, "configure-cloud-routes": routes,
			"feature-gates": other, "leader-elect-lease-duration": other, "leader-elect-resource-name": other,
		}}
		arguments.CloudLoops()
		arguments.FeatureGate(other)
		arguments.LeaderLease()
		arguments.Duration("leader-elect-lease-duration", time.Second)
		flag := components.LoopsOffFlag(arguments, minor)
		arguments.Flags["controllers"] = flag.Value
		g.Expect(arguments.CloudLoops()).To(BeEmpty(), flag.Value)
		g.Expect(components.LoopsOffFlag(arguments, minor)).To(Equal(flag), "a second time changes nothing")
	})
}

// FuzzHolder: the holder of a Lease is one hostname and something unique, and no other host's.
func FuzzHolder(f *testing.F) {
	f.Add("kcm-1", "kcm", "0f3c")
	f.Add("kcm", "kcm-1", "1_0f3c")
	f.Add("a", "a.example", "_")
	hostname := regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)
	f.Fuzz(func(t *testing.T, one, other, unique string) {
		if !hostname.MatchString(one) || !hostname.MatchString(other) {
			return
		}
		g, lease := NewWithT(t), observation.Lease{Holder: one + "_" + unique}
		g.Expect(handover.HeldBy(lease, one)).To(BeTrue())
		g.Expect(handover.HeldBy(lease, "", other)).To(Equal(one == other))
	})
}
