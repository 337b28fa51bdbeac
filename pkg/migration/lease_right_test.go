package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// rightStays is there although it was deleted that long ago.
func rightStays(since time.Duration) func(*Observation) {
	return func(o *Observation) {
		handover := o.Cluster.Status.Handover
		handover.KCMLeaseGrantedAt, handover.KCMLeaseRevokedAt = stampAgo(time.Hour), stampAgo(since)
		o.KCMLeaseRight = observation.Known(observation.LeaseRight{May: true, There: true})
	}
}

func rightIsLeft() []string {
	return []string{"RoleBinding", handover.KCMLeaseRole, "kubectl -n", "delete rolebinding,role"}
}

// TestARightThatStaysIsNotForgotten: whoever refuses to delete it is asked again later, and a person is told what is left.
func rightForgotten(g Gomega, f ucv1.Facts) {
	g.Expect(f.Handover.KCMLeaseGrantedAt).To(BeNil())
	g.Expect(f.Handover.KCMLeaseRevokedAt).To(BeNil())
}

func TestARightThatStaysIsNotForgotten(t *testing.T) {
	waiting := func(since time.Duration) func(*Observation) {
		return func(o *Observation) {
			rightStays(since)(o)
			edit(&o.MachineController, func(d *[]observation.MachineControllerDeployment) { (*d)[0].RolledOut = false })
		}
	}
	gone := func(when func(*Observation)) func(*Observation) {
		return func(o *Observation) {
			when(o)
			o.KCMLeaseRight = observation.Known(observation.LeaseRight{})
		}
	}
	kept := func(since time.Duration) func(g Gomega, f ucv1.Facts) {
		return func(g Gomega, f ucv1.Facts) {
			g.Expect(f.Handover.KCMLeaseGrantedAt).NotTo(BeNil())
			g.Expect(f.Handover.KCMLeaseRevokedAt.Time).To(Equal(ago(since)))
		}
	}
	left := rightIsLeft()
	runDecisions(t, map[string]decision{
		"before the end the roll goes on": {
			given: configured, when: waiting(time.Minute), step: ucv1.StepMachineController, wait: ucv1.RollingOutReason,
			facts: kept(time.Minute),
		},
		"and it is deleted again after a time": {
			given: configured, when: waiting(10 * time.Minute), step: ucv1.StepMachineController, action: outcome.ActionRevokeLease,
			wait: ucv1.RollingOutReason, facts: kept(0),
		},
		"what is gone is forgotten": {
			given: configured, when: gone(waiting(time.Minute)), step: ucv1.StepMachineController, wait: ucv1.RollingOutReason,
			facts: rightForgotten,
		},
		"at the end a person is told what is left, and how to delete it": {
			given: finished, when: rightStays(time.Minute), step: ucv1.StepFinalize, fails: ucv1.CouldNotActReason, says: left,
			facts: kept(time.Minute),
		},
		"then it is tried again beside that": {
			given: finished, when: rightStays(10 * time.Minute), step: ucv1.StepFinalize, action: outcome.ActionRevokeLease,
			fails: ucv1.CouldNotActReason, facts: kept(0),
		},
		"all is finished when it is gone": {given: finished, when: gone(rightStays(time.Minute)), step: ucv1.StepFinished, facts: rightForgotten},
		"what cannot be looked at is not gone": {
			given: finished, when: func(o *Observation) {
				rightStays(time.Minute)(o)
				o.KCMLeaseRight = observation.Unknown[observation.LeaseRight]("timeout")
			},
			step: ucv1.StepFinalize, wait: ucv1.CouldNotLookReason, facts: kept(time.Minute),
		},
		"at the end of a rollback a person is told, too": {
			given: loopsBack, when: rightStays(time.Minute), step: ucv1.StepRollbackAddons, fails: ucv1.CouldNotActReason, says: left,
			facts: kept(time.Minute),
		},
		"and it is tried again": {
			given: loopsBack, when: rightStays(10 * time.Minute), step: ucv1.StepRollbackAddons, action: outcome.ActionRevokeLease,
			fails: ucv1.CouldNotActReason,
		},
	})
}

func TestADeletedClusterNamesTheRightThatIsLeft(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a deleted Cluster does not wait for it, and says what is left": {
			given: rolling, when: func(o *Observation) {
				rightStays(time.Minute)(o)
				o.Cluster.DeletionTimestamp = stampAgo(time.Second)
			},
			step: ucv1.StepRoll, action: outcome.ActionRelease, says: rightIsLeft(),
		},
		"nor does one that is let go although nothing can be looked at": {
			given: rolling, when: func(o *Observation) {
				rightStays(time.Hour)(o)
				o.Cluster.DeletionTimestamp, o.Cluster.Annotations = stampAgo(time.Second), map[string]string{ucv1.AbandonAnnotation: "true"}
				o.Connection, o.KCMLease, o.KCMLeaseRight = observation.Connection{}, observation.Unknown[observation.Lease]("timeout"),
					observation.Unknown[observation.LeaseRight]("timeout")
			},
			step: ucv1.StepRoll, action: outcome.ActionRelease, says: rightIsLeft(),
		},
	})
}
