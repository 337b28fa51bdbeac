package fleet

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet/forecast"
)

const whyHelp = `Says which FleetMigration and wave a Cluster is in, its state and position, and everything that keeps it from
starting: who ends it, and when at the earliest. Also of a Cluster that no FleetMigration selects.`

func whyCommand() *cobra.Command {
	o := &options{}
	command := &cobra.Command{
		Use: "why [NAMESPACE/]NAME", Short: "Says all that keeps a Cluster from starting, who ends it, and when.", Long: whyHelp,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			name := o.Named(args[0])
			namespace, err := o.ResolveNamespace()
			if err != nil {
				return err
			}
			return o.print(command.Context(), command.OutOrStdout(), func(v *view) (printer, error) {
				return newWhyReport(v, namespace, name)
			})
		},
	}
	o.bind(command)
	return command
}

// whyReport is what a Cluster waits for.
type whyReport struct {
	Cluster        string `json:"cluster"`
	FleetMigration string `json:"fleetMigration,omitempty"`
	Wave           string `json:"wave,omitempty"`
	State          string `json:"state"`
	// Position among Waiting that wait in the FleetMigration, from 1.
	Position int `json:"position,omitempty"`
	Waiting  int `json:"waiting,omitempty"`
	// Says what the state comes to, in a sentence.
	Says      string           `json:"says,omitempty"`
	Obstacles []obstacleReport `json:"obstacles"`
	// before is the first wave that has not passed.
	before string
	// ForecastStart is when it starts if all goes as it did so far.
	ForecastStart *metav1.Time `json:"forecastStart,omitempty"`
	Forecast      string       `json:"forecast,omitempty"`
}

// obstacleReport is one thing that keeps a Cluster from starting.
type obstacleReport struct {
	Reason  string `json:"reason"`
	Of      string `json:"of,omitempty"`
	Message string `json:"message"`
	EndedBy who    `json:"endedBy"`
	// Earliest is when it ends at the earliest; absent where that is not known.
	Earliest *metav1.Time `json:"earliest,omitempty"`
}

func newWhyReport(v *view, namespace, name string) (*whyReport, error) {
	m, err := v.member(namespace, name)
	if err != nil {
		return nil, err
	}
	r := &whyReport{Cluster: m.seen.String(), State: string(m.plan.State), Obstacles: []obstacleReport{}, Wave: m.wave()}
	if m.plan.State == fleet.Outside {
		r.State = "Outside"
	}
	r.Says = m.says()
	if m.plan.Migration < 0 {
		r.outside(m)
		return r, nil
	}
	of := v.migrationAt(m.plan.Migration)
	r.FleetMigration, r.Position, r.before = of.plan.Name, m.plan.Position, of.plan.Status.Wave
	for _, other := range of.members() {
		if other.plan.Position > 0 {
			r.Waiting++
		}
	}
	if m.waits() {
		r.foresee(m, v.forecast(of.plan.Name))
	}
	return r, nil
}

// foresee when the obstacles end, and when the Cluster starts.
func (r *whyReport) foresee(m member, made forecast.Forecast) {
	for _, o := range m.plan.Obstacles {
		r.add(o)
		last := &r.Obstacles[len(r.Obstacles)-1]
		if last.Earliest == nil && last.EndedBy == others {
			last.Earliest = timeOf(freed(made, o))
		}
	}
	start, starts := made.StartOf(m.seen.Namespace, m.seen.Name)
	switch {
	case starts:
		r.ForecastStart, r.Forecast = timeOf(start.At), "In the forecast it starts at "+when(start.At)+"."
	case made.EndsAt.IsZero():
		r.Forecast = "In the forecast it never starts: " + waitsFor(made) + "."
	default:
		r.Forecast = "In the forecast it never starts."
	}
}

// add an obstacle.
func (r *whyReport) add(o fleet.Obstacle) {
	means := meaningOf(o.Reason)
	r.Obstacles = append(r.Obstacles, obstacleReport{
		Reason: o.Reason, Of: o.Of, EndedBy: means.endedBy, Earliest: timeOf(o.Until),
		Message: means.sentence(o, names{r.Cluster, r.FleetMigration, r.Wave, r.before}),
	})
}

func (r *whyReport) text(out io.Writer, s terminal.Screen) error {
	text := &strings.Builder{}
	bullet(text, s, terminal.Bold, "", r.Cluster)
	facts := r.State
	if r.FleetMigration != "" {
		facts += " in FleetMigration " + r.FleetMigration
	}
	if r.Wave != "" {
		facts += ", wave " + r.Wave
	}
	if r.Position > 0 {
		facts += fmt.Sprintf(", position %d of %d that wait", r.Position, r.Waiting)
	}
	bullet(text, s, terminal.Plain, "", strings.Join([]string{facts + ".", r.Says}, " "))
	for i := range r.Obstacles {
		r.Obstacles[i].text(text, s, i+1)
	}
	if r.Forecast != "" {
		text.WriteString("\n")
		bullet(text, s, terminal.Plain, "", r.Forecast)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func (o *obstacleReport) text(text *strings.Builder, s terminal.Screen, at int) {
	tone := terminal.Busy
	if o.EndedBy.acts() {
		tone = terminal.Warn
	}
	fmt.Fprintf(text, "\n%s\n", s.Paint(tone, fmt.Sprintf("%d. %s", at, o.Reason)))
	bullet(text, s, terminal.Plain, "   ", o.Message)
	earliest := "not known"
	switch {
	case o.Earliest != nil:
		earliest = when(o.Earliest.Time)
	case o.EndedBy.acts():
		earliest = "as soon as that is done"
	}
	bullet(text, s, terminal.Plain, "   ", "Who ends it: "+o.EndedBy.words()+".")
	bullet(text, s, terminal.Plain, "   ", "At the earliest: "+earliest+".")
}
