package migration

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func TestWhatIsReadAgain(t *testing.T) {
	acts := func(kind outcome.ActionKind) Decision {
		return Decision{Step: ucv1.StepRoll, Action: &outcome.Action{Kind: kind}}
	}
	records := func(step ucv1.Step) Decision {
		return Decision{Step: step, Action: &outcome.Action{Kind: outcome.ActionRecord}, Facts: &ucv1.Facts{}}
	}
	fails := Decision{Step: ucv1.StepRoll, Failure: &outcome.Failure{Reason: ucv1.InputInvalidReason}}
	handedOver := &ucv1.HandoverStatus{FinishedAt: &metav1.Time{}}
	proof := Needs{Proof: true, ClosedFence: true}
	for name, tc := range map[string]struct {
		needs    Needs
		decision Decision
		known    string
		facts    ucv1.Facts
		want     Confirmation
	}{
		"nothing while it waits":            {needs: proof, decision: Decision{Wait: &outcome.Wait{}}},
		"nothing for what only is recorded": {decision: records(ucv1.StepRoll)},
		"what proves silence, in the hand-over": {
			needs: proof, decision: records(ucv1.StepHandover), want: Confirmation{Managers: true, Fence: true},
		},
		"what proves silence, before a fence opens": {
			needs: proof, decision: acts(outcome.ActionOpenFence), want: Confirmation{Managers: true, Fence: true, ForeignCCMs: true},
		},
		"nothing before what only shortens a wait": {needs: proof, decision: acts(outcome.ActionGrantLease)},
		"the Machines before one is replaced":      {decision: acts(outcome.ActionStepMachineSet), want: Confirmation{Machines: true}},
		"who else is a CCM before a fence opens": {
			decision: acts(outcome.ActionOpenFence), want: Confirmation{Managers: true, ForeignCCMs: true},
		},
		"who else is a CCM before the loops go off in KCM": {
			decision: acts(outcome.ActionChangeArguments), want: Confirmation{Managers: true, ForeignCCMs: true},
		},
		"who else is a CCM before they are given back to KCM": {
			facts:    ucv1.Facts{Handover: handedOver, Rollback: &ucv1.RollbackStatus{}},
			decision: acts(outcome.ActionChangeArguments), want: Confirmation{Managers: true, ForeignCCMs: true},
		},
		"not who else is a CCM when they are handed over": {
			facts:    ucv1.Facts{Handover: handedOver},
			decision: acts(outcome.ActionChangeArguments), want: Confirmation{Managers: true},
		},
		"who runs before a Lease is freed": {decision: acts(outcome.ActionFreeLease), want: Confirmation{Managers: true}},
		"all before a person is called":    {decision: fails, want: Confirmation{All: true}},
		"nothing while he is called":       {needs: proof, decision: fails, known: ucv1.InputInvalidReason},
		"all before he is called for something else": {
			decision: fails, known: ucv1.CloudLoopsUnattendedReason, want: Confirmation{All: true},
		},
		"all before the migration counts as complete": {decision: records(ucv1.StepComplete), want: Confirmation{All: true}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &ucv1.Cluster{Status: ucv1.ClusterStatus{Facts: tc.facts}}
			if tc.known != "" {
				cluster.Status.Conditions = []metav1.Condition{{Type: ucv1.StalledCondition, Reason: tc.known}}
			}
			NewWithT(t).Expect(ConfirmationOf(cluster, tc.needs, tc.decision)).To(Equal(tc.want))
		})
	}
}

func TestAllCoversEachPart(t *testing.T) {
	g := NewWithT(t)
	all := Confirmation{}.And(Confirmation{All: true})
	g.Expect(all.Covers(Confirmation{Managers: true, Fence: true, ForeignCCMs: true, Machines: true})).To(BeTrue())
	g.Expect(Confirmation{Machines: true}.Covers(Confirmation{})).To(BeTrue())
	g.Expect(Confirmation{Machines: true}.Covers(Confirmation{Fence: true})).To(BeFalse())
}
