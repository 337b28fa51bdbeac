package controller

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The garbage collector takes Machines before their MachineSet, and that before the MachineDeployment.
func TestAMachineDeploymentIsDeletedAfterWhatItHas(t *testing.T) {
	w := newWorld(t)
	w.pool()
	w.Expect(w.deployment().Finalizers).To(ContainElement(metav1.FinalizerDeleteDependents))
	w.Expect(w.sets()[0].Finalizers).To(ConsistOf(metav1.FinalizerDeleteDependents))
	w.Expect(w.client.Delete(t.Context(), w.deployment())).To(Succeed())
	for range 8 {
		w.step()
		w.Expect(len(w.machines()) == 0 || len(w.sets()) == 1).To(BeTrue())
		w.Expect(len(w.sets()) == 0 || len(w.deployments()) == 1).To(BeTrue())
	}
	w.Expect(w.deployments()).To(BeEmpty())
	w.Expect(w.nodes()).To(BeEmpty())
}
