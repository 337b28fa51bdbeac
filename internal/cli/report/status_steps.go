package report

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

// stepState is how a row of the table stands.
type stepState string

const (
	stepDone    stepState = "Done"
	stepCurrent stepState = "Current"
	stepFailed  stepState = "Failed"
	stepUnknown stepState = "Unknown"
	stepOpen    stepState = "Open"
)

// stepReport is one row of the table.
type stepReport struct {
	Step  ucv1.Step `json:"step"`
	Means string    `json:"means"`
	State stepState `json:"state"`
	// Since and Until are the last time when it was the current one; a row that held at once never was.
	Since *metav1.Time `json:"since,omitempty"`
	Until *metav1.Time `json:"until,omitempty"`
	// Note has its numbers.
	Note  string       `json:"note,omitempty"`
	Parts []partReport `json:"parts,omitempty"`
}

// partReport is a line of the hand-over, or one of the conditions of a step that has two.
type partReport struct {
	Name  string    `json:"name"`
	Means string    `json:"means,omitempty"`
	State stepState `json:"state"`
}

// stepsOf are the rows of the table that the Cluster is walked by; none when there is nothing to walk.
func stepsOf(cluster *ucv1.Cluster) []stepReport {
	status := cluster.Status
	if !cluster.ExternalCloudProvider() || status.Step == "" || status.Step == ucv1.StepRolledBack {
		return nil
	}
	rows := migration.Table(status.Origin)
	state := func(row migration.Row) stepState { return rowState(cluster, row) }
	if rollingBack(cluster) {
		rows, state = migration.RollbackTable(), rollbackState(cluster)
	}
	steps := make([]stepReport, 0, len(rows))
	for _, row := range rows {
		step := stepReport{Step: row.Step, Means: row.Means, State: state(row), Note: noteOf(cluster, row.Step)}
		step.Since, step.Until = timesOf(status.Timeline, row.Step)
		if row.Step == status.Step {
			step.Parts, step.Until = partsOf(cluster, row.Step), nil
		}
		steps = append(steps, step)
	}
	return steps
}

func rowState(cluster *ucv1.Cluster, row migration.Row) stepState {
	if row.Step == cluster.Status.Step {
		return currentState(cluster)
	}
	for _, condition := range row.Conditions {
		if !meta.IsStatusConditionTrue(cluster.Status.Conditions, condition) {
			return stepOpen
		}
	}
	return stepDone
}

func currentState(cluster *ucv1.Cluster) stepState {
	conditions := cluster.Status.Conditions
	switch {
	case meta.IsStatusConditionTrue(conditions, ucv1.StalledCondition):
		return stepFailed
	case meta.IsStatusConditionPresentAndEqual(conditions, ucv1.ReadyCondition, metav1.ConditionUnknown):
		return stepUnknown
	}
	return stepCurrent
}

// rollbackState: the table is walked from the top, so every row above the current one held. Where KCM runs the cloud loops
// already, the fence comes first, and nothing is known of the rows above it.
func rollbackState(cluster *ucv1.Cluster) func(migration.Row) stepState {
	current := cluster.Status.Step
	fenceFirst := (current == ucv1.StepRollbackFence || current == ucv1.StepRollbackSilence) &&
		cluster.Status.Rollback.MachineControllerRevertedAt == nil
	state := stepDone
	if fenceFirst {
		state = stepOpen
	}
	return func(row migration.Row) stepState {
		if row.Step == current {
			state = stepOpen
			return currentState(cluster)
		}
		return state
	}
}

// noteOf has the numbers of a step.
func noteOf(cluster *ucv1.Cluster, step ucv1.Step) string {
	status := cluster.Status
	switch step {
	case ucv1.StepAddons:
		if addons := status.Addons; addons != nil {
			return fmt.Sprintf("CCM %s, CSI driver %s", orDash(addons.CloudControllerManagerVersion), orDash(addons.CSIVersion))
		}
	case ucv1.StepHandover:
		return handoverNote(status.Handover)
	case ucv1.StepRoll, ucv1.StepRollbackRoll:
		if machines := status.Machines; machines != nil {
			return machinesNote(*machines)
		}
	case ucv1.StepVerify:
		if nodes := status.Nodes; nodes != nil {
			return nodesNote(*nodes)
		}
	default:
	}
	return ""
}

func nodesNote(nodes ucv1.NodeCount) string {
	note := fmt.Sprintf("%d of %d Nodes initialized", nodes.Initialized, nodes.Total)
	if nodes.Proven != nil {
		note += fmt.Sprintf(", %d kubelets proven external", nodes.Proven.Total)
	}
	return note
}

func handoverNote(handover *ucv1.HandoverStatus) string {
	if handover == nil || handover.Protocol == "" {
		return ""
	}
	note := string(handover.Protocol)
	if handover.GapSeconds != nil {
		note += fmt.Sprintf(", no one ran the loops for at most %d s", *handover.GapSeconds)
	}
	return note
}

func machinesNote(machines ucv1.ProgressCount) string {
	note := fmt.Sprintf("%d of %d Machines up-to-date", machines.UpToDate, machines.Total)
	if machines.Blocked > 0 {
		note += fmt.Sprintf(", %d blocked", machines.Blocked)
	}
	return note
}

// partsOf the current step: the lines of the hand-over, or the two conditions of the addons.
func partsOf(cluster *ucv1.Cluster, step ucv1.Step) []partReport {
	var parts []partReport
	switch handover := cluster.Status.Handover; {
	case step == ucv1.StepHandover && handover != nil:
		states := map[string]stepState{lineDone: stepDone, lineCurrent: currentState(cluster), lineOpen: stepOpen}
		for _, line := range handoverLines(handover) {
			parts = append(parts, partReport{Name: line.Name, Means: line.Means, State: states[line.State]})
		}
	case step == ucv1.StepAddons:
		for _, name := range migration.RowOf(cluster.Status.Origin, step).Conditions {
			part := partReport{Name: name, State: stepOpen}
			if condition := meta.FindStatusCondition(cluster.Status.Conditions, name); condition != nil {
				part.Means = condition.Message
				if condition.Status == metav1.ConditionTrue {
					part.State = stepDone
				} else {
					part.State = currentState(cluster)
				}
			}
			parts = append(parts, part)
		}
	}
	return parts
}

func orDash(text string) string {
	if strings.TrimSpace(text) == "" {
		return "-"
	}
	return text
}
