package controller

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// What the real one knows of a Node is its providerID and its addresses (the table "Stand-in against real", nodeRef).
func TestNodesAreFoundByProviderIDOrAddress(t *testing.T) {
	w := newWorld(t)
	w.pool()
	for _, machine := range w.machines() {
		node := &corev1.Node{}
		w.Expect(w.client.Get(t.Context(), client.ObjectKey{Name: machine.Name}, node)).To(Succeed())
		node.Labels, node.Annotations = nil, nil
		w.Expect(w.client.Update(t.Context(), node)).To(Succeed())
		machine.Status.NodeRef = nil
		w.Expect(w.client.Update(t.Context(), &machine)).To(Succeed())
	}
	w.step()
	for _, machine := range w.machines() {
		node := &corev1.Node{}
		w.Expect(w.client.Get(t.Context(), client.ObjectKey{Name: machine.Name}, node)).To(Succeed())
		w.Expect(machine.Status.NodeRef.UID).To(Equal(node.UID))
		w.Expect(node.Labels).To(HaveKeyWithValue(machines.NodeOwnerLabel, string(machine.UID)), "it gets its owner back, and no "+
			"other label")
		w.Expect(node.Labels).To(HaveLen(1))
	}
}

func TestANodeWithoutAddressIsFoundAtTheNextLookAfterTheCCMHasNamedIt(t *testing.T) {
	w := newWorld(t)
	w.stampExternal, w.bootExternal, w.options.external, w.options.nodesWithoutAddress = true, true, true, true
	w.create(1)
	w.steps(10)
	w.Expect(w.nodes()).To(HaveLen(1))
	w.Expect(w.machines()[0].Status.NodeRef).To(BeNil())

	before := w.nodes()[0]
	node := w.nodes()[0]
	node.Spec.ProviderID = "simcloud://alpha/" + node.Name
	w.Expect(w.client.Update(t.Context(), &node)).To(Succeed())
	w.Expect(nodeChanged(event.UpdateEvent{ObjectOld: &before, ObjectNew: &w.nodes()[0]})).To(BeFalse(), "that wakes no one")
	w.step()
	w.Expect(w.machines()[0].Status.NodeRef).To(HaveField("Name", node.Name))
}

func TestAMachineThatDoesNotJoinInTimeIsMadeAgain(t *testing.T) {
	w := newWorld(t)
	w.stampExternal, w.bootExternal, w.options.external, w.options.nodesWithoutAddress = true, true, true, true
	w.options.joinTimeout = time.Minute
	w.create(1)
	w.steps(50)
	first := w.machines()[0].Name
	w.steps(30)
	w.Expect(w.machines()).To(HaveLen(1))
	w.Expect(w.machines()[0].Name).NotTo(Equal(first))
}

// The seed draws them, and never so many that nothing can ask for an operating system.
func TestSomeNodesHaveNoLabels(t *testing.T) {
	odd := map[int]bool{}
	for seed := range uint64(8) {
		w := newWorld(t)
		w.options.oddNodes = seed + 1
		w.create(4)
		w.steps(10)
		usual := 0
		for _, node := range w.nodes() {
			if node.Labels[corev1.LabelOSStable] != "" {
				usual++
			}
		}
		w.Expect(w.deployment().Status.AvailableReplicas).To(Equal(int32(4)), "seed %d", seed)
		w.Expect(usual).To(BeNumerically(">=", 2), "seed %d", seed)
		odd[len(w.nodes())-usual] = true
	}
	NewWithT(t).Expect(len(odd)).To(BeNumerically(">", 1), "no seed draws another number of them")
}
