package usercluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/simcloud"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// sessionWith is a session with a user cluster of the given objects and faults.
func sessionWith(faults interceptor.Funcs, objects ...client.Object) (*Session, *clocktesting.FakeClock) {
	clk := clocktesting.NewFakeClock(start)
	c := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithReturnManagedFields().
		WithObjects(objects...).WithInterceptorFuncs(faults).Build()
	return newSession(parts{client: c, clock: clk, log: logr.Discard(), watches: watches.New(watches.Clients{}, func() {}, logr.Discard())}), clk
}

// failing makes every read end with the error.
func failing(err error) interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return err
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return err
		},
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return err },
	}
}

func TestWhatCannotBeReadIsUnknown(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "", errors.New("no RBAC rule"))
	sets := renderSimcloud(t)
	for name, look := range map[string]func(ctx context.Context, s *Session) (unknown bool, why string){
		"Machines": func(ctx context.Context, s *Session) (bool, string) {
			o := s.Machines.Observe(ctx)
			return o.IsUnknown(), o.Why()
		},
		"Nodes": func(ctx context.Context, s *Session) (bool, string) { o := s.Nodes(ctx); return o.IsUnknown(), o.Why() },
		"Inventory": func(ctx context.Context, s *Session) (bool, string) {
			o := s.Inventory(ctx)
			return o.IsUnknown(), o.Why()
		},
		"Lease": func(ctx context.Context, s *Session) (bool, string) {
			o := s.Leases.Lease(ctx, "a", "b")
			return o.IsUnknown(), o.Why()
		},
		"Fence": func(ctx context.Context, s *Session) (bool, string) {
			o := s.Leases.Fence(ctx, simcloud.Profile{}.Identity())
			return o.IsUnknown(), o.Why()
		},
		"PodsOf": func(ctx context.Context, s *Session) (bool, string) {
			o := s.Leases.PodsOf(ctx, simcloud.Profile{}.Identity(), nil)
			return o.IsUnknown(), o.Why()
		},
		"Attachments": func(ctx context.Context, s *Session) (bool, string) {
			o := s.Attachments(ctx)
			return o.IsUnknown(), o.Why()
		},
		"OtherManagers": func(ctx context.Context, s *Session) (bool, string) {
			o := lookForOthers(ctx, s, Ours{})
			return o.IsUnknown(), o.Why()
		},
		"Addons": func(ctx context.Context, s *Session) (bool, string) {
			o := s.Addons.Observe(ctx, nil, sets)
			return o.IsUnknown(), o.Why()
		},
	} {
		t.Run(name+" when it is forbidden", func(t *testing.T) {
			g := NewWithT(t)
			s, _ := sessionWith(failing(forbidden))
			unknown, why := look(t.Context(), s)
			g.Expect(unknown).To(BeTrue())
			g.Expect(why).To(ContainSubstring("no RBAC rule"))
		})
		t.Run(name+" when there is no answer", func(t *testing.T) {
			g := NewWithT(t)
			s, _ := sessionWith(failing(context.DeadlineExceeded))
			unknown, why := look(t.Context(), s)
			g.Expect(unknown).To(BeTrue())
			g.Expect(why).To(HaveSuffix("the API server of the user cluster does not answer in time"))
		})
	}
}

func TestNodes(t *testing.T) {
	g := NewWithT(t)
	s, _ := sessionWith(interceptor.Funcs{},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b", UID: "1"}},
		&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "2", CreationTimestamp: metav1.NewTime(start)},
			Spec: corev1.NodeSpec{ProviderID: "simcloud://1", Taints: []corev1.Taint{
				{Key: "node.cloudprovider.kubernetes.io/uninitialized", Effect: corev1.TaintEffectNoSchedule}}},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		},
		&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: storagev1.CSINodeSpec{
			Drivers: []storagev1.CSINodeDriver{{Name: "y", NodeID: "a"}, {Name: "x", NodeID: "a"}}}},
	)
	nodes, known := s.Nodes(t.Context()).Get()
	g.Expect(known).To(BeTrue())
	for i := range nodes {
		nodes[i].CreatedAt = nodes[i].CreatedAt.UTC()
	}
	g.Expect(cmp.Diff([]observation.Node{
		{Name: "a", UID: "2", ProviderID: "simcloud://1", Ready: true, Uninitialized: true, CreatedAt: start, CSIDrivers: []string{"x", "y"}},
		{Name: "b", UID: "1"},
	}, nodes)).To(BeEmpty())
}

func TestNoNodesAreKnownToBeNone(t *testing.T) {
	g := NewWithT(t)
	s, _ := sessionWith(interceptor.Funcs{})
	nodes, known := s.Nodes(t.Context()).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(nodes).To(BeEmpty())
}

func TestInventory(t *testing.T) {
	g := NewWithT(t)
	s, _ := sessionWith(interceptor.Funcs{},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "lb"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer},
			Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: "192.0.2.2"}, {IP: "192.0.2.1"}}}}},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "lb", UID: "1"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "other"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP}},
		&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v", UID: "2"},
			Spec:   corev1.PersistentVolumeSpec{ClaimRef: &corev1.ObjectReference{Namespace: "a", Name: "claim"}},
			Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound}},
		&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "w"}, Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d"}}}},
		&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeSource: corev1.PersistentVolumeSource{Cinder: &corev1.CinderPersistentVolumeSource{VolumeID: "x"}}}},
	)
	inventory, known := s.Inventory(t.Context()).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(cmp.Diff(observation.Inventory{
		LoadBalancers: []observation.LoadBalancer{
			{Namespace: "a", Name: "lb", UID: "1", Ingress: []string{}},
			{Namespace: "b", Name: "lb", Ingress: []string{"192.0.2.1", "192.0.2.2"}},
		},
		Volumes: []observation.Volume{{Name: "v", UID: "2", Phase: "Bound", Claim: "a/claim"}, {Name: "w", Driver: "d"}, {Name: "x", Plugin: "kubernetes.io/cinder"}},
	}, inventory)).To(BeEmpty())
}
