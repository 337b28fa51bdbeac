package controller

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

func node(version string, ready corev1.ConditionStatus, change func(*corev1.Node)) *corev1.Node {
	out := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: version}}
	if ready != "" {
		out.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
	}
	change(out)
	return out
}

func TestOnlyAChangeOfReadyWakesAMachine(t *testing.T) {
	same := func(*corev1.Node) {}
	before := node("1", corev1.ConditionTrue, same)
	for name, test := range map[string]struct {
		after *corev1.Node
		want  bool
	}{
		"Ready changes":                {node("2", corev1.ConditionFalse, same), true},
		"there is no Ready any more":   {node("2", "", same), true},
		"the caches deliver it again":  {node("1", corev1.ConditionTrue, same), false},
		"a heartbeat":                  {node("2", corev1.ConditionTrue, same), false},
		"the CCM writes a providerID":  {node("2", corev1.ConditionTrue, func(n *corev1.Node) { n.Spec.ProviderID = "p" }), false},
		"the CCM writes an address":    {node("2", corev1.ConditionTrue, func(n *corev1.Node) { n.Status.Addresses = []corev1.NodeAddress{{}} }), false},
		"someone begins to delete it":  {node("2", corev1.ConditionTrue, func(n *corev1.Node) { n.DeletionTimestamp = &metav1.Time{} }), false},
		"the CCM takes the taint away": {node("2", corev1.ConditionTrue, func(n *corev1.Node) { n.Spec.Taints = nil }), false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(nodeChanged(event.UpdateEvent{ObjectOld: before, ObjectNew: test.after})).To(Equal(test.want))
		})
	}
}

func TestANodeWakesItsMachineOrAllThatHaveNone(t *testing.T) {
	w := newWorld(t)
	w.pool()
	r := &machineReconciler{client: w.client, cloud: w.cloud, clock: w.clock, options: w.options}
	first := w.machines()[0]
	owned := &corev1.Node{}
	w.Expect(w.client.Get(t.Context(), client.ObjectKey{Name: first.Name}, owned)).To(Succeed())
	w.Expect(r.machinesOfNode(t.Context(), owned)).To(ConsistOf(HaveField("Name", first.Name)))
	w.Expect(r.machinesOfNode(t.Context(), &corev1.Node{})).To(BeEmpty())
	first.Status.NodeRef = nil
	w.Expect(w.client.Update(t.Context(), &first)).To(Succeed())
	w.Expect(r.machinesOfNode(t.Context(), &corev1.Node{})).To(ConsistOf(HaveField("Name", first.Name)))
}

// A MachineSet asks Nodes whether and since when they are Ready, and no one tells it when that changes: it comes again once, and
// only when all are Ready.
func TestAMachineSetLooksOnceMoreAfterMinReadySeconds(t *testing.T) {
	w := newWorld(t)
	w.pool()
	w.change(func(deployment *machines.MachineDeployment) { deployment.Spec.MinReadySeconds = new(int32(1000)) })
	w.reconcile(&deploymentReconciler{client: w.client}, w.deployment())
	set, r := w.sets()[0], &setReconciler{client: w.client, clock: w.clock}
	w.Expect(w.look(r, &set)).To(Equal(1000 * time.Second))
	w.Expect(w.sets()[0].Status.AvailableReplicas).To(BeZero())

	sick := w.nodes()[0]
	sick.Status.Conditions[0].Status = corev1.ConditionFalse
	w.Expect(w.client.Status().Update(t.Context(), &sick)).To(Succeed())
	w.Expect(w.look(r, &set)).To(BeZero(), "then nothing but the caches' resync brings it back")
	w.Expect(w.sets()[0].Status.ReadyReplicas).To(Equal(int32(2)))

	w.clock.SetTime(w.clock.Now().Add(1001 * time.Second))
	w.Expect(w.look(r, &set)).To(BeZero())
	w.Expect(w.sets()[0].Status.AvailableReplicas).To(Equal(int32(2)))
}

func TestAMachineSaysOnceThatItsNodeWasReady(t *testing.T) {
	w := newWorld(t)
	w.pool()
	sick := w.nodes()[0]
	sick.Status.Conditions[0].Status = corev1.ConditionFalse
	w.Expect(w.client.Status().Update(t.Context(), &sick)).To(Succeed())
	before := w.machines()
	for _, machine := range before {
		w.Expect(machine.Status.Conditions).To(ConsistOf(
			corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue},
		), "it has no times")
		w.reconcile(&machineReconciler{client: w.client, cloud: w.cloud, clock: w.clock, options: w.options}, &machine)
	}
	w.Expect(w.machines()).To(Equal(before), "no Machine is written, and so no MachineSet is woken")
}

func TestANodeIsFurnishedWhenItIsReady(t *testing.T) {
	w := newWorld(t)
	w.broken = true
	w.create(1)
	w.change(func(deployment *machines.MachineDeployment) {
		deployment.Spec.Template.Spec.Labels = map[string]string{"role": "db", corev1.LabelHostname: "other"}
		deployment.Spec.Template.Spec.Annotations = map[string]string{"note": "x"}
		deployment.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "db", Effect: corev1.TaintEffectNoSchedule}}
	})
	w.steps(10)
	n := w.nodes()[0]
	w.Expect(w.machines()[0].Status.NodeRef).NotTo(BeNil())
	w.Expect(n.Labels).To(HaveKey(machines.NodeOwnerLabel))
	w.Expect(n.Labels).NotTo(HaveKey("role"))
	w.Expect(n.Annotations).NotTo(Or(HaveKey("note"), HaveKey(machines.NodeMachineAnnotation)))
	w.Expect(n.Spec.Taints).To(BeEmpty(), "until then, nothing keeps pods away")

	w.broken = false
	w.steps(2)
	n = w.nodes()[0]
	w.Expect(n.Labels).To(And(HaveKeyWithValue("role", "db"), HaveKeyWithValue(corev1.LabelHostname, n.Name)))
	w.Expect(n.Annotations).To(And(HaveKeyWithValue("note", "x"), HaveKey(machines.NodeMachineAnnotation)))
	w.Expect(n.Spec.Taints).To(HaveLen(1))
}

func TestWithoutTheFlagAReadyNodeGetsAProviderIDThatNoCCMKnows(t *testing.T) {
	for external, want := range map[bool]string{true: "^$", false: "^kubermatic://simcloud/."} {
		w := newWorld(t)
		w.stampExternal, w.bootExternal, w.options.external = true, true, external
		w.create(1)
		w.steps(10)
		w.Expect(w.nodes()[0].Spec.ProviderID).To(MatchRegexp(want))
	}
}
