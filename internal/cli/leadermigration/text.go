package leadermigration

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

func writeChecked(out io.Writer, violations []leadermigration.Violation) error {
	if err := writeViolations(out, violations); err != nil {
		return err
	}
	errs, warnings := count(violations)
	_, err := fmt.Fprintf(out, "%s, %s\n", wording.Count(errs, "error", "errors"), wording.Count(warnings, "warning", "warnings"))
	return err
}

func writeViolations(out io.Writer, violations []leadermigration.Violation) error {
	var text bytes.Buffer
	for _, v := range violations {
		fmt.Fprintf(&text, "%s: %s\n", v.Severity, v.Rule)
		if v.Lock != "" {
			fmt.Fprintf(&text, "  lock:     %s\n", v.Lock)
		}
		if len(v.Loops) > 0 {
			names := make([]string, 0, len(v.Loops))
			for _, loop := range v.Loops {
				names = append(names, string(loop))
			}
			fmt.Fprintf(&text, "  loops:    %s\n", strings.Join(names, ", "))
		}
		fmt.Fprintf(&text, "  releases: %s\n  what:     %s\n  do:       %s\n", strings.Join(v.Releases, ", "), v.Message, v.Fix)
	}
	_, err := text.WriteTo(out)
	return err
}

func writeExplanation(out io.Writer, plan leadermigration.Plan, e leadermigration.Explanation) error {
	var text bytes.Buffer
	fmt.Fprintf(&text, "From KCM %s to CCM %s, provider %s\n", plan.From, plan.To, plan.Provider)
	if err := writeViolations(&text, e.Violations); err != nil {
		return err
	}
	if len(e.Steps) > 0 {
		text.WriteString("\nSteps\n")
	}
	for i, step := range e.Steps {
		fmt.Fprintf(&text, "%2d. %s\n", i+1, step)
	}
	if p := e.Provider; p != nil {
		fmt.Fprintf(&text, "\nProvider %s\n  - KCM 1.%d is the last that knows it (%s).\n  - %s (%s).\n",
			p.Name, p.LastInTreeMinor, p.LastInTreeSource, wording.Capital(p.Reason), p.Source)
	}
	text.WriteString("\nWhy the file is written as it is\n")
	for _, reason := range e.Why {
		fmt.Fprintf(&text, "  - %s\n", reason)
	}
	fmt.Fprintf(&text, "\nFlags, feature gates and controllers' names\n")
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "  COMPONENT\tWHAT\t%s\t%s\n", plan.From, plan.To)
	for _, fact := range e.Flags {
		_, _ = fmt.Fprintf(table, "  %s\t%s %s\t%s\t%s\n", fact.Component, fact.Kind, fact.Name, fact.From, fact.To)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write the table of flags: %w", err)
	}
	text.WriteString("\nWhat later releases reject\n")
	for _, later := range e.Later {
		fmt.Fprintf(&text, "  - %s\n", later)
	}
	_, err := text.WriteTo(out)
	return err
}
