package facts

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func missingPair() baseline.Missing {
	return baseline.Missing{
		LoadBalancers: []observation.LoadBalancer{{Namespace: "web", Name: "front", UID: "lb"}},
		Volumes:       []observation.Volume{{Name: "pv", UID: "pv", Claim: "web/data"}},
	}
}

// answeringEvents answers lists of events, which the fake client cannot select by their fields.
func answeringEvents(events ...corev1.Event) interceptor.Funcs {
	return interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if into, ok := list.(*corev1.EventList); ok {
				into.Items = events
				return nil
			}
			return c.List(ctx, list, options...)
		},
	}
}

func TestGoneSaysWhatIsStillThere(t *testing.T) {
	meta := func(name, uid string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "web", Name: name, UID: types.UID(uid)}
	}
	claim := func(volume string) client.Object {
		return &corev1.PersistentVolumeClaim{ObjectMeta: meta("data", "c"), Spec: corev1.PersistentVolumeClaimSpec{VolumeName: volume}}
	}
	service := func(uid string) client.Object {
		return &corev1.Service{ObjectMeta: meta("front", uid), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP}}
	}
	at := start.UTC().Format(time.RFC3339)
	gone := observation.Gone{Seen: "it was gone by " + at}
	goneClaim := observation.Gone{Seen: gone.Seen + " with its claim web/data"}
	deleted := func(uid, reason string) corev1.Event {
		return corev1.Event{InvolvedObject: corev1.ObjectReference{UID: types.UID(uid)}, Reason: reason,
			Source: corev1.EventSource{Component: "service-controller"}, LastTimestamp: metav1.NewTime(start)}
	}
	for name, tc := range map[string]struct {
		objects         []client.Object
		events          []corev1.Event
		balancer, claim observation.Gone
	}{
		"nothing": {balancer: gone, claim: goneClaim},
		"the Service with another type, and the claim": {
			objects:  []client.Object{service("lb"), claim("pv")},
			balancer: observation.Gone{Left: "has type ClusterIP and no load balancer any more"},
			claim:    observation.Gone{Left: "is gone, and its claim web/data is still there"},
		},
		"another Service and another claim, of the same names": {
			objects: []client.Object{service("other"), claim("another")}, balancer: gone, claim: goneClaim,
		},
		"who deleted the load balancer": {
			events: []corev1.Event{deleted("lb", deletedEvent), deleted("other", deletedEvent), deleted("lb", "Other")},
			balancer: observation.Gone{
				Seen: gone.Seen + ", and service-controller deleted its load balancer at " + at,
			}, claim: goneClaim,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := readerWith(answeringEvents(tc.events...), tc.objects...)
			found, known := s.Gone(t.Context(), missingPair()).Get()
			g := NewWithT(t)
			g.Expect(known).To(BeTrue())
			g.Expect(found).To(Equal(map[string]observation.Gone{"lb": tc.balancer, "pv": tc.claim}))
		})
	}
}

func TestAVolumeWithoutAClaimWentAlone(t *testing.T) {
	g := NewWithT(t)
	s, _ := readerWith(failing(errors.New("nothing is to be read")))
	found := s.Gone(t.Context(), baseline.Missing{Volumes: []observation.Volume{{Name: "pv", UID: "pv"}}})
	g.Expect(found.Value()["pv"].Seen).To(HaveSuffix(", and it had no claim"))
}

func TestWhatCannotBeLookedForIsNotGone(t *testing.T) {
	for name, missing := range map[string]baseline.Missing{
		"a Service": {LoadBalancers: missingPair().LoadBalancers}, "a claim": {Volumes: missingPair().Volumes},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := readerWith(failing(errors.New("refused")))
			NewWithT(t).Expect(s.Gone(t.Context(), missing).IsUnknown()).To(BeTrue())
		})
	}
}

func TestWhatIsGoneForGoodIsLookedForOnce(t *testing.T) {
	g := NewWithT(t)
	s, clk := readerWith(answeringEvents())
	first := s.Gone(t.Context(), missingPair())
	clk.Step(time.Hour)
	g.Expect(s.Gone(t.Context(), missingPair())).To(Equal(first), "it was missed then")

	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv"},
	}
	s, _ = readerWith(answeringEvents(), claim)
	g.Expect(s.Gone(t.Context(), missingPair()).Value()["pv"].Left).NotTo(BeEmpty())
	g.Expect(s.client.Delete(t.Context(), claim)).To(Succeed())
	g.Expect(s.Gone(t.Context(), missingPair()).Value()["pv"].Left).To(BeEmpty(), "what is still there is looked for again")
}
