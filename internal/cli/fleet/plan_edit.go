package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// mostChanges of one kind that are listed.
const mostChanges = 8

// editReport is what an edit changes at once.
type editReport struct {
	// Problems of the edited spec, of which no Cluster is admitted, and what stops the FleetMigration.
	Problems []string `json:"problems,omitempty"`
	Stopped  string   `json:"stopped,omitempty"`
	// FleetMigrations, Waves, States and Admissions of Clusters that differ, the most of them first.
	FleetMigrations []changeReport `json:"fleetMigrations,omitempty"`
	Waves           []changeReport `json:"waves,omitempty"`
	States          []changeReport `json:"states,omitempty"`
	Admissions      []changeReport `json:"admissions,omitempty"`
	// EndsBefore and EndsAfter are the ends that are likely; absent where there is none.
	EndsBefore *metav1.Time `json:"endsBefore,omitempty"`
	EndsAfter  *metav1.Time `json:"endsAfter,omitempty"`
}

// changeReport counts Clusters to which the same happens.
type changeReport struct {
	From string `json:"from"`
	To   string `json:"to"`
	ucv1.NamedCount
}

func newEditReport(before, after *view, name string, ends time.Time) *editReport {
	r := &editReport{EndsBefore: timeOf(before.ends(name)), EndsAfter: timeOf(ends)}
	if m, err := after.migration(name); err == nil {
		r.Problems, r.Stopped = m.plan.Problems, m.plan.Stopped
	}
	r.FleetMigrations = differ(before, after, member.fleetMigration)
	r.Waves = differ(before, after, member.wave)
	r.States = differ(before, after, func(m member) string { return cmp.Or(string(m.plan.State), "Outside") })
	r.Admissions = differ(before, after, member.admission)
	return r
}

func (m member) fleetMigration() string {
	if m.plan.Migration < 0 {
		return ""
	}
	return m.view.plan.Migrations[m.plan.Migration].Name
}

// admission is what the next pass does with a Cluster.
func (m member) admission() string {
	switch {
	case m.plan.Admit:
		return "starts now"
	case m.waits():
		return "waits"
	}
	return string(m.plan.Directive)
}

// differ counts the Clusters that are something else after an edit. Their places are the same in both views.
func differ(before, after *view, is func(member) string) []changeReport {
	found := map[[2]string][]string{}
	for i := range before.clusters {
		was, becomes := is(before.memberAt(i)), is(after.memberAt(i))
		if was != becomes {
			key := [2]string{cmp.Or(was, "none"), cmp.Or(becomes, "none")}
			found[key] = append(found[key], before.fleet.Members[i].String())
		}
	}
	var changes []changeReport
	for key, names := range found {
		slices.Sort(names)
		changes = append(changes, changeReport{key[0], key[1], ucv1.NamedCount{
			Count: int32(len(names)), Examples: names[:min(len(names), named)],
		}})
	}
	slices.SortFunc(changes, func(a, b changeReport) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return changes
}

func (r *editReport) text(text *strings.Builder, s terminal.Screen) {
	row(text, s, s.Paint(terminal.Bold, "What the edit changes at once"))
	for _, problem := range r.Problems {
		bullet(text, s, terminal.Bad, "  "+s.Sign("✗", "!")+" ", "Cannot be followed, no Cluster is admitted: "+problem+".")
	}
	if r.Stopped != "" && len(r.Problems) == 0 {
		bullet(text, s, terminal.Warn, "  "+s.Sign("•", "*")+" ", "It admits no Cluster: "+r.Stopped+".")
	}
	changed := false
	for _, of := range []struct {
		what    string
		changes []changeReport
	}{{"FleetMigration", r.FleetMigrations}, {"Wave", r.Waves}, {"State", r.States}, {"Admission", r.Admissions}} {
		changed = changed || len(of.changes) > 0
		for i, c := range of.changes {
			if i == mostChanges {
				row(text, s, fmt.Sprintf("  %d more changes of %s", len(of.changes)-mostChanges, of.what))
				break
			}
			bullet(text, s, terminal.Plain, "  "+s.Sign("•", "*")+" ", fmt.Sprintf("%s %s %s %s: %d (%s)", of.what, c.From,
				s.Sign("→", "->"), c.To, c.Count, examples(int(c.Count), c.Examples)))
		}
	}
	if !changed {
		bullet(text, s, terminal.Plain, "  "+s.Sign("•", "*")+" ", "No Cluster has another wave, state or admission.")
	}
	bullet(text, s, terminal.Plain, "  "+s.Sign("•", "*")+" ", fmt.Sprintf("End: %s %s %s.", end(r.EndsBefore), s.Sign("→", "->"),
		end(r.EndsAfter)))
}

func end(at *metav1.Time) string {
	if at == nil {
		return "none"
	}
	return when(at.Time)
}
