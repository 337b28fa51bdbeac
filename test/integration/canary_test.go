package integration_test

import (
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// playCanary is everybody who makes the canary's workload serve, and takes it away when it is deleted.
func (w *world) playCanary() {
	w.t.Helper()
	w.playCanaryRemoval()
	node, claim := w.canaryNode(), &corev1.PersistentVolumeClaim{}
	if node != "" && w.canarys(claim) && claim.Status.Phase != corev1.ClaimBound {
		w.bindVolume(claim, node)
	}
	if pod := (&corev1.Pod{}); node != "" && w.canarys(pod) && pod.Spec.NodeName == "" {
		w.runPod(pod, node)
	}
	service, g := &corev1.Service{}, NewWithT(w.t)
	if w.canarys(service) && len(service.Status.LoadBalancer.Ingress) == 0 {
		service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.7"}}
		g.Expect(w.user.client.Status().Update(w.t.Context(), service)).To(Succeed())
	}
}

// canarys says whether an object of the canary is there and stays, and reads it.
func (w *world) canarys(object client.Object) bool {
	w.t.Helper()
	err := w.user.client.Get(w.t.Context(), client.ObjectKey{Namespace: ucv1.CanaryNamespace, Name: ucv1.CanaryName}, object)
	NewWithT(w.t).Expect(client.IgnoreNotFound(err)).To(Succeed())
	return err == nil && object.GetDeletionTimestamp() == nil
}

// canaryNode is the name of the canary's Node, which gets its address, when the CCM has initialized it, or empty.
func (w *world) canaryNode() string {
	w.t.Helper()
	g := NewWithT(w.t)
	list := &machines.MachineList{}
	g.Expect(w.user.client.List(w.t.Context(), list, client.HasLabels{ucv1.CanaryLabel})).To(Succeed())
	for _, machine := range list.Items {
		node := &corev1.Node{}
		g.Expect(w.user.client.Get(w.t.Context(), client.ObjectKey{Name: machine.Name}, node)).To(Succeed())
		if node.Spec.ProviderID == "" {
			continue
		}
		if len(node.Status.Addresses) == 0 {
			node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "192.0.2.8"}}
			g.Expect(w.user.client.Status().Update(w.t.Context(), node)).To(Succeed())
		}
		return node.Name
	}
	return ""
}

func (w *world) bindVolume(claim *corev1.PersistentVolumeClaim, node string) {
	w.t.Helper()
	g, c := NewWithT(w.t), w.user.client
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{GenerateName: "canary-"}, Spec: corev1.PersistentVolumeSpec{
		Capacity:    size,
		AccessModes: claim.Spec.AccessModes,
		PersistentVolumeSource: corev1.PersistentVolumeSource{
			CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.simcloud.k8c.io", VolumeHandle: "canary"},
		},
	}}
	g.Expect(c.Create(w.t.Context(), volume)).To(Succeed())
	attachment := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: volume.Name}, Spec: storagev1.VolumeAttachmentSpec{
		Attacher: "csi.simcloud.k8c.io", NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume.Name},
	}}
	g.Expect(c.Create(w.t.Context(), attachment)).To(Succeed())
	attachment.Status.Attached = true
	g.Expect(c.Status().Update(w.t.Context(), attachment)).To(Succeed())
	claim.Spec.VolumeName = volume.Name
	g.Expect(c.Update(w.t.Context(), claim)).To(Succeed())
	claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, AccessModes: claim.Spec.AccessModes, Capacity: size}
	g.Expect(c.Status().Update(w.t.Context(), claim)).To(Succeed())
}

func (w *world) runPod(pod *corev1.Pod, node string) {
	w.t.Helper()
	g, c := NewWithT(w.t), w.user.client
	g.Expect(
		c.SubResource("binding").Create(w.t.Context(), pod, &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}}),
	).To(Succeed())
	g.Expect(c.Get(w.t.Context(), client.ObjectKeyFromObject(pod), pod)).To(Succeed())
	pod.Status.Phase, pod.Status.Conditions = corev1.PodRunning, []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionTrue},
	}
	g.Expect(c.Status().Update(w.t.Context(), pod)).To(Succeed())
}

// playCanaryRemoval ends what is being deleted: the pod, the volume with all that is of it, and Machines without a
// MachineDeployment.
func (w *world) playCanaryRemoval() {
	w.t.Helper()
	g, c, ctx := NewWithT(w.t), w.user.client, w.t.Context()
	key := client.ObjectKey{Namespace: ucv1.CanaryNamespace, Name: ucv1.CanaryName}
	pod, claim := &corev1.Pod{}, &corev1.PersistentVolumeClaim{}
	if c.Get(ctx, key, pod) == nil && pod.DeletionTimestamp != nil {
		g.Expect(c.Delete(ctx, pod, client.GracePeriodSeconds(0))).To(Succeed())
	}
	if c.Get(ctx, key, claim) == nil && claim.DeletionTimestamp != nil {
		volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: claim.Spec.VolumeName}}
		g.Expect(c.Delete(ctx, &storagev1.VolumeAttachment{ObjectMeta: volume.ObjectMeta})).To(Succeed())
		g.Expect(c.Delete(ctx, volume)).To(Succeed())
		for _, object := range []client.Object{claim, volume} {
			if c.Get(ctx, client.ObjectKeyFromObject(object), object) == nil {
				object.SetFinalizers(nil)
				g.Expect(c.Update(ctx, object)).To(Succeed())
			}
		}
	}
	if err := c.Get(ctx, key, &machines.MachineDeployment{}); !apierrors.IsNotFound(err) {
		return
	}
	sets := &machines.MachineSetList{}
	g.Expect(c.List(ctx, sets, client.HasLabels{ucv1.CanaryLabel})).To(Succeed())
	for i := range sets.Items {
		w.removeMachines(&sets.Items[i])
		g.Expect(c.Delete(ctx, &sets.Items[i])).To(Succeed())
	}
}
