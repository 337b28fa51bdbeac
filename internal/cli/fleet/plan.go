package fleet

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

const planHelp = `Says how many Clusters of a FleetMigration start on which day, when its waves pass and when it ends if all goes
as it did so far, and what that rests on. In mode PlanOnly it says what Run would do.

With -f it takes the spec from a file, and says what that changes at once: the Clusters whose FleetMigration, wave, state or
admission differ. The FleetMigration need not exist then. The API server checks more than this command does: ask it
with 'kubectl apply --dry-run=server -f FILE'.`

type planOptions struct {
	options
	file string
}

func planCommand() *cobra.Command {
	o := &planOptions{}
	command := &cobra.Command{
		Use: "plan NAME", Short: "Says what starts on which day, and what an edit would change.", Long: planHelp,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			edited, err := o.edited(command.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			return o.print(command.Context(), command.OutOrStdout(), func(v *view) (printer, error) {
				return newPlanReport(v, args[0], edited)
			})
		},
	}
	o.bind(command)
	command.Flags().StringVarP(&o.file, "filename", "f", "",
		"A file with the edited FleetMigration, in YAML or JSON; - is standard input.")
	return command
}

// edited is nil where there is no file.
func (o *planOptions) edited(in io.Reader, name string) (*ucv1.FleetMigration, error) {
	var data []byte
	var err error
	switch o.file {
	case "":
		return nil, nil
	case "-":
		data, err = io.ReadAll(in)
	default:
		data, err = os.ReadFile(o.file)
	}
	if err != nil {
		return nil, fmt.Errorf("read the edited FleetMigration %s: %w", name, err)
	}
	return parseEdited(data, o.file, name)
}

func parseEdited(data []byte, file, name string) (*ucv1.FleetMigration, error) {
	fm := &ucv1.FleetMigration{}
	if err := yaml.UnmarshalStrict(data, fm); err != nil {
		return nil, fmt.Errorf("file %s is no FleetMigration; 'kubectl get fleetmigration %s -o yaml' prints one: %w", file, name, err)
	}
	if fm.Kind != "FleetMigration" || fm.Name != name {
		return nil, fmt.Errorf("file %s has %s %q and not FleetMigration %q; name the one that the file has", file, fm.Kind, fm.Name,
			name)
	}
	return fm, nil
}

// planReport is what starts on which day.
type planReport struct {
	FleetMigration string          `json:"fleetMigration"`
	TimeZone       string          `json:"timeZone"`
	Days           []dayReport     `json:"days"`
	Forecast       *forecastReport `json:"forecast"`
	Edit           *editReport     `json:"edit,omitempty"`
}

// dayReport is one day.
type dayReport struct {
	Date     string      `json:"date"`
	Clusters int         `json:"clusters"`
	Nodes    int64       `json:"nodes"`
	First    metav1.Time `json:"first"`
	Last     metav1.Time `json:"last"`
}

func newPlanReport(v *view, name string, edited *ucv1.FleetMigration) (*planReport, error) {
	before := v
	if edited != nil {
		v = v.with(edited)
	}
	m, err := v.migration(name)
	if err != nil {
		return nil, err
	}
	zone := zoneOf(m.object)
	made := v.forecast(name)
	r := &planReport{FleetMigration: name, TimeZone: zone.String(), Days: []dayReport{}, Forecast: newForecastReport(made)}
	for _, day := range made.Days(zone) {
		r.Days = append(r.Days, dayReport{
			Date: day.Date.Format("Mon 2006-01-02"), Clusters: day.Starts, Nodes: day.Nodes, First: metav1.NewTime(day.First.UTC()),
			Last: metav1.NewTime(day.Last.UTC()),
		})
	}
	if edited != nil {
		r.Edit = newEditReport(before, v, name, made.EndsAt)
	}
	return r, nil
}

// with an edited FleetMigration. One that is not there yet has no status.
func (v *view) with(edited *ucv1.FleetMigration) *view {
	s := v.seen
	own := edited.DeepCopy()
	own.Status, own.UID, own.CreationTimestamp = ucv1.FleetMigrationStatus{}, types.UID("new-"+own.Name), metav1.NewTime(v.at)
	s.migrations = nil
	for _, fm := range v.migrations {
		if fm.Name != edited.Name {
			s.migrations = append(s.migrations, fm)
			continue
		}
		own = fm.DeepCopy()
		own.Spec, own.Generation = edited.DeepCopy().Spec, fm.Generation+1
	}
	s.migrations = append(s.migrations, own)
	return newView(s, v.canMigrate)
}

// zoneOf the windows, where they share one.
func zoneOf(fm *ucv1.FleetMigration) *time.Location {
	name := ""
	for _, w := range fm.Spec.Maintenance.Windows {
		if name != "" && name != w.TimeZone {
			return time.UTC
		}
		name = w.TimeZone
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// mostDays are listed.
const mostDays = 31

func (r *planReport) text(out io.Writer, s terminal.Screen) error {
	text := &strings.Builder{}
	if r.Edit != nil {
		r.Edit.text(text, s)
		text.WriteString("\n")
	}
	row(text, s, fmt.Sprintf("%s: starts by day (%s)", r.FleetMigration, r.TimeZone))
	r.days(text, s)
	r.Forecast.text(text, s)
	_, err := io.WriteString(out, text.String())
	return err
}

func (r *planReport) days(text *strings.Builder, s terminal.Screen) {
	if len(r.Days) == 0 {
		text.WriteString("\n  No Cluster starts.\n")
		return
	}
	largest := 0
	for _, day := range r.Days {
		largest = max(largest, day.Clusters)
	}
	zone, err := time.LoadLocation(r.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	head(text, s, "  "+s.Cell("DAY", 14)+right("CLUSTERS", 10)+right("NODES", 8)+"  "+s.Cell("", 2*barWidth)+"  FIRST, LAST")
	for i, day := range r.Days {
		if i == mostDays {
			row(text, s, fmt.Sprintf("  %d more days, until %s", len(r.Days)-mostDays, r.Days[len(r.Days)-1].Date))
			break
		}
		row(text, s, "  "+s.Cell(day.Date, 14)+right(fmt.Sprint(day.Clusters), 10)+right(fmt.Sprint(day.Nodes), 8)+"  "+
			s.Bar(float64(day.Clusters)/float64(largest), 2*barWidth)+"  "+day.First.In(zone).Format("15:04")+", "+
			day.Last.In(zone).Format("15:04"))
	}
}
