package handover

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

// verdict is a line for the screen.
func verdict(outcome Outcome) string {
	line := fmt.Sprintf("%s: %s, gap %s", outcome.Row.Scenario, outcome.Row.Result, seconds(outcome.Row.GapSeconds))
	if len(outcome.Unmet) > 0 {
		line += " - NOT AS EXPECTED: " + strings.Join(outcome.Unmet, "; ")
	}
	return line
}

func seconds(value *float64) string {
	if value == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f s", *value)
}

// Conditions are run.json: under which the report beside it was measured.
type Conditions struct {
	Command string `json:"command"`
	// Commit that was measured; "changed" follows where something was not committed.
	Commit     string    `json:"commit"`
	Started    time.Time `json:"started"`
	Seconds    float64   `json:"seconds"`
	Processors int       `json:"processors"`
	Beside     int       `json:"beside"`
	Seed       uint64    `json:"seed"`
	// Random says that the hand-overs were disturbed at random.
	Random bool `json:"random"`
}

// The files of a run.
const (
	reportFile     = "report.json"
	conditionsFile = "run.json"
)

// WriteReport writes report.json and run.json.
func WriteReport(dir string, outcomes []Outcome, conditions Conditions) error {
	rows := make([]Row, 0, len(outcomes))
	for _, outcome := range outcomes {
		row := outcome.Row
		row.Unmet = outcome.Unmet
		rows = append(rows, row)
	}
	for file, value := range map[string]any{reportFile: rows, conditionsFile: conditions} {
		content, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, file), append(content, '\n'), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// ReadReport reads both files.
func ReadReport(dir string) (rows []Row, conditions Conditions, err error) {
	for file, value := range map[string]any{reportFile: &rows, conditionsFile: &conditions} {
		content, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, Conditions{}, err
		}
		if err := json.Unmarshal(content, value); err != nil {
			return nil, Conditions{}, fmt.Errorf("%s: %w", file, err)
		}
	}
	return rows, conditions, nil
}

func headings() []string {
	return []string{
		"scenario",
		"protocol",
		"topology",
		"KCM",
		"lease",
		"result",
		"gap",
		"at most",
		"other gap",
		"overlaps",
		"load balancers kept",
		"recreated",
		"Nodes deleted",
	}
}

func cells(row Row) []string {
	overlaps := fmt.Sprint(row.Overlaps)
	if row.CausedOverlapSeconds != nil {
		overlaps += fmt.Sprintf(" (a person's: %.1f s)", *row.CausedOverlapSeconds)
	}
	protocol, bar := row.Protocol, "-"
	if protocol == "" {
		protocol = "-"
	}
	if row.GapBarSeconds > 0 {
		bar = seconds(&row.GapBarSeconds)
	}
	return []string{
		row.Scenario,
		protocol,
		row.Topology,
		fmt.Sprint(row.KCMReplicas),
		fmt.Sprintf("%g s", row.LeaseDurationSeconds),
		string(row.Result),
		seconds(row.GapSeconds),
		bar,
		seconds(row.OtherGapSeconds),
		overlaps,
		fmt.Sprint(row.LoadBalancersKept),
		fmt.Sprint(row.LoadBalancersRecreated),
		fmt.Sprint(row.NodesDeleted),
	}
}

// Table prints the rows for people.
func Table(out io.Writer, outcomes []Outcome) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, strings.ToUpper(strings.Join(headings(), "\t")))
	for _, outcome := range outcomes {
		mark := ""
		if len(outcome.Unmet) > 0 {
			mark = "\tNOT AS EXPECTED"
		}
		_, _ = fmt.Fprintln(w, strings.Join(cells(outcome.Row), "\t")+mark)
	}
	return w.Flush()
}
