package leases

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
)

func lease(holder string, renewed time.Time) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "manager"},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: new(int32(15)),
			RenewTime: new(metav1.NewMicroTime(renewed))},
	}
}

func TestLeaseChangesAreTimedByOurClock(t *testing.T) {
	g := NewWithT(t)
	s, clk := electionsWith(interceptor.Funcs{})
	g.Expect(s.Lease(t.Context(), "kube-system", "manager").IsAbsent()).To(BeTrue())

	clk.Step(time.Minute)
	live := lease("a", start.Add(-time.Hour))
	g.Expect(s.client.Create(t.Context(), live)).To(Succeed())
	seen, known := s.Lease(t.Context(), "kube-system", "manager").Get()
	g.Expect(known).To(BeTrue())
	g.Expect(seen.Holder).To(Equal("a"))
	g.Expect(seen.DurationSeconds).To(Equal(int32(15)))
	g.Expect(seen.WatchedAt).To(Equal(start), "looking began when it was absent")
	g.Expect(seen.ChangedAt).To(Equal(start.Add(time.Minute)))

	clk.Step(time.Minute)
	live.Annotations = map[string]string{"not": "the spec"}
	g.Expect(s.client.Update(t.Context(), live)).To(Succeed())
	g.Expect(s.Lease(t.Context(), "kube-system", "manager").Value().ChangedAt).To(Equal(start.Add(time.Minute)))

	clk.Step(time.Minute)
	live.Spec.RenewTime = new(metav1.NewMicroTime(start))
	g.Expect(s.client.Update(t.Context(), live)).To(Succeed())
	g.Expect(s.Lease(t.Context(), "kube-system", "manager").Value().ChangedAt).To(Equal(start.Add(3 * time.Minute)))
}

func TestLeaseWatch(t *testing.T) {
	g := NewWithT(t)
	s, clk := electionsWith(interceptor.Funcs{})
	key := client.ObjectKey{Namespace: "kube-system", Name: "manager"}
	woken := 0
	store := &leaseStore{key: key, tracker: s.tracker, wake: func() { woken++ }}
	at := func(version string, l *coordinationv1.Lease) *coordinationv1.Lease {
		l.ResourceVersion = version
		return l
	}

	g.Expect(store.Replace([]any{at("10", lease("a", start))}, "10")).To(Succeed())
	g.Expect(woken).To(BeNumerically(">", 0))
	g.Expect(s.tracker.get(key).changedAt).To(Equal(start))

	woken = 0
	clk.Step(time.Second)
	g.Expect(store.Update(at("11", lease("a", start.Add(time.Second))))).To(Succeed())
	g.Expect(woken).To(BeZero(), "a renewal wakes no one")
	g.Expect(s.tracker.get(key).changedAt).To(Equal(start.Add(time.Second)), "but it is a change")

	clk.Step(time.Second)
	g.Expect(store.Update(at("10", lease("a", start)))).To(Succeed())
	g.Expect(s.tracker.get(key).changedAt).To(Equal(start.Add(time.Second)), "what arrives late is no change")

	g.Expect(store.Update(at("12", lease("b", start.Add(2*time.Second))))).To(Succeed())
	g.Expect(woken).To(Equal(1), "another holder wakes")
	g.Expect(store.Delete(nil)).To(Succeed())
	g.Expect(woken).To(Equal(2))
}

// Every case reads version 10, held by a; what was known before and what a watch delivers meanwhile is held by b.
func TestLeaseReadBesideAWatch(t *testing.T) {
	for name, given := range map[string]struct {
		before, meanwhile string
		holder            string
	}{
		"a read that a watch overtook says what the watch saw":    {meanwhile: "11", holder: "b"},
		"a read that is newer than the watch is believed":         {meanwhile: "9", holder: "a"},
		"a read after a restore from an older backup is believed": {before: "1000", holder: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var s *Elections
			key := client.ObjectKey{Namespace: "kube-system", Name: "manager"}
			of := func(holder, version string) *coordinationv1.Lease {
				l := lease(holder, start)
				l.ResourceVersion = version
				return l
			}
			s, clk := electionsWith(
				interceptor.Funcs{
					Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
						of("a", "10").DeepCopyInto(o.(*coordinationv1.Lease))
						if given.meanwhile != "" {
							s.tracker.deliver(key, of("b", given.meanwhile))
						}
						return nil
					},
				},
			)
			if given.before != "" {
				s.tracker.read(key, leaseLook{}, of("b", given.before))
			}
			clk.Step(time.Minute)
			seen := s.Lease(t.Context(), key.Namespace, key.Name).Value()
			g.Expect(seen.Holder).To(Equal(given.holder))
			g.Expect(seen.ChangedAt).To(Equal(start.Add(time.Minute)))

			clk.Step(time.Minute)
			g.Expect(s.tracker.deliver(key, of("b", "12"))).To(Equal(given.holder == "a"), "whether the holder changed")
		})
	}
}

func TestWhatAWatchDeliveredStandsForALeaseThatIsRenewed(t *testing.T) {
	renewed, gone := leaseRecord{delivered: true, exists: true, shownAt: start}, leaseRecord{delivered: true, shownAt: start}
	for name, tc := range map[string]struct {
		record leaseRecord
		age    time.Duration
		stands bool
	}{
		"while the next renewal is not late":   {renewed, mostSilence - 1, true},
		"not when it may have been missed":     {renewed, mostSilence, false},
		"one that is not there is seldom made": {gone, mostSilence, true},
		"but not believed for ever":            {gone, kept.MostAge, false},
		"nor is one that was only read":        {leaseRecord{exists: true, shownAt: start}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(tc.record.standsFor(start.Add(tc.age))).To(Equal(tc.stands))
		})
	}
}

