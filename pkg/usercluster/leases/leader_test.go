package leases

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

func TestALeaderThatStopsToRenewWakes(t *testing.T) {
	g := NewWithT(t)
	s, clk := electionsWith(interceptor.Funcs{})
	woken := 0
	s.watches = watches.New(watches.Clients{}, func() { woken++ }, logr.Discard())
	s.LookAtLeader(t.Context())
	g.Expect(woken).To(BeZero(), "no Lease is named yet")

	s.GuardLeader("kube-system", "manager")
	live := lease("a", start)
	g.Expect(s.client.Create(t.Context(), live)).To(Succeed())
	s.LookAtLeader(t.Context())
	g.Expect(woken).To(BeZero(), "the first look tells nothing")

	renew := func(after time.Duration) {
		live.Spec.RenewTime = new(metav1.NewMicroTime(start.Add(after)))
		g.Expect(s.client.Update(t.Context(), live)).To(Succeed())
	}
	look := func(after time.Duration) int {
		clk.SetTime(start.Add(after))
		before := woken
		s.LookAtLeader(t.Context())
		return woken - before
	}
	renew(59 * time.Second)
	g.Expect(look(time.Minute)).To(Equal(1), "it leads")
	renew(119 * time.Second)
	g.Expect(look(2*time.Minute)).To(BeZero(), "it still does")
	renew(124 * time.Second)
	g.Expect(look(3*time.Minute)).To(Equal(1), "it renewed the Lease once more, and then no longer for most of the minute")
	g.Expect(look(4 * time.Minute)).To(BeZero())
	renew(299 * time.Second)
	g.Expect(look(5*time.Minute)).To(Equal(1), "it leads again")
}

// The clock of the leader may be anywhere; only how far it went between two looks counts.
func TestTheLastRenewalIsBoundByTheRateOfTheOtherClock(t *testing.T) {
	at := func(holder string, noted, renewed time.Duration) leaseRecord {
		return leaseRecord{noted: start.Add(noted), spec: lease(holder, start.Add(24*time.Hour+renewed)).Spec}
	}
	for name, test := range map[string]struct {
		before, after leaseRecord
		want          time.Duration
	}{
		"one that went as far as ours was renewed just now":         {at("a", 0, 0), at("a", 0, time.Minute), time.Minute},
		"one that went less far stopped that much earlier":          {at("a", 0, 0), at("a", 0, 10*time.Second), 10 * time.Second},
		"one that went further was set, and is believed":            {at("a", 0, 0), at("a", 0, time.Hour), time.Minute},
		"one that went back was set, and is believed":               {at("a", 0, 0), at("a", 0, -time.Hour), time.Minute},
		"another holder has a clock of its own":                     {at("a", 0, 0), at("b", 0, 10*time.Second), time.Minute},
		"before the first look there is nothing to compare it with": {leaseRecord{}, at("a", 0, 10*time.Second), time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(renewedBy(test.before, test.after, start.Add(time.Minute))).To(Equal(start.Add(test.want)))
		})
	}
}
