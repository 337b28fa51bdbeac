package facts

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// withEvents is a reader whose API server selects events by the kind that they are about, as the real one does.
func withEvents(faults interceptor.Funcs) (*Reader, *clocktesting.FakeClock) {
	clk := clocktesting.NewFakeClock(start)
	c := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithInterceptorFuncs(faults).
		WithIndex(&corev1.Event{}, "involvedObject.kind", func(o client.Object) []string {
			event, ok := o.(*corev1.Event)
			if !ok {
				return nil
			}
			return []string{event.InvolvedObject.Kind}
		}).Build()
	return New(optionsOf(c, clk)), clk
}

func eventOf(kind, name, reason string, uid types.UID, count int32) *corev1.Event {
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: "web", Name: name},
		InvolvedObject: corev1.ObjectReference{Kind: kind, Namespace: "web", Name: "front", UID: uid}, Reason: reason, Count: count,
	}
}

func TestMeasure(t *testing.T) {
	g := NewWithT(t)
	s, clk := withEvents(interceptor.Funcs{})
	inventory := observation.Known(
		observation.Inventory{LoadBalancers: []observation.LoadBalancer{{Namespace: "web", Name: "front", UID: "lb"}}},
	)
	look := func(after time.Duration, nodes ...observation.Node) slo.Seen {
		clk.Step(after)
		seen, known := s.Measure(t.Context(), observation.Known(nodes), inventory).Get()
		g.Expect(known).To(BeTrue())
		return seen
	}
	tainted := observation.Node{Name: "n1", UID: "u1", Uninitialized: true}
	proven := observation.Node{Name: "n1", UID: "u1", ProviderID: "simcloud://n1", Addresses: []string{"InternalIP 10.0.0.1"}}
	for _, event := range []*corev1.Event{
		eventOf("Service", "old", "UpdatedLoadBalancer", "lb", 3), eventOf("Service", "other", "UpdatedLoadBalancer", "other", 1),
		eventOf("Pod", "pod", "UpdatedLoadBalancer", "lb", 1),
	} {
		g.Expect(s.client.Create(t.Context(), event)).To(Succeed())
	}
	g.Expect(look(0).EventsSince).To(BeTemporally("==", start))
	look(10*time.Second, tainted)
	g.Expect(look(5*time.Second, proven).Waits).To(BeTrue())
	g.Expect(s.client.Create(t.Context(), eventOf("Service", "new", "UpdatedLoadBalancer", "lb", 1))).To(Succeed())
	g.Expect(s.client.Create(t.Context(), eventOf("Service", "failed", "UpdateLoadBalancerFailed", "lb", 1))).To(Succeed())
	seen := look(5*time.Second, proven)
	g.Expect([]any{seen.Waits, seen.LoadBalancers}).To(Equal([]any{false, 1}))
	var indicators []slo.Indicator
	for _, sample := range seen.Samples {
		indicators = append(indicators, sample.Indicator)
	}
	g.Expect(indicators).To(Equal([]slo.Indicator{slo.TaintRemoval, slo.InitialSync, slo.SyncErrors, slo.HostUpdate, slo.NodeSync}))
	g.Expect(seen.Samples[0].Most).To(Equal(15 * time.Second))
	g.Expect(seen.Samples[3].Most).To(Equal(10 * time.Second))
}

func TestMeasureWithoutEvents(t *testing.T) {
	g := NewWithT(t)
	s, clk := withEvents(
		interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				if _, events := list.(*corev1.EventList); events {
					return errors.New("no RBAC rule")
				}
				return c.List(ctx, list, options...)
			},
		},
	)
	balanced := observation.Known(observation.Inventory{LoadBalancers: []observation.LoadBalancer{{UID: "lb"}}})
	s.Measure(t.Context(), observation.Known([]observation.Node{}), balanced)
	clk.Step(time.Second)
	seen := s.Measure(
		t.Context(),
		observation.Known([]observation.Node{{UID: "u", ProviderID: "p", Addresses: []string{"a"}}}),
		balanced,
	).Value()
	g.Expect(seen.Samples).To(HaveLen(2), "Nodes are measured all the same")
	g.Expect([]any{seen.LoadBalancers, seen.EventsSince.IsZero()}).To(Equal([]any{1, true}))

	g.Expect(s.Measure(t.Context(), observation.Unknown[[]observation.Node]("timeout"), balanced).Why()).To(Equal("timeout"))
	g.Expect(
		s.Measure(t.Context(), observation.Known([]observation.Node{}), observation.Unknown[observation.Inventory]("refused")).Why(),
	).To(Equal("refused"))
}

func TestInventoryOfStorageAndAnnotations(t *testing.T) {
	g := NewWithT(t)
	volume := "pv"
	s, _ := readerWith(
		interceptor.Funcs{},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "lb", Annotations: map[string]string{
			corev1.LastAppliedConfigAnnotation: "{}", "short": "value", "long": strings.Repeat("x", 300),
		}}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}},
		&storagev1.StorageClass{
			ObjectMeta:  metav1.ObjectMeta{Name: "standard", Annotations: map[string]string{defaultClassAnnotation: "true"}},
			Provisioner: "p",
		},
		&storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: storagev1.VolumeAttachmentSpec{
			Attacher: "d", NodeName: "n2", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume}},
			Status: storagev1.VolumeAttachmentStatus{AttachError: &storagev1.VolumeError{Message: "secret"}}},
		&storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: storagev1.VolumeAttachmentSpec{
			Attacher: "d", NodeName: "n1", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume}},
			Status: storagev1.VolumeAttachmentStatus{Attached: true}},
	)
	inventory, known := s.Inventory(t.Context()).Get()
	g.Expect(known).To(BeTrue())
	annotations := inventory.LoadBalancers[0].Annotations
	g.Expect(annotations).To(HaveLen(2))
	g.Expect(annotations["short"]).To(Equal("value"))
	g.Expect(annotations["long"]).To(HavePrefix("sha256:"))
	g.Expect(cmp.Diff([]observation.Attachment{
		{
			Name:     "a",
			Attacher: "d",
			Node:     "n1",
			Volume:   "pv",
		},
		{Name: "b", Attacher: "d", Node: "n2", Volume: "pv", Problem: "attaching"},
	}, inventory.Attachments)).To(BeEmpty())
	g.Expect(inventory.StorageClasses).To(Equal([]observation.ClassRecord{{Name: "standard", Provisioner: "p", Default: true}}))
}

func TestRoutesAreThoseOfTheRouteLoop(t *testing.T) {
	for name, test := range map[string]struct {
		condition corev1.NodeCondition
		want      bool
	}{
		"a route of the loop":              {corev1.NodeCondition{Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionFalse, Reason: "RouteCreated"}, true},
		"the network of a plugin":          {corev1.NodeCondition{Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionFalse, Reason: "CalicoIsUp"}, false},
		"a route that could not be made":   {corev1.NodeCondition{Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionTrue, Reason: "NoRouteCreated"}, false},
		"another condition of that reason": {corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "RouteCreated"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			node := &corev1.Node{
				Spec:   corev1.NodeSpec{PodCIDR: "10.1.0.0/24"},
				Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{test.condition}},
			}
			seen := toNode(node, nil)
			g := NewWithT(t)
			g.Expect(seen.Routed).To(Equal(test.want))
			g.Expect(seen.PodCIDRs).To(Equal([]string{"10.1.0.0/24"}))
		})
	}
}
