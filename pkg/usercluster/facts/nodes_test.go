package facts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func TestNodes(t *testing.T) {
	g := NewWithT(t)
	s, _ := readerWith(interceptor.Funcs{},
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
		{
			Name:          "a",
			UID:           "2",
			ProviderID:    "simcloud://1",
			Ready:         true,
			Uninitialized: true,
			CreatedAt:     start,
			CSIDrivers:    []string{"x", "y"},
		},
		{Name: "b", UID: "1"},
	}, nodes)).To(BeEmpty())
}

func TestNoNodesAreKnownToBeNone(t *testing.T) {
	g := NewWithT(t)
	s, _ := readerWith(interceptor.Funcs{})
	nodes, known := s.Nodes(t.Context()).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(nodes).To(BeEmpty())
}

func TestInventory(t *testing.T) {
	g := NewWithT(t)
	s, _ := readerWith(
		interceptor.Funcs{},
		&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "lb"},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer},
			Status: corev1.ServiceStatus{
				LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: "192.0.2.2"}, {IP: "192.0.2.1"}}},
			},
		},
		&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "lb", UID: "1"},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer},
		},
		&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "other"},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP},
		},
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
		Volumes: []observation.Volume{
			{Name: "v", UID: "2", Phase: "Bound", Claim: "a/claim"},
			{Name: "w", Driver: "d"},
			{Name: "x", Plugin: "kubernetes.io/cinder"},
		},
	}, inventory)).To(BeEmpty())
}
