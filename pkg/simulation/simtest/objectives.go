package simtest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// CountAgain is what a person does who looked at a halt.
func CountAgain(w *World) {
	w.Say("person: lets the roll go on")
	w.disturbed = w.Now
	Spec(w, func(spec *ucv1.ClusterSpec) { spec.SLO.CountSince = new(metav1.NewTime(w.Now)) })
}

// FixNodes makes the CCM initialize Nodes in time.
func FixNodes(w *World) { w.CCM.SlowNodes = 0 }

// checkHalt: what the objectives halted is not rolled before a person looked.
func checkHalt(i *invariants, w *World, p pass) {
	facts := w.Facts()
	if p.Decision.Facts != nil {
		facts = *p.Decision.Facts
	}
	if facts.SLO != nil && facts.SLO.ViolatedAt != nil && w.Cluster.Spec.SLO.OnViolation != ucv1.ContinueOnViolation {
		i.fail("rule 5: MachineDeployments are rolled although the objectives halted that")
	}
}
