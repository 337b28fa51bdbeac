package report

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// clusterState is a Cluster in one word.
type clusterState string

// The states, in the order in which a fleet is shown: what asks for a person first.
const (
	needsYou      clusterState = "NeedsYou"
	cannotLook    clusterState = "CannotLook"
	isPaused      clusterState = "Paused"
	isRollingBack clusterState = "Rolling back"
	isWorking     clusterState = "Working"
	isQueued      clusterState = "Queued"
	isDeleting    clusterState = "Deleting"
	isNew         clusterState = "New"
	isRolledBack  clusterState = "Rolled back"
	isInTree      clusterState = "InTree"
	isDone        clusterState = "Done"
)

func clusterStates() []clusterState {
	return []clusterState{
		needsYou, cannotLook, isPaused, isRollingBack, isWorking, isQueued, isDeleting, isNew, isRolledBack, isInTree, isDone,
	}
}

// words of a state, for people.
func (c clusterState) words() string {
	return map[clusterState]string{
		needsYou: "needs you", cannotLook: "cannot look", isPaused: "paused", isRollingBack: "rolling back", isWorking: "working",
		isQueued: "queued", isDeleting: "deleting",
		isNew: "new", isRolledBack: "rolled back", isInTree: "in-tree", isDone: "done",
	}[c]
}

