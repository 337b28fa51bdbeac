package addons

import (
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

const csiDriver = "csi.simcloud.k8c.io"

func node(name string, drivers ...string) []client.Object {
	csi := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, driver := range drivers {
		csi.Spec.Drivers = append(csi.Spec.Drivers, storagev1.CSINodeDriver{Name: driver, NodeID: name})
	}
	return []client.Object{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, csi}
}

func TestCSIDriverOfSomeoneElse(t *testing.T) {
	driver := &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: csiDriver, Annotations: map[string]string{"meta.helm.sh/release-name": "csi"}},
	}
	const described = "CSIDriver " + csiDriver + " (Helm release csi)"
	for name, tc := range map[string]struct {
		nodes     []client.Object
		satisfied string
		foreign   []string
		drifted   int
	}{
		"that every Node has registered satisfies us": {
			nodes: append(node("a", csiDriver, "other"), node("b", csiDriver)...), satisfied: described},
		"that a new Node lacks for a moment still satisfies us": {
			nodes: append(node("a", csiDriver), node("b")...), satisfied: described},
		"that no Node has registered is foreign": {
			nodes: append(node("a"), node("b")...), foreign: []string{described}, drifted: 7},
		"without any Node to prove it is foreign": {foreign: []string{described}, drifted: 7},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, _ := installerWith(interceptor.Funcs{}, append(tc.nodes, driver.DeepCopy())...)
			addons := renderSimcloud(t)
			csi := s.Observe(t.Context(), nil, addons).Value().CSI
			g.Expect(csi.SatisfiedBy).To(Equal(tc.satisfied))
			g.Expect(observation.Words(csi.Foreign)).To(ConsistOf(tc.foreign))
			g.Expect(csi.Drifted).To(HaveLen(tc.drifted), "what satisfies us stays untouched")
		})
	}
}

func TestHealthOfAddons(t *testing.T) {
	ready := func(d *appsv1.Deployment) {
		replicas := *d.Spec.Replicas
		d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: replicas, ReadyReplicas: replicas,
			AvailableReplicas: replicas, UpdatedReplicas: replicas,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}}}
	}
	waiting := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "ccm-1",
			Labels: map[string]string{"app.kubernetes.io/name": "simcloud-cloud-controller-manager"}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "ccm",
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}}},
	}
	pending := waiting.DeepCopy()
	pending.Status = corev1.PodStatus{Conditions: []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/0 nodes are available"}}}
	for name, tc := range map[string]struct {
		objects       []client.Object
		change        func(*appsv1.Deployment)
		unhealthy     []string
		unschedulable bool
	}{
		"available":      {objects: node("a"), change: ready},
		"still starting": {objects: node("a"), unhealthy: []string{"Deployment kube-system/cloud-controller-manager: Replicas: 0/2"}},
		"with a pod that cannot start": {objects: append(node("a"), waiting),
			unhealthy: []string{"Deployment kube-system/cloud-controller-manager: Replicas: 0/2 (container ccm: ImagePullBackOff)"}},
		"without a Node": {objects: []client.Object{pending}, unschedulable: true,
			unhealthy: []string{
				"Deployment kube-system/cloud-controller-manager: Replicas: 0/2 (not scheduled: 0/0 nodes are available)",
			}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var count atomic.Int32
			s, _, addons, inventory := applied(t, &count, tc.objects...)
			if tc.change != nil {
				deployment := &appsv1.Deployment{}
				g.Expect(
					s.client.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "cloud-controller-manager"}, deployment),
				).To(Succeed())
				tc.change(deployment)
				g.Expect(s.client.Status().Update(t.Context(), deployment)).To(Succeed())
			}
			ccm := s.Observe(t.Context(), inventory, addons).Value().CCM
			g.Expect(observation.Words(ccm.Unhealthy)).To(ConsistOf(tc.unhealthy))
			g.Expect(ccm.Unschedulable).To(Equal(tc.unschedulable))
			g.Expect(ccm.Drifted).To(BeEmpty())
		})
	}
}