func TestAWatchThatBeginsAgainDeliversWhatIsThere(t *testing.T) {
	g := NewWithT(t)
	s, _ := electionsWith(interceptor.Funcs{})
	key := client.ObjectKey{Namespace: "kube-system", Name: "manager"}
	store := &leaseStore{key: key, tracker: s.tracker, wake: func() {}}
	known := func() leaseRecord { return s.tracker.get(key) }
	live := lease("a", start)
	live.ResourceVersion = "10"
	g.Expect(store.Replace([]any{live}, "10")).To(Succeed())
	g.Expect(known().delivered && known().exists).To(BeTrue())
	g.Expect(store.Delete(live)).To(Succeed())
	g.Expect(known().delivered).To(BeFalse(), "it is read")
	g.Expect(store.Replace(nil, "12")).To(Succeed())
	g.Expect(known().delivered && !known().exists).To(BeTrue())
}

func TestALookAtALease(t *testing.T) {
	read := leaseRecord{delivered: true, exists: true, shownAt: start, readAt: start, writes: 1}
	shown := leaseRecord{delivered: true, exists: true, shownAt: start, writes: 1}
	both := leaseRecord{delivered: true, exists: true, shownAt: start.Add(1), readAt: start, writes: 1}
	for name, tc := range map[string]struct {
		look     leaseLook
		since    time.Duration
		live     bool
		suffices bool
	}{
		"takes what a watch showed":          {look: leaseLook{watched: true, writes: 1, before: shown}, suffices: true},
		"takes what was read beside a watch": {look: leaseLook{watched: true, writes: 1, before: read}, suffices: true},
		"takes what a watch showed since it was read": {
			look: leaseLook{watched: true, writes: 1, at: start.Add(mostSilence), before: both}, suffices: true,
		},
		"takes nothing when no watch goes on":         {look: leaseLook{writes: 1, before: read}},
		"takes nothing from before we wrote a Lease":  {look: leaseLook{watched: true, writes: 2, before: read}},
		"takes nothing that is old":                   {look: leaseLook{watched: true, writes: 1, at: start.Add(mostSilence), before: read}},
		"for a proof takes what this pass read":       {look: leaseLook{watched: true, writes: 1, before: read}, live: true, suffices: true},
		"for a proof takes nothing of an earlier one": {look: leaseLook{watched: true, writes: 1, before: read}, live: true, since: 1},
		"for a proof takes nothing from a watch":      {look: leaseLook{watched: true, writes: 1, before: shown}, live: true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if tc.live {
				ctx = kept.LiveSince(ctx, start.Add(tc.since))
			}
			if tc.look.at.IsZero() {
				tc.look.at = start.Add(time.Second)
			}
			NewWithT(t).Expect(tc.look.suffices(ctx)).To(Equal(tc.suffices))
		})
	}
}

func TestALeaseThatWasReadBesideAWatch(t *testing.T) {
	for name, tc := range map[string]struct {
		watched   bool
		meanwhile func(*leaseTracker, client.ObjectKey)
		stands    bool
	}{
		"stands while the watch says nothing": {watched: true, meanwhile: func(*leaseTracker, client.ObjectKey) {}, stands: true},
		"stands for nothing without a watch":  {meanwhile: func(*leaseTracker, client.ObjectKey) {}},
		"is read again when it was made meanwhile": {watched: true, meanwhile: func(tracker *leaseTracker, key client.ObjectKey) {
			tracker.deliver(key, lease("a", start))
		}},
		"is read again when it was deleted meanwhile": {watched: true, meanwhile: (*leaseTracker).mustRead},
	} {
		for kind, found := range map[string]*coordinationv1.Lease{"": lease("a", start), " and is not there": nil} {
			t.Run(name+kind, func(t *testing.T) {
				s, _ := electionsWith(interceptor.Funcs{})
				key := client.ObjectKey{Namespace: "kube-system", Name: "manager"}
				look := leaseLook{at: start, watched: tc.watched, before: s.tracker.get(key)}
				tc.meanwhile(s.tracker, key)
				record := s.tracker.read(key, look, found)
				g := NewWithT(t)
				g.Expect(record.delivered).To(Equal(tc.stands))
				g.Expect(record.readAt.Equal(start)).To(Equal(tc.stands))
				s.tracker.deliver(key, lease("b", start))
				g.Expect(s.tracker.get(key).readAt).To(BeZero(), "what a watch shows was not read")
			})
		}
	}
}

func TestAProofTakesNewerVersionsOfWhatWasRead(t *testing.T) {
	g := NewWithT(t)
	s, _ := electionsWith(interceptor.Funcs{})
	key := client.ObjectKey{Namespace: "kube-system", Name: "manager"}
	at := func(version string) *coordinationv1.Lease {
		renewed := lease("a", start)
		renewed.ResourceVersion = version
		return renewed
	}
	read := func(found *coordinationv1.Lease) {
		s.tracker.read(key, leaseLook{at: start, watched: true, before: s.tracker.get(key)}, found)
	}
	read(at("10"))
	s.tracker.deliver(key, at("11"))
	g.Expect(s.tracker.get(key).readAt).To(Equal(start))
	s.tracker.deliver(key, at("11"))
	g.Expect(s.tracker.get(key).readAt).To(BeZero(), "not one that is no newer")
	read(nil)
	s.tracker.deliver(key, at("12"))
	g.Expect(s.tracker.get(key).readAt).To(BeZero(), "nor one that may have been there before it was gone")
}
