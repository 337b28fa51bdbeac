package hazards

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Report is report.json: a run with all that it saw.
type Report struct {
	Command    string    `json:"command"`
	Started    time.Time `json:"started"`
	Seconds    float64   `json:"seconds"`
	Processors int       `json:"processors"`
	Beside     int       `json:"beside"`
	Rows       []Row     `json:"rows"`
}

const reportFile = "report.json"

// Write the report into a folder.
func (r Report) Write(dir string) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, reportFile), append(content, '\n'), 0o644)
}

// ReadReport reads it again.
func ReadReport(dir string) (Report, error) {
	report := Report{}
	content, err := os.ReadFile(filepath.Join(dir, reportFile))
	if err != nil {
		return report, err
	}
	if err := json.Unmarshal(content, &report); err != nil {
		return report, fmt.Errorf("%s: %w", filepath.Join(dir, reportFile), err)
	}
	return report, nil
}

// WriteDocument writes what runs saw, a hazard as it was the last time. Each folder has the report of a run.
func WriteDocument(path string, dirs ...string) error {
	var reports []Report
	for _, dir := range dirs {
		report, err := ReadReport(dir)
		if err != nil {
			return err
		}
		reports = append(reports, report)
	}
	return os.WriteFile(path, []byte(Document(reports)), 0o644)
}

const introduction = `<!-- Written by make hazards ARGS="--document docs/hazards-measured.md". -->

# Hazards, made on purpose

What ` + "`make hazards`" + ` saw, on real etcd, kube-apiserver, KCM and CCM with a simulated cloud: each
[finding](preflight.md) below stood in the status before anything was touched, and when it was
accepted, what happened is what it had said.

* *said*: the finding's own words, from ` + "`status.preflight`" + `.
* *happened*: what was seen when the migration went on although it stood. A run in which something else happens fails.
* When everything was found and nothing was accepted yet, the audit log of the user cluster's API server had no request of the
  controller that writes (dry runs and questions about rights left out), KCM's Deployment was as before, and the migration had not
  started. Where no hazard of a cluster blocks, ` + "`spec.mode: PlanOnly`" + ` kept it back.
* Hazards with the same cluster were all found at once.

`

// Document is the whole page.
func Document(reports []Report) string {
	var rows []Row
	var text strings.Builder
	text.WriteString(introduction)
	for i, report := range reports {
		then := "`%s`"
		if i > 0 {
			then = "Then `%s`"
		}
		fmt.Fprintf(
			&text,
			then+" on %s, with %d processors and %d user clusters at once: %d hazards in %.0f minutes; %d not as "+
				"expected.\n",
			report.Command,
			report.Started.UTC().Format("2006-01-02"),
			report.Processors,
			report.Beside,
			len(report.Rows),
			report.Seconds/60,
			len(Unmet(report.Rows)),
		)
		rows = replaced(rows, report.Rows)
	}
	text.WriteString("\n| Hazard | Finding | Severity | It said | What happened | Cluster |\n|---|---|---|---|---|---|\n")
	for _, row := range rows {
		fmt.Fprintf(&text, "| %s. | [%s](runbooks/%s.md) | %s | %s | %s | %s |\n",
			cell(row.Hazard), row.ID, row.ID, row.severity(), cell(row.Said), cell(row.outcome()), row.Cluster)
	}
	return text.String()
}

// replaced has the later rows in the place of the earlier ones.
func replaced(rows, later []Row) []Row {
	for _, row := range later {
		at := slices.IndexFunc(rows, func(earlier Row) bool { return earlier.ID == row.ID && earlier.Cluster == row.Cluster })
		if at >= 0 {
			rows[at] = row
		} else {
			rows = append(rows, row)
		}
	}
	return rows
}

func (r Row) severity() string {
	switch {
	case r.Refused:
		return r.Severity + ", cannot be accepted"
	case r.NotLookedAt:
		return r.Severity + ", not looked at"
	}
	return r.Severity
}

func (r Row) outcome() string {
	if r.Unmet != "" {
		return "**Not as expected**: " + r.Unmet
	}
	return r.Happened
}

// cell is text that does not end a cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), "|", `\|`)
}
