package controller

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

func TestInTreePool(t *testing.T) {
	w := newWorld(t)
	w.pool()
	w.Expect(w.cloud).To(HaveLen(3))
	for _, machine := range w.machines() {
		w.Expect(machine.Finalizers).To(ConsistOf(machines.InstanceFinalizer, machines.NodeFinalizer))
		w.Expect(machine.Status.NodeRef.Name).To(Equal(machine.Name))
		w.Expect(machine.Spec.ProviderID).To(BeNil(), "it is the Node's")
		node := &corev1.Node{}
		w.Expect(w.client.Get(t.Context(), client.ObjectKey{Name: machine.Name}, node)).To(Succeed())
		w.Expect(tainted(node)).To(BeFalse())
		w.Expect(node.Spec.ProviderID).To(Equal("simcloud://alpha/" + machine.Name))
		w.Expect(node.Labels).To(HaveKeyWithValue(machines.NodeOwnerLabel, string(machine.UID)))
		w.Expect(node.Labels).To(HaveKeyWithValue(corev1.LabelHostname, machine.Name))
		w.Expect(node.Annotations).To(HaveKeyWithValue(machines.NodeMachineAnnotation, namespace+"/"+machine.Name))
	}
}

func TestForceRestartRollsThreeMachines(t *testing.T) {
	w := newWorld(t)
	w.pool()
	w.stampExternal, w.bootExternal, w.options.external = true, true, true
	w.forceRestart("1")
	for range 40 {
		w.step()
		var wanted int32
		for _, set := range w.sets() {
			wanted += replicas(&set)
		}
		w.Expect(wanted).To(BeNumerically("<=", 4), "surge is one")
		w.Expect(w.deployment().Status.AvailableReplicas).To(BeNumerically(">=", 3), "none may be unavailable")
	}
	w.Expect(w.deployment().Status).To(Equal(machines.MachineDeploymentStatus{
		Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3,
	}))
	w.Expect(machines.Revision(w.deployment())).To(Equal(int64(2)))
	w.Expect(w.sets()).To(HaveLen(2), "one old MachineSet is kept")
	w.Expect(w.machines()).To(HaveLen(3))
	w.Expect(w.cloud).To(HaveLen(3))
	for _, machine := range w.machines() {
		w.Expect(machine.Annotations).To(HaveKeyWithValue("forceRestart", "1"))
		w.Expect(machine.Annotations).To(HaveKeyWithValue(machines.ExternalCloudProviderAnnotation, "true"))
	}
	for _, node := range w.nodes() {
		w.Expect(tainted(&node)).To(BeTrue(), "a roll completes although every Node is tainted")
		w.Expect(node.Spec.ProviderID).To(BeEmpty())
		w.Expect(internalOf(node.Status.Addresses)).To(HaveLen(1), "--node-ip is of the kubelet")
	}

	w.forceRestart("2")
	w.steps(40)
	w.Expect(w.sets()).To(HaveLen(2), "the oldest MachineSet is forgotten")
	w.Expect(machines.Revision(w.deployment())).To(Equal(int64(3)))
}

func TestPausedScaleUpBootsTheOldRevision(t *testing.T) {
	w := newWorld(t)
	w.pool()
	w.stampExternal, w.bootExternal, w.options.external = true, true, true
	w.change(func(deployment *machines.MachineDeployment) {
		deployment.Spec.Paused = true
		deployment.Spec.Replicas = new(int32(4))
	})
	w.forceRestart("1")
	w.steps(8)
	w.Expect(w.sets()).To(HaveLen(1), "a paused template change is not rolled")
	w.Expect(w.machines()).To(HaveLen(4))
	w.Expect(w.deployment().Status).To(Equal(machines.MachineDeploymentStatus{
		Replicas: 4, ReadyReplicas: 4, AvailableReplicas: 4,
	}), "updatedReplicas is absent")
	lying := 0
	for _, machine := range w.machines() {
		node := &corev1.Node{}
		w.Expect(w.client.Get(t.Context(), client.ObjectKey{Name: machine.Name}, node)).To(Succeed())
		w.Expect(tainted(node)).To(BeFalse(), "no kubelet is external yet")
		if machine.Annotations[machines.ExternalCloudProviderAnnotation] == "true" {
			lying++
		}
	}
	w.Expect(lying).To(Equal(1), "the annotation of the new Machine says external all the same")

	w.change(func(deployment *machines.MachineDeployment) { deployment.Spec.Paused = false })
	w.steps(50)
	for _, node := range w.nodes() {
		w.Expect(tainted(&node)).To(BeTrue())
	}
	w.Expect(w.deployment().Status.UpdatedReplicas).To(Equal(int32(4)))
}

