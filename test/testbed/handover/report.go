package handover

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// verdict is a line for the screen.
func verdict(outcome Outcome) string {
	line := fmt.Sprintf("%s: %s, gap %s", outcome.Row.Scenario, outcome.Row.Result, gapOf(outcome.Row))
	if len(outcome.Unmet) > 0 {
		line += " - NOT AS EXPECTED: " + strings.Join(outcome.Unmet, "; ")
	}
	return line
}

func gapOf(row Row) string {
	if row.GapSeconds == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f s", *row.GapSeconds)
}

// WriteReport writes report.json.
func WriteReport(path string, outcomes []Outcome) error {
	rows := make([]Row, 0, len(outcomes))
	for _, outcome := range outcomes {
		rows = append(rows, outcome.Row)
	}
	content, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(content, '\n'), 0o644)
}

func headings() []string {
	return []string{"scenario", "protocol", "topology", "KCM", "lease", "result", "gap", "overlaps", "load balancers kept", "recreated", "Nodes deleted"}
}

func cells(row Row) []string {
	overlaps := fmt.Sprint(row.Overlaps)
	if row.CausedOverlapSeconds != nil {
		overlaps += fmt.Sprintf(" (a person's: %.1f s)", *row.CausedOverlapSeconds)
	}
	protocol := row.Protocol
	if protocol == "" {
		protocol = "-"
	}
	return []string{
		row.Scenario, protocol, row.Topology, fmt.Sprint(row.KCMReplicas), fmt.Sprintf("%g s", row.LeaseDurationSeconds), string(row.Result),
		gapOf(row), overlaps, fmt.Sprint(row.LoadBalancersKept), fmt.Sprint(row.LoadBalancersRecreated), fmt.Sprint(row.NodesDeleted),
	}
}

// Table prints the rows for people.
func Table(out io.Writer, outcomes []Outcome) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, strings.ToUpper(strings.Join(headings(), "\t")))
	for _, outcome := range outcomes {
		_, _ = fmt.Fprintln(w, strings.Join(cells(outcome.Row), "\t"))
	}
	return w.Flush()
}

// The marks of the generated part of a document.
const (
	measuredBegin = "<!-- measured: make handover -->"
	measuredEnd   = "<!-- /measured -->"
)

// WriteMeasured replaces what is between the marks of a document by the table.
func WriteMeasured(path string, outcomes []Outcome, intro string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, began := strings.Cut(string(content), measuredBegin)
	_, after, ended := strings.Cut(rest, measuredEnd)
	if !began || !ended {
		return fmt.Errorf("%s has no lines %s and %s", path, measuredBegin, measuredEnd)
	}
	var table strings.Builder
	table.WriteString(before + measuredBegin + "\n" + intro + "\n\n")
	line := func(cells []string) { table.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(headings())
	table.WriteString(strings.Repeat("|---", len(headings())) + "|\n")
	for _, outcome := range outcomes {
		line(cells(outcome.Row))
	}
	table.WriteString(measuredEnd + after)
	return os.WriteFile(path, []byte(table.String()), 0o644)
}
