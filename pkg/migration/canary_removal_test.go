package migration

import (
	"testing"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func canaryProven(o *Observation) { o.Cluster.Status.Canary.ProvenAt = stampAgo(time.Second) }

func withoutWorkload(o *Observation) {
	workload(func(w *observation.CanaryWorkload) { w.Objects = nil })(o)
}

// originalRolled has its original rolled.
func originalRolled(o *Observation) {
	edit(&o.Machines, func(m *observation.Machines) {
		m.Deployments[0].RestartValue, m.Sets[0].RestartValue, m.Machines[0].Annotation = generation, generation, "true"
	})
}

func TestCanaryIsRemoved(t *testing.T) {
	goingSince := func(kind string, since time.Duration) func(*Observation) {
		return workload(func(w *observation.CanaryWorkload) {
			w.Objects = canaryObjects(kind)
			w.Objects[0].DeletingSince = ago(since)
		})
	}
	machineOnly := machines(func(m *observation.Machines) { m.Deployments = m.Deployments[:1] })
	runDecisions(t, map[string]decision{
		"its workload goes first": {
			given: made, when: canaryProven, step: ucv1.StepRoll, action: outcome.ActionRemoveCanary,
			says: []string{"PersistentVolumeClaim kube-system/ccm-migration-canary, Pod kube-system/ccm-migration-canary, Service"},
		},
		"its Machine goes when the volume is gone": {
			given: made, when: both(canaryProven, withoutWorkload), step: ucv1.StepRoll, action: outcome.ActionRemoveCanary,
			says: []string{"MachineDeployment kube-system/ccm-migration-canary"},
		},
		"its Machine waits for the volume, and the roll does not": {
			given: made, when: both(canaryProven, goingSince("PersistentVolumeClaim", time.Minute)), step: ucv1.StepRoll,
			action: outcome.ActionRollMachineDeployment,
		},
		"but not for ever": {
			given: made, when: both(canaryProven, goingSince("PersistentVolumeClaim", 6*time.Minute)), step: ucv1.StepRoll,
			action: outcome.ActionRemoveCanary,
		},
		"it does not wait for the load balancer": {
			given: made, when: both(canaryProven, goingSince("Service", time.Second)),
			step: ucv1.StepRoll, action: outcome.ActionRemoveCanary,
		},
		"the row waits until it is gone": {
			given: made, when: both(canaryProven, withoutWorkload, machineOnly, originalRolled),
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
			says: []string{"Waiting for the canary to go: Machine kube-system/canary-a"},
		},
		"a Machine of it that does not go calls a person": {
			given: made, when: both(canaryProven, withoutWorkload, machineOnly, originalRolled, machines(func(m *observation.Machines) {
				m.Machines[1].Deleting, m.Machines[1].DeletingSince = true, ago(21*time.Minute)
			})),
			step: ucv1.StepRoll, fails: ucv1.NodesNotInitializedReason,
			says: []string{"The canary does not go: Machine kube-system/canary-a"},
		},
	})
}

func TestCanaryIsHeldByAFinalizer(t *testing.T) {
	going := func(since time.Duration) func(*Observation) {
		return machines(func(m *observation.Machines) {
			m.Deployments[1].Deleting, m.Deployments[1].DeletingSince = true, ago(since)
			m.Deployments[1].Finalizers = []string{"example.com/cleanup of the cleaner"}
		})
	}
	withoutMachine := machines(func(m *observation.Machines) { m.Machines, m.Sets = m.Machines[:1], m.Sets[:1] })
	runDecisions(t, map[string]decision{
		"a finalizer that holds its MachineDeployment is named with whose it is": {
			given: made, when: both(canaryProven, withoutWorkload, originalRolled, withoutMachine, going(time.Minute)),
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
			says: []string{"Waiting for the canary to go: MachineDeployment kube-system/ccm-migration-canary, held by finalizer " +
				"example.com/cleanup of the cleaner."},
		},
		"one that is held for too long calls a person": {
			given: made, when: both(canaryProven, withoutWorkload, originalRolled, withoutMachine, going(21*time.Minute)),
			step: ucv1.StepRoll, fails: ucv1.NodesNotInitializedReason,
			says: []string{"The canary does not go: MachineDeployment kube-system/ccm-migration-canary, held by finalizer example.com/"},
		},
		"nor does its Machine go while a finalizer holds it": {
			given: made, when: both(canaryProven, withoutWorkload, originalRolled, going(21*time.Minute)),
			step: ucv1.StepRoll, fails: ucv1.NodesNotInitializedReason,
			says: []string{"The canary does not go: MachineDeployment kube-system/ccm-migration-canary, held by finalizer example.com/"},
		},
		"what waits for its Machine is not held": {
			given: made, when: both(canaryProven, withoutWorkload, originalRolled, going(21*time.Minute),
				machines(func(m *observation.Machines) {
					m.Machines[1].Deleting, m.Machines[1].DeletingSince = true, ago(time.Minute)
				})), step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason, never: "held by",
		},
	})
}

func TestCanaryGoesWhenItIsNotWanted(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a person asks for none": {
			given: made, when: func(o *Observation) { o.Cluster.Spec.Rollout.Canary = ucv1.NoCanary }, step: ucv1.StepRoll,
			action: outcome.ActionRemoveCanary,
		},
		"nothing is left that it would be for": {
			given: made, when: machines(func(m *observation.Machines) { m.Deployments[0].Paused = true }), step: ucv1.StepRoll,
			action: outcome.ActionRemoveCanary,
		},
		"the Cluster is deleted": {
			given: deleted(made), step: ucv1.StepRoll, action: outcome.ActionRemoveCanary,
		},
		"the migration is rolled back": {
			given: made, when: func(o *Observation) {
				o.Cluster.Spec.Handover.Rollback = true
				o.Cluster.Status.Rollback = &ucv1.RollbackStatus{
					StartedAt: stampAgo(10 * time.Minute), MachineControllerRevertedAt: stampAgo(9 * time.Minute),
				}
				edit(
					&o.MachineController, func(d *[]observation.MachineControllerDeployment) { (*d)[0].Arguments.Flags = map[string]string{} },
				)
			},
			step: ucv1.StepRollbackRoll, action: outcome.ActionRemoveCanary,
		},
		"a rollback does not roll anything back before": {
			given: turningBack, when: withCanary, step: ucv1.StepRollbackRoll, action: outcome.ActionRemoveCanary,
		},
	})
}