// clusterReport is what status prints of a Cluster: nothing but what its status says.
type clusterReport struct {
	Cluster  string      `json:"cluster"`
	Provider string      `json:"provider"`
	Version  string      `json:"version"`
	Origin   ucv1.Origin `json:"origin,omitempty"`
	// FleetMigration and Wave are those that queued or admitted it.
	FleetMigration string       `json:"fleetMigration,omitempty"`
	Wave           string       `json:"wave,omitempty"`
	State          clusterState `json:"state"`
	// Trouble is what is wrong, if anything is.
	Trouble trouble   `json:"trouble,omitempty"`
	Step    ucv1.Step `json:"step,omitempty"`
	// Since it stands as State says.
	Since      *metav1.Time        `json:"since,omitempty"`
	StepsDone  int                 `json:"stepsDone"`
	StepsTotal int                 `json:"stepsTotal"`
	Machines   *ucv1.ProgressCount `json:"machines,omitempty"`
	// Unattended is what the status says when no manager runs the cloud loops; it outweighs every reason.
	Unattended string `json:"unattended,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Message    string `json:"message,omitempty"`
	// ReadyToMigrate is the condition's status while the feature is off, Blocking what the last look found in the way.
	ReadyToMigrate metav1.ConditionStatus `json:"readyToMigrate,omitempty"`
	Blocking       string                 `json:"blocking,omitempty"`
	// Findings are the identifiers of what blocks a migration that has not begun; of the worst, as many as the status has.
	Findings []string `json:"findings,omitempty"`
	*clusterDetails
}

// clusterDetails are for one Cluster only.
type clusterDetails struct {
	Protocol        ucv1.HandoverProtocol       `json:"protocol,omitempty"`
	StartedAt       *metav1.Time                `json:"startedAt,omitempty"`
	CompletedAt     *metav1.Time                `json:"completedAt,omitempty"`
	PointOfNoReturn *ucv1.PointOfNoReturnStatus `json:"pointOfNoReturn,omitempty"`
	Steps           []stepReport                `json:"steps,omitempty"`
	Next            *blocker                    `json:"next,omitempty"`
	Acceptances     []ucv1.AcceptanceStatus     `json:"acceptances,omitempty"`
	Timeline        []ucv1.TimelineEntry        `json:"timeline,omitempty"`
}

// newClusterReport is the short one, as it stands in a fleet.
func newClusterReport(cluster *ucv1.Cluster) clusterReport {
	status, state := cluster.Status, stateOf(cluster)
	report := clusterReport{
		Cluster: cluster.Namespace + "/" +
			cluster.Name, Provider: cluster.Spec.Cloud.ProviderName, Version: strings.TrimPrefix(cluster.Spec.Version, "v"),
		Origin: status.Origin, State: state, Step: status.Step, Since: sinceOf(cluster, state), Machines: status.Machines,
	}
	steps := stepsOf(cluster)
	report.StepsTotal = len(steps)
	for _, step := range steps {
		if step.State == stepDone {
			report.StepsDone++
		}
	}
	what := blockerOf(cluster)
	report.Unattended, report.Reason, report.Message = what.Unattended, what.Reason, what.Message
	if ahead := meta.FindStatusCondition(status.Conditions, ucv1.ReadyToMigrateCondition); ahead != nil {
		report.ReadyToMigrate = ahead.Status
		if ahead.Status == metav1.ConditionFalse {
			report.Blocking = ahead.Message
		}
	}
	if admission := status.Admission; admission != nil {
		report.FleetMigration, report.Wave = admission.FleetMigration, admission.Wave
	}
	if report.Blocking != "" || report.Reason == ucv1.PreflightFailedReason {
		report.Findings = blockingFindings(cluster)
	}
	report.Trouble = troubleOf(cluster, &report)
	return report
}

func blockingFindings(cluster *ucv1.Cluster) []string {
	ids := sets.New[string]()
	if preflight := cluster.Status.Preflight; preflight != nil {
		for _, finding := range preflight.Findings {
			if finding.Severity == ucv1.FindingSeverity(observation.Blocking) {
				ids.Insert(finding.ID)
			}
		}
	}
	return sets.List(ids)
}

// newClusterDetails is the long one.
func newClusterDetails(cluster *ucv1.Cluster) clusterReport {
	report, status, next := newClusterReport(cluster), cluster.Status, blockerOf(cluster)
	report.clusterDetails = &clusterDetails{
		StartedAt: status.StartedAt, CompletedAt: status.CompletedAt, Steps: stepsOf(cluster), Next: &next,
		Acceptances: status.Acceptances, Timeline: status.Timeline,
	}
	if status.Handover != nil {
		report.Protocol, report.PointOfNoReturn = status.Handover.Protocol, status.Handover.PointOfNoReturn
	}
	return report
}

// stateOf reads what the controller wrote. A Cluster that was stalled and is paused still needs someone. Some waits are for
// a person although the controller goes on by itself afterwards.
func stateOf(cluster *ucv1.Cluster) clusterState {
	conditions := cluster.Status.Conditions
	ready := meta.FindStatusCondition(conditions, ucv1.ReadyCondition)
	switch {
	case ready == nil:
		return isNew
	case meta.IsStatusConditionTrue(conditions, ucv1.StalledCondition), waitsForPerson(blockingCondition(cluster).Reason):
		return needsYou
	case cluster.Spec.Paused && cluster.ExternalCloudProvider():
		return isPaused
	case !cluster.DeletionTimestamp.IsZero():
		return isDeleting
	case ready.Status == metav1.ConditionTrue:
		return restingState(cluster)
	case ready.Status == metav1.ConditionUnknown:
		return cannotLook
	case rollingBack(cluster):
		return isRollingBack
	}
	return isWorking
}

func restingState(cluster *ucv1.Cluster) clusterState {
	switch cluster.Status.Step {
	case ucv1.StepAdmitted:
		return isQueued
	case ucv1.StepInTree:
		return isInTree
	case ucv1.StepRolledBack:
		return isRolledBack
	default:
		return isDone
	}
}

func rollingBack(cluster *ucv1.Cluster) bool {
	rollback := cluster.Status.Rollback
	return rollback != nil && rollback.FinishedAt == nil
}

// sinceOf is the moment from which a Cluster has been in a state.
func sinceOf(cluster *ucv1.Cluster, state clusterState) *metav1.Time {
	switch state {
	case isNew:
		return &cluster.CreationTimestamp
	case isWorking, isRollingBack:
		if since, _ := timesOf(cluster.Status.Timeline, cluster.Status.Step); since != nil {
			return since
		}
	default:
	}
	for _, condition := range []string{map[clusterState]string{needsYou: ucv1.StalledCondition,
		isPaused: ucv1.PausedCondition}[state], ucv1.ReadyCondition} {
		if found := meta.FindStatusCondition(cluster.Status.Conditions, condition); found != nil {
			return &found.LastTransitionTime
		}
	}
	return nil
}

// timesOf are when a step last began, and when the one after it did.
func timesOf(timeline []ucv1.TimelineEntry, step ucv1.Step) (since, until *metav1.Time) {
	for i := range timeline {
		entry := &timeline[i]
		switch {
		case entry.Kind != ucv1.TimelineStep:
		case entry.Step == step:
			since, until = &entry.Time, nil
		case since != nil && until == nil:
			until = &entry.Time
		}
	}
	return since, until
}

// progress of a Cluster is how many of its steps are done; at step Roll, its Machines count too.
func (r *clusterReport) progress() float64 {
	if r.StepsTotal == 0 {
		return 0
	}
	done := float64(r.StepsDone)
	if r.Step == ucv1.StepRoll && r.Machines != nil && r.Machines.Total > 0 {
		done += float64(r.Machines.UpToDate) / float64(r.Machines.Total)
	}
	return done / float64(r.StepsTotal)
}

func (r *clusterReport) steps() string {
	if r.StepsTotal == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", r.StepsDone, r.StepsTotal)
}

func (r *clusterReport) machines() string {
	if r.Machines == nil {
		return "-"
	}
	return fmt.Sprintf("%d/%d", r.Machines.UpToDate, r.Machines.Total)
}
