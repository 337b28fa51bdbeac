package migration

import (
	"testing"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// controllers replaces what was found of the machine-controller.
func controllers(deployments ...observation.MachineControllerDeployment) func(*Observation) {
	return func(o *Observation) { o.MachineController = observation.Known(deployments) }
}

// TestMachineControllerIsKnown: a Deployment that is left out hands out in-tree kubelets while another annotates their Machines
// as external.
func TestMachineControllerIsKnown(t *testing.T) {
	found, webhook := machineControllers()[0], missingController(observation.MachineWebhook)
	named, denied := webhook, found
	named.Named, denied.Denied = true, true
	without := func(changes ...func(*Observation)) func(*Observation) {
		return func(o *Observation) {
			noNodes(o)
			for _, change := range append(changes, controllers(missingController(observation.MachineController), webhook)) {
				change(o)
			}
		}
	}
	blocks := func(given func() Observation, when func(*Observation), says ...string) decision {
		return decision{
			given: given, when: when, step: ucv1.StepMachineController, fails: ucv1.InputInvalidReason,
			says: append(says, "Correct spec.machineController"),
		}
	}
	runDecisions(t, map[string]decision{
		"Machines without any machine-controller block": blocks(configured,
			controllers(missingController(observation.MachineController), webhook),
			"these do not exist: Deployment user-alpha/machine-controller, Deployment user-alpha/machine-controller-webhook"),
		"one that is missing blocks":                            blocks(configured, controllers(found, webhook), "machine-controller-webhook"),
		"one that is missing blocks in the middle of a roll":    blocks(rolling, controllers(found, webhook), "machine-controller-webhook"),
		"one that is missing blocks a cluster without Machines": blocks(configured, func(o *Observation) { noNodes(o); controllers(found, webhook)(o) }, "machine-controller-webhook"),
		"one that the spec names and that is missing blocks, even if nothing else is there": blocks(configured,
			func(o *Observation) { noNodes(o); controllers(named)(o) },
			"machine-controller-webhook"),
		"an operating-system-manager that exists against the spec blocks": blocks(configured, controllers(found, denied), "The spec says that there is no operating-system-manager"),
		"Deployments that were not looked for block":                      blocks(configured, controllers(), "was looked for"),
		"a cluster without Machines and machine-controller goes on": {
			given: verifying, when: without(), step: ucv1.StepVerify, action: outcome.ActionRecord,
		},
		"a cluster without the CRDs goes on": {
			given: verifying, when: without(func(o *Observation) { o.Machines = observation.Absent[observation.Machines]() }),
			step: ucv1.StepVerify, action: outcome.ActionRecord,
		},
		"Machines that cannot be looked at are not taken for none": {
			given: verifying, when: without(func(o *Observation) { o.Machines = observation.Unknown[observation.Machines]("timeout") }),
			step: ucv1.StepMachineController, wait: ucv1.CouldNotLookReason,
		},
		"a rollback needs them, too": {
			given: turningBack, when: controllers(found, webhook), step: ucv1.StepRollbackMachineController,
			fails: ucv1.InputInvalidReason, says: []string{"machine-controller-webhook"},
		},
	})
}

// TestFlagsAreSetWhileTheCCMLeads: no one else initializes the Nodes that come with them.
func TestFlagsAreSetWhileTheCCMLeads(t *testing.T) {
	silent := func(since time.Duration) func(*Observation) {
		return func(o *Observation) {
			edit(&o.CCMLease, func(l *observation.Lease) { l.ChangedAt, l.RenewedBy = ago(since), ago(since) })
		}
	}
	runDecisions(t, map[string]decision{
		"a CCM that leads":             {given: configuring, step: ucv1.StepMachineController, action: outcome.ActionChangeArguments},
		"one whose Lease stands still": {given: configuring, when: silent(20 * time.Second), step: ucv1.StepMachineController, wait: ucv1.WaitingForLeaderReason},
		"one that never leads again": {
			given: configuring, when: silent(10 * time.Minute), step: ucv1.StepMachineController, fails: ucv1.LeaderDeadlineExceededReason,
		},
		"a cluster without Nodes has no Node that waits": {
			given: configuring, when: func(o *Observation) { silent(10 * time.Minute)(o); noNodes(o) },
			step: ucv1.StepMachineController, action: outcome.ActionChangeArguments,
		},
	})
}
