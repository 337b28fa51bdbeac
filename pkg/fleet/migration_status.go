package fleet

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// conditions of a FleetMigration, all of them.
func (d *decision) conditions(r *run) {
	s := &r.plan.Status
	s.Conditions = append(s.Conditions, r.object.Status.Conditions...)
	set := func(kind string, is bool, reason, message string) {
		status := metav1.ConditionFalse
		if is {
			status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&s.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: r.object.Generation,
			LastTransitionTime: metav1.NewTime(d.now),
		})
	}
	accepted := len(r.plan.Problems) == 0
	if accepted {
		set(ucv1.AcceptedCondition, true, ucv1.AcceptedCondition, "The spec can be followed.")
	} else {
		set(ucv1.AcceptedCondition, false, ucv1.FleetSpecInvalidReason, r.problem())
	}
	if n := s.Unplaced.Count; n == 0 {
		set(ucv1.AllClustersPlacedCondition, true, ucv1.AllClustersPlacedCondition, "A wave selects each Cluster.")
	} else {
		set(ucv1.AllClustersPlacedCondition, false, ucv1.UnplacedReason, fmt.Sprintf(
			"No wave selects %s, such as %s. What no wave selects never starts; add a wave or a label.",
			wording.Count(int(n), "Cluster", "Clusters"),
			strings.Join(s.Unplaced.Examples, ", ")))
	}
	d.windowCondition(r, set)
	if halt := r.plan.Halt; halt != nil {
		set(ucv1.HaltedCondition, true, halt.Reason, halt.Message)
	} else {
		set(ucv1.HaltedCondition, false, ucv1.FleetRunningReason, "Nothing halted it.")
	}
	verdict := r.verdict()
	set(ucv1.ReadyCondition, verdict.ready, verdict.reason, verdict.message)
	for kind, is := range map[string]bool{ucv1.ReconcilingCondition: verdict.reconciling, ucv1.StalledCondition: verdict.stalled} {
		if is {
			set(kind, true, verdict.reason, verdict.message)
		} else {
			meta.RemoveStatusCondition(&s.Conditions, kind)
		}
	}
}

func (r *run) problem() string {
	more := ""
	if n := len(r.plan.Problems) - 1; n > 0 {
		more = fmt.Sprintf(" %d more problems.", n)
	}
	return "No Cluster is admitted: " + r.plan.Problems[0] + "." + more
}

func (r *run) waiting() int32 { return r.plan.Clusters.Queued + r.plan.Clusters.Ineligible }

// verdict is the summary.
type verdict struct {
	ready, reconciling, stalled bool
	reason, message             string
}

func (r *run) verdict() verdict {
	passed := r.plan.Status.Wave == ""
	switch {
	case len(r.plan.Problems) > 0:
		return verdict{stalled: true, reason: ucv1.FleetSpecInvalidReason, message: r.problem()}
	case r.object.DeletionTimestamp != nil:
		return verdict{
			stalled: true, reason: ucv1.DeletingReason,
			message: fmt.Sprintf("It is being deleted and stays, because %s in it, or for their roll to go on. Annotate it with %s=true "+
				"to let it go: what has not started goes on waiting for another FleetMigration.",
				wording.Count(int(r.waiting()+r.held), "Cluster waits", "Clusters wait"), ucv1.FleetReleaseAnnotation),
		}
	case r.object.Spec.Rollback != nil:
		return r.back.verdict()
	case r.plan.Halt != nil:
		return verdict{stalled: true, reason: r.plan.Halt.Reason, message: r.plan.Halt.Message}
	case r.plan.FirstWaveEmpty:
		return verdict{
			stalled: true, reason: ucv1.FirstWaveEmptyReason,
			message: "Wave " + r.plan.Waves[0].Name + ", the first, selects no Cluster, and no other wave takes its place. " +
				"Correct its clusterSelector.",
		}
	case r.plan.NoWindowAhead:
		return verdict{
			stalled: true, reason: ucv1.NoWindowAheadReason,
			message: "No window of spec.maintenance opens within 32 days. Correct its schedule, or the exclusions.",
		}
	case passed:
		return verdict{ready: true, reason: ucv1.FleetPassedReason, message: "The last wave has passed."}
	case r.object.Spec.Mode == ucv1.FleetPlanOnly:
		return verdict{reason: ucv1.FleetPlanOnlyReason, message: "spec.mode is PlanOnly: no Cluster is admitted."}
	case r.object.Spec.Mode != ucv1.FleetRun:
		return verdict{reason: ucv1.FleetOnHoldReason, message: "spec.mode is Hold: no Cluster is admitted; those that were go on."}
	}
	return verdict{
		reconciling: true, reason: ucv1.FleetRunningReason,
		message: fmt.Sprintf("Wave %s: %s Clusters succeeded.", r.plan.Status.Wave, r.plan.Status.Summary),
	}
}

// verdict of a rollback, which a person began in a halt or without one, and which a person ends.
func (b rollback) verdict() verdict {
	going := b.told + b.waiting
	message := fmt.Sprintf("spec.rollback: %s rolled back, %d on the way, and %d waiting for a budget.",
		wording.Count(b.done, "Cluster is", "Clusters are"), b.told, b.waiting)
	if b.staying > 0 {
		message = fmt.Sprintf("%s; %d not rolled back, because not known to be before the point of no return, such as %s.",
			strings.TrimSuffix(message, "."), b.staying, strings.Join(b.examples, ", "))
	}
	if going == 0 {
		message += " Remove spec.rollback: no Cluster is admitted until then."
	}
	return verdict{reconciling: going > 0, stalled: going == 0, reason: ucv1.FleetRollsBackReason, message: message}
}
