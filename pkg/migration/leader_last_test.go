package migration

import (
	"testing"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func TestKCMsLeaderEndsLast(t *testing.T) {
	replicated := func(change func(*observation.Process)) func(*Observation) {
		return func(o *Observation) {
			edit(&o.ControlPlane, func(c *observation.ControlPlane) {
				c.KCM.Replicas = 2
				c.KCM.Pods = []observation.Process{kcmPod("old", inTree()), kcmPod("standby", inTree())}
				change(&c.KCM.Pods[0])
			})
		}
	}
	nothing := func(*observation.Process) {}
	runDecisions(t, map[string]decision{
		"the pod that leads is kept": {
			given: loud, when: replicated(nothing), step: ucv1.StepHandover, line: "LeaderEndsLast", action: outcome.ActionKeepLeader,
			says: []string{"Pod user-alpha/old, which leads"},
		},
		"one that is kept already is not kept again": {
			given:  loud,
			when:   replicated(func(p *observation.Process) { p.DeletionCost = "1000" }),
			step:   ucv1.StepHandover,
			line:   "LoopsOff",
			action: outcome.ActionChangeArguments,
		},
		"one that is going is not kept": {
			given:  loud,
			when:   replicated(func(p *observation.Process) { p.Terminating = true }),
			step:   ucv1.StepHandover,
			line:   "LoopsOff",
			action: outcome.ActionChangeArguments,
		},
		"a Lease that cannot be looked at is waited for": {
			given: loud, when: func(o *Observation) {
				replicated(nothing)(o)
				o.KCMLease = observation.Unknown[observation.Lease]("timeout")
			},
			step: ucv1.StepHandover, line: "LeaderEndsLast", wait: ucv1.CouldNotLookReason,
		},
		"pods that are someone else's to change are left alone": {
			given: loud, when: func(o *Observation) {
				replicated(nothing)(o)
				o.Cluster.Spec.ControlPlane.Change = ucv1.InstructChange
			},
			step: ucv1.StepHandover, line: "LoopsOff", wait: ucv1.WaitingForAdministratorReason,
		},
		"a single replica has no last one": {
			given:  loud,
			step:   ucv1.StepHandover,
			line:   "LoopsOff",
			action: outcome.ActionChangeArguments,
		},
	})
}
