package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
)

// handoverReport is what handover prints: nothing but what the status of the Cluster says.
type handoverReport struct {
	Cluster       string                `json:"cluster"`
	Protocol      ucv1.HandoverProtocol `json:"protocol,omitempty"`
	Reason        string                `json:"protocolReason,omitempty"`
	Proof         []ucv1.ProofItem      `json:"proof,omitempty"`
	Line          string                `json:"line,omitempty"`
	Lines         []handoverLine        `json:"lines,omitempty"`
	Processes     []handoverProcess     `json:"processes,omitempty"`
	StartedAt     *metav1.Time          `json:"startedAt,omitempty"`
	FenceOpenedAt *metav1.Time          `json:"fenceOpenedAt,omitempty"`
	FinishedAt    *metav1.Time          `json:"finishedAt,omitempty"`
	GapSeconds    *int64                `json:"gapSeconds,omitempty"`
	Condition     *metav1.Condition     `json:"condition,omitempty"`

	PointOfNoReturn   *ucv1.PointOfNoReturnStatus `json:"pointOfNoReturn,omitempty"`
	PointOfNoReturnAt *metav1.Time                `json:"pointOfNoReturnAt,omitempty"`
	Rollback          *ucv1.RollbackStatus        `json:"rollback,omitempty"`
}

// The states of a line.
const (
	lineDone    = "done"
	lineCurrent = "current"
	lineOpen    = "open"
)

type handoverLine struct {
	Name  string `json:"name"`
	Means string `json:"means"`
	State string `json:"state"`
}

// The states of a process of KCM.
const (
	processEnded    = "ended"
	processVanished = "vanished"
	processRunning  = "running"
)

type handoverProcess struct {
	State               string `json:"state"`
	ucv1.ManagerProcess `json:",inline"`
}

// Handover shows how far a hand-over is.
func Handover() *cobra.Command {
	options, output := &management.Access{}, ""
	command := &cobra.Command{
		Use:   "handover NAME",
		Short: "Says how far the hand-over of the cloud loops is, from the status of the Cluster.",
		Args:  cobra.ExactArgs(1),
		Long:  "Says how far the hand-over of the cloud loops is. It reads the Cluster only: what is printed is as old as its status.",
		RunE: func(command *cobra.Command, args []string) error {
			cluster, _, err := options.Cluster(command.Context(), args[0])
			if err != nil {
				return err
			}
			report := newHandoverReport(cluster)
			return terminal.Write(command.OutOrStdout(), output, report, report.text)
		},
	}
	options.Bind(command.Flags())
	terminal.BindFormat(command.Flags(), &output)
	return command
}

func newHandoverReport(cluster *ucv1.Cluster) *handoverReport {
	report := &handoverReport{Cluster: cluster.Namespace + "/" + cluster.Name,
		Condition:         meta.FindStatusCondition(cluster.Status.Conditions, ucv1.HandoverCompletedCondition),
		PointOfNoReturnAt: cluster.Status.PointOfNoReturnAt, Rollback: cluster.Status.Rollback}
	handover := cluster.Status.Handover
	if handover == nil {
		return report
	}
	report.Protocol, report.Reason, report.Line, report.Proof = handover.Protocol, handover.ProtocolReason, handover.Stage,
		handover.Proof
	report.StartedAt, report.FenceOpenedAt, report.FinishedAt = handover.StartedAt, handover.FenceOpenedAt, handover.FinishedAt
	report.GapSeconds, report.PointOfNoReturn = handover.GapSeconds, handover.PointOfNoReturn
	report.Lines = handoverLines(handover)
	for _, process := range handover.Processes {
		state := processRunning
		switch {
		case process.EndedAt != nil:
			state = processEnded
		case process.VanishedAt != nil:
			state = processVanished
		}
		report.Processes = append(report.Processes, handoverProcess{state, process})
	}
	return report
}

// handoverLines: the table is walked from the top, so every line before the current one held when the status was
// written. Without a current line the table is done, or was not begun.
func handoverLines(handover *ucv1.HandoverStatus) []handoverLine {
	meanings := loops.Stages(handover.Protocol, handover.LeaderMigration)
	lines := make([]handoverLine, 0, len(meanings))
	state := lineOpen
	if handover.Stage != "" || handover.FinishedAt != nil {
		state = lineDone
	}
	for _, meaning := range meanings {
		line := handoverLine{meaning.Name, meaning.Means, state}
		if meaning.Name == handover.Stage {
			line.State, state = lineCurrent, lineOpen
		}
		lines = append(lines, line)
	}
	return lines
}

// text prints the report for people.
func (r *handoverReport) text(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(columns ...string) { fmt.Fprintln(w, strings.Join(columns, "\t")) }
	row("Cluster", r.Cluster)
	row("Protocol", r.protocol())
	row("Started", terminal.At(r.StartedAt))
	row("Fence opened", terminal.At(r.FenceOpenedAt))
	row("Finished", terminal.At(r.FinishedAt))
	if r.GapSeconds != nil {
		row("Gap", fmt.Sprintf("at most %d s between the last end of a KCM process and the CCM leading", *r.GapSeconds))
	}
	for _, line := range r.rollback() {
		row(line...)
	}
	if r.Condition != nil {
		row(r.Condition.Type, fmt.Sprintf("%s, %s: %s", r.Condition.Status, r.Condition.Reason, r.Condition.Message))
	}
	if len(r.Lines) > 0 {
		row("\nLINE", "STATE", "HOLDS WHEN")
	}
	for _, line := range r.Lines {
		row(line.Name, line.State, line.Means)
	}
	if len(r.Proof) > 0 {
		row("\nKCM IS SILENT", "STATE", "WHAT IS MISSING")
	}
	for _, item := range r.Proof {
		row(item.Name, string(item.State), item.Message)
	}
	if len(r.Processes) > 0 {
		row("\nKCM POD", "NODE", "PROCESS")
	}
	for _, process := range r.Processes {
		row(process.PodName, process.NodeName, process.text())
	}
	return w.Flush()
}

// rollback says whether the hand-over can be taken back, or how far that is.
func (r *handoverReport) rollback() (rows [][]string) {
	switch rollback := r.Rollback; {
	case rollback != nil && rollback.FinishedAt != nil:
		rows = append(rows, []string{"Rolled back", terminal.At(rollback.FinishedAt)})
	case rollback != nil:
		rows = append(
			rows,
			[]string{"Rollback began", terminal.At(rollback.StartedAt)},
			[]string{"KCM got its loops back", terminal.At(rollback.LoopsOnAt)},
		)
	case r.PointOfNoReturn != nil:
		text := string(r.PointOfNoReturn.State)
		if r.PointOfNoReturnAt != nil {
			text += " since " + terminal.At(r.PointOfNoReturnAt)
		}
		rows = append(rows, []string{"Point of no return", strings.TrimSpace(text + ". " +
			r.PointOfNoReturn.Reason + r.PointOfNoReturn.Next)})
	}
	return rows
}

func (r *handoverReport) protocol() string {
	if r.Protocol == "" {
		return "not chosen yet: the migration has not started"
	}
	return strings.TrimSuffix(string(r.Protocol)+": "+r.Reason, ": ")
}

func (p handoverProcess) text() string {
	switch p.State {
	case processEnded:
		return fmt.Sprintf("ended %s: %s", terminal.At(&metav1.Time{Time: p.EndedAt.Time}), p.EndedBecause)
	case processVanished:
		return fmt.Sprintf("vanished %s; its end was not seen", terminal.At(&metav1.Time{Time: p.VanishedAt.Time}))
	}
	return "may still run; its end was not seen"
}