// What no pause keeps from happening: the real one scales a paused MachineDeployment, and a taint is no obstacle to being
// available.
func TestAPausedMachineDeploymentLosesItsOldMachinesToSaturation(t *testing.T) {
	for name, test := range map[string]struct {
		minReadySeconds int32
		left            int
	}{
		"without a time to be ready":        {0, 0},
		"with an endless one, the old stay": {1<<31 - 1, 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.pool()
			w.stampExternal, w.bootExternal, w.options.external = true, true, true
			w.change(func(deployment *machines.MachineDeployment) {
				deployment.Spec.Strategy = &machines.Strategy{RollingUpdate: &machines.RollingUpdate{MaxSurge: new(intstr.FromInt32(3))}}
				deployment.Spec.MinReadySeconds = &test.minReadySeconds
				deployment.Spec.Template.Annotations = map[string]string{"forceRestart": "1"}
			})
			w.reconcile(&deploymentReconciler{client: w.client}, w.deployment())
			w.change(func(deployment *machines.MachineDeployment) { deployment.Spec.Paused = true })
			w.steps(30)
			w.Expect(w.nodesOf(false)).To(HaveLen(test.left))
			w.Expect(w.nodesOf(true)).To(HaveLen(3), "not one of them is initialized")
		})
	}
}

// Whoever annotates a paused MachineDeployment makes it forget its newest MachineSet for one pass: the old one gets Machines
// again.
func TestAnAnnotationOfAPausedMachineDeploymentRaisesItsOldSet(t *testing.T) {
	w := newWorld(t)
	w.pool()
	w.stampExternal, w.bootExternal, w.options.external = true, true, true
	w.forceRestart("1")
	counts := func() (old, newest int32) {
		for _, set := range w.sets() {
			if set.Spec.Template.Annotations["forceRestart"] == "" {
				old = replicas(&set)
			} else {
				newest = replicas(&set)
			}
		}
		return old, newest
	}
	halfWay := func() bool { old, newest := counts(); return old == 2 && newest == 2 }
	for range 100 {
		if w.reconcile(&deploymentReconciler{client: w.client}, w.deployment()); halfWay() {
			break
		}
		w.step()
	}
	w.change(func(deployment *machines.MachineDeployment) { deployment.Spec.Paused = true })
	w.steps(5)
	old, newest := counts()
	w.Expect([]int32{old, newest}).To(Equal([]int32{2, 2}), "a pause holds")

	w.change(func(deployment *machines.MachineDeployment) {
		deployment.Annotations = with(deployment.Annotations, "anyone", "was here")
	})
	w.reconcile(&deploymentReconciler{client: w.client}, w.deployment())
	old, newest = counts()
	w.Expect([]int32{old, newest}).To(Equal([]int32{3, 2}))
}

func TestMachinesWaitForTheirBootstrap(t *testing.T) {
	w := newWorld(t)
	w.pool()
	w.change(func(deployment *machines.MachineDeployment) { deployment.Spec.Replicas = new(int32(4)) })
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: machines.BootstrapNamespace, Name: "pool-kube-system-bootstrap-config"},
	}
	w.Expect(w.client.Delete(t.Context(), secret)).To(Succeed())
	deployment := w.deployment()
	w.reconcile(&deploymentReconciler{client: w.client}, deployment)
	for range 3 {
		set := w.sets()[0]
		w.reconcile(&setReconciler{client: w.client, clock: w.clock}, &set)
		for _, machine := range w.machines() {
			w.reconcile(&machineReconciler{client: w.client, cloud: w.cloud, clock: w.clock, options: w.options}, &machine)
		}
	}
	w.Expect(w.machines()).To(HaveLen(4))
	w.Expect(w.cloud).To(HaveLen(3))
	w.steps(5)
	w.Expect(w.cloud).To(HaveLen(4))
}

func TestMinReadySecondsDelaysAvailability(t *testing.T) {
	w := newWorld(t)
	w.pool()
	w.change(func(deployment *machines.MachineDeployment) {
		deployment.Spec.MinReadySeconds = new(int32(30))
		deployment.Spec.Replicas = new(int32(4))
	})
	w.clock.SetTime(w.clock.Now().Add(time.Minute))
	w.steps(10)
	w.Expect(w.deployment().Status).To(Equal(machines.MachineDeploymentStatus{
		Replicas: 4, UpdatedReplicas: 4, ReadyReplicas: 4, AvailableReplicas: 3, UnavailableReplicas: 1,
	}))
	w.steps(30)
	w.Expect(w.deployment().Status.AvailableReplicas).To(Equal(int32(4)))
}

func TestStandaloneMachines(t *testing.T) {
	tests := map[string]struct {
		boots, external bool
		nodes           int
	}{
		"never boot":                                       {},
		"an annotation true does not help":                 {external: true},
		"before v1.60, an annotation true booted external": {boots: true, external: true, nodes: 1},
		"before v1.60, an annotation false booted in-tree": {boots: true, nodes: 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.stampExternal, w.options.bootsStandalone = test.external, test.boots
			w.Expect(w.client.Create(t.Context(), &machines.Machine{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "alone"},
			})).To(Succeed())
			w.steps(4)
			w.Expect(w.nodes()).To(HaveLen(test.nodes))
			if test.nodes > 0 {
				w.Expect(tainted(&w.nodes()[0])).To(Equal(test.external))
			}
		})
	}
}
