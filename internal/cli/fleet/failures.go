package fleet

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

const failuresHelp = `Counts the failed Clusters of a FleetMigration by reason, provider, or version, or by several of them, such
as --by reason,version. Where the reason is not among them, STARTED says how many Clusters have started that are alike.`

// The columns by which failures are counted.
const (
	byReason   = "reason"
	byProvider = "provider"
	byVersion  = "version"
)

type failuresOptions struct {
	options
	by []string
}

func failuresCommand() *cobra.Command {
	o := &failuresOptions{}
	command := &cobra.Command{
		Use: "failures NAME", Short: "Counts the failed Clusters by what they have in common.", Long: failuresHelp,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := checkBy(o.by); err != nil {
				return err
			}
			return o.print(command.Context(), command.OutOrStdout(), func(v *view) (printer, error) {
				return newFailuresReport(v, args[0], o.by)
			})
		},
	}
	o.bind(command)
	command.Flags().StringSliceVar(&o.by, "by", []string{byReason}, "Count by reason, provider, version, or several of them.")
	return command
}

func checkBy(by []string) error {
	known := []string{byReason, byProvider, byVersion}
	for i, column := range by {
		if !slices.Contains(known, column) || slices.Contains(by[:i], column) {
			return terminal.UsageError(fmt.Errorf("--by is %q; it is one or more of %s, each once", strings.Join(by, ","),
				strings.Join(known, ", ")))
		}
	}
	if len(by) == 0 {
		return terminal.UsageError(fmt.Errorf("--by is empty; it is one or more of %s", strings.Join(known, ", ")))
	}
	return nil
}

// failuresReport counts failures.
type failuresReport struct {
	FleetMigration string   `json:"fleetMigration"`
	By             []string `json:"by"`
	Failed         int      `json:"failed"`
	// Forgiven of them began before spec.failures.countSince.
	Forgiven int             `json:"forgiven"`
	Rows     []failuresGroup `json:"rows"`
}

// failuresGroup are Clusters that have the values in common.
type failuresGroup struct {
	// Values in the order of By.
	Values   []string `json:"values"`
	Failed   int      `json:"failed"`
	Forgiven int      `json:"forgiven"`
	// Started of the same values; absent where the reason is one of them.
	Started  int      `json:"started,omitempty"`
	Examples []string `json:"examples"`
}

func newFailuresReport(v *view, name string, by []string) (*failuresReport, error) {
	m, err := v.migration(name)
	if err != nil {
		return nil, err
	}
	r := &failuresReport{FleetMigration: name, By: by, Rows: []failuresGroup{}}
	groups, started := map[string]*failuresGroup{}, map[string]int{}
	for _, of := range m.members() {
		key := strings.Join(of.values(by), "\x00")
		switch of.plan.State {
		case fleet.Failed:
			r.add(groups, key, of)
		case fleet.InFlight, fleet.Succeeded, fleet.RolledBack:
		default:
			continue
		}
		started[key]++
	}
	for key, group := range groups {
		if !slices.Contains(by, byReason) {
			group.Started = started[key]
		}
		slices.Sort(group.Examples)
		group.Examples = group.Examples[:min(len(group.Examples), named)]
		r.Rows = append(r.Rows, *group)
	}
	slices.SortFunc(r.Rows, func(a, b failuresGroup) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), slices.Compare(a.Values, b.Values))
	})
	return r, nil
}

func (r *failuresReport) add(groups map[string]*failuresGroup, key string, of member) {
	if groups[key] == nil {
		groups[key] = &failuresGroup{Values: of.values(r.By)}
	}
	group := groups[key]
	group.Failed, r.Failed = group.Failed+1, r.Failed+1
	group.Examples = append(group.Examples, of.seen.String())
	if of.plan.Forgiven {
		group.Forgiven, r.Forgiven = group.Forgiven+1, r.Forgiven+1
	}
}

// values of a Cluster by which it is counted.
func (m member) values(by []string) []string {
	all := map[string]string{
		byReason: m.plan.Failed.Reason, byProvider: m.cluster.Spec.Cloud.ProviderName, byVersion: m.cluster.Spec.Version,
	}
	values := make([]string, 0, len(by))
	for _, column := range by {
		values = append(values, all[column])
	}
	return values
}

func (r *failuresReport) text(out io.Writer, s terminal.Screen) error {
	text := &strings.Builder{}
	said := wording.Count(r.Failed, "Cluster of FleetMigration "+r.FleetMigration+" has failed",
		"Clusters of FleetMigration "+r.FleetMigration+" have failed")
	if r.Forgiven > 0 {
		said += fmt.Sprintf("; %d began before spec.failures.countSince", r.Forgiven)
	}
	bullet(text, s, terminal.Plain, "", said+".")
	if len(r.Rows) == 0 {
		_, err := io.WriteString(out, text.String())
		return err
	}
	widths := r.widths()
	title := cells(s, r.By, widths, strings.ToUpper) + right("FAILED", countWidth)
	started := !slices.Contains(r.By, byReason)
	if started {
		title += right("STARTED", countWidth+3)
	}
	head(text, s, title+"  SUCH AS")
	for _, group := range r.Rows {
		line := cells(s, group.Values, widths, func(value string) string { return cmp.Or(value, "-") }) +
			right(fmt.Sprint(group.Failed), countWidth)
		if started {
			line += right(fmt.Sprint(group.Started), countWidth+3)
		}
		row(text, s, line+"  "+examples(group.Failed, group.Examples))
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// cells beside each other.
func cells(s terminal.Screen, values []string, widths []int, say func(string) string) string {
	text := strings.Builder{}
	for i, value := range values {
		text.WriteString(s.Cell(say(value), widths[i]) + "  ")
	}
	return text.String()
}

// widths of the columns: what the longest value needs, within bounds.
func (r *failuresReport) widths() []int {
	widths := make([]int, len(r.By))
	for i, column := range r.By {
		widths[i] = len(column)
		for _, group := range r.Rows {
			widths[i] = min(max(widths[i], len(group.Values[i])), reasonWidth)
		}
	}
	return widths
}
