package status

import (
	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

const inTreeNotLooked = "The feature externalCloudProvider is off; the Deployment of kube-controller-manager was not looked " +
	"at. Whether KCM leads was not looked at yet; condition ReadyToMigrate says when the user cluster is."

func inTreeStates() map[string]state {
	const says = "Provider nimbus is not in the catalogue."
	return map[string]state{
		"in-tree with an unknown provider has failed": {
			[]ucv1.Origin{ucv1.OriginInTree}, ucv1.StepInTree, passes.Unchanged, passes.Failing("NotSupported", says), nil,
			summary{kstatus.FailedStatus, metav1.ConditionFalse, "NotSupported", "", metav1.ConditionTrue, says},
		},
		"in-tree with a KCM that cannot be looked at is in progress, and unknown": {
			[]ucv1.Origin{ucv1.OriginInTree}, ucv1.StepInTree, passes.Unchanged,
			passes.Blind("Could not look at Deployment x/kcm: timeout."), nil,
			summary{kstatus.InProgressStatus, metav1.ConditionUnknown, "CouldNotLook", metav1.ConditionTrue, "", "Could not look at " +
				"Deployment x/kcm: timeout."},
		},
		"in-tree with a Lease that cannot be looked at is in progress, and unknown": {
			[]ucv1.Origin{ucv1.OriginInTree}, ucv1.StepInTree, passes.Unchanged,
			lastLook(migration.Attendance{Status: metav1.ConditionUnknown, Reason: ucv1.CouldNotLookReason, Message: "It hangs."}), nil,
			summary{kstatus.InProgressStatus, metav1.ConditionUnknown, "CouldNotLook", metav1.ConditionTrue, "", "It hangs."},
		},
		"in-tree with a KCM that may be restarting is ready": {
			[]ucv1.Origin{ucv1.OriginInTree},
			ucv1.StepInTree,
			passes.Unchanged,
			lastLook(migration.Attendance{Status: metav1.ConditionFalse, Reason: ucv1.CloudLoopsUnattendedReason, Message: "None leads."}),
			nil,
			summary{kstatus.CurrentStatus, metav1.ConditionTrue, "InTree", "", "", inTreeNotLooked},
		},
		"in-tree with a KCM that did not come back is not": {
			[]ucv1.Origin{ucv1.OriginInTree}, ucv1.StepInTree, passes.Unchanged,
			lastLook(migration.Attendance{Status: metav1.ConditionFalse, Overdue: true, Message: "None leads."}), nil,
			summary{kstatus.InProgressStatus, metav1.ConditionFalse, "CloudLoopsUnattended", metav1.ConditionTrue, "", "None leads."},
		},
		"in-tree with a KCM that does not come back needs a person": {
			[]ucv1.Origin{ucv1.OriginInTree}, ucv1.StepInTree, passes.Unchanged,
			lastLook(migration.Attendance{Status: metav1.ConditionFalse, Overdue: true, NeedsPerson: true, Message: "None leads."}), nil,
			summary{kstatus.FailedStatus, metav1.ConditionFalse, "CloudLoopsUnattended", "", metav1.ConditionTrue, "None leads."},
		},
	}
}

// lastLook is what the last look ahead saw of KCM.
func lastLook(attendance migration.Attendance) func(*migration.Decision) {
	return func(d *migration.Decision) { d.Attendance = &attendance }
}

func rolledBackStates() map[string]state {
	migrating := []ucv1.Origin{ucv1.OriginMigrating}
	const yes, no = metav1.ConditionTrue, metav1.ConditionFalse
	return map[string]state{
		"a refused rollback has failed, also when the migration is completed": {
			migrating, ucv1.StepFinished, passes.Completed, passes.Failing("RollbackRefused", "The point of no return was passed."), nil,
			summary{kstatus.FailedStatus, no, "RollbackRefused", "", yes, "The point of no return was passed."},
		},
		"rolling back is in progress": {
			migrating, ucv1.StepRollbackRoll, passes.Unchanged, passes.Waiting("WaitingForMachines", "Waiting."), nil,
			summary{kstatus.InProgressStatus, no, "WaitingForMachines", yes, "", "Waiting."},
		},
		"rolled back is ready": {
			migrating, ucv1.StepRolledBack, passes.Unchanged, passes.Nothing, nil,
			summary{kstatus.CurrentStatus, yes, "RolledBack", "", "",
				"The migration is rolled back; KCM runs the cloud loops. It starts again at spec.handover.retryAfter when that is " +
					"later than status.rollback.finishedAt and spec.handover.rollback is false."},
		},
		"rolled back, and its control plane sleeps, is ready": {
			migrating,
			ucv1.StepRolledBack,
			passes.Unchanged,
			lastLook(
				migration.Attendance{
					Status:  metav1.ConditionUnknown,
					Reason:  ucv1.HibernatedReason,
					Message: "The control plane is scaled to 0.",
				},
			),
			nil,
			summary{kstatus.CurrentStatus, yes, "RolledBack", "", "", "The migration is rolled back; the control plane is scaled " +
				"to 0, so whether KCM runs the cloud loops was not looked at. It starts again at spec.handover.retryAfter when that " +
				"is later than status.rollback.finishedAt and spec.handover.rollback is false."},
		},
		"rolled back, but KCM does not lead, is not ready": {
			migrating,
			ucv1.StepRolledBack,
			passes.Unchanged,
			passes.Waiting("WaitingForLeader", "The migration is rolled back, but no process runs them."),
			nil,
			summary{kstatus.InProgressStatus, no, "WaitingForLeader", yes, "", "The migration is rolled back, but no " +
				"process runs them."},
		},
	}
}
