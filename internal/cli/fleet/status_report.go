package fleet

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet/forecast"
)

// statusReport is what fleet status prints.
type statusReport struct {
	At              metav1.Time       `json:"at"`
	FleetMigrations []migrationReport `json:"fleetMigrations"`
	// Tasks about Clusters that no FleetMigration has any more.
	Tasks []task `json:"tasks,omitempty"`
}

// migrationReport is one FleetMigration. The parts from Queue on are there where it was asked for by name.
type migrationReport struct {
	Name     string              `json:"name"`
	Mode     ucv1.FleetMode      `json:"mode"`
	Reason   string              `json:"reason"`
	Message  string              `json:"message"`
	Clusters ucv1.FleetCount     `json:"clusters"`
	Nodes    ucv1.FleetNodeCount `json:"nodes"`
	Waves    []waveReport        `json:"waves"`
	Tasks    []task              `json:"tasks,omitempty"`

	OutOfScope []ucv1.ReasonCount  `json:"outOfScope,omitempty"`
	Queue      []ucv1.ReasonCount  `json:"queue,omitempty"`
	Budgets    []ucv1.BudgetStatus `json:"budgets,omitempty"`
	Windows    []windowReport      `json:"windows,omitempty"`
	Exclusions []exclusionReport   `json:"exclusions,omitempty"`
	Forecast   *forecastReport     `json:"forecast,omitempty"`
}

// waveReport is one wave.
type waveReport struct {
	Name       string          `json:"name"`
	State      ucv1.WaveState  `json:"state"`
	WaitsFor   string          `json:"waitsFor,omitempty"`
	Clusters   ucv1.FleetCount `json:"clusters"`
	OpenedAt   *metav1.Time    `json:"openedAt,omitempty"`
	PassedAt   *metav1.Time    `json:"passedAt,omitempty"`
	SoaksUntil *metav1.Time    `json:"soaksUntil,omitempty"`
}

// forecastReport is what becomes of a FleetMigration.
type forecastReport struct {
	// Likely, Earliest and Latest end; absent where it never ends, and WaitsFor says why.
	Likely      *metav1.Time         `json:"likely,omitempty"`
	Earliest    *metav1.Time         `json:"earliest,omitempty"`
	Latest      *metav1.Time         `json:"latest,omitempty"`
	WaitsFor    string               `json:"waitsFor,omitempty"`
	Waves       []waveForecastReport `json:"waves"`
	Clusters    ucv1.FleetCount      `json:"clusters"`
	Assumptions []string             `json:"assumptions"`

	from time.Time
}

// waveForecastReport is what becomes of a wave; a time that is absent does not come.
type waveForecastReport struct {
	Name     string       `json:"name"`
	OpensAt  *metav1.Time `json:"opensAt,omitempty"`
	PassesAt *metav1.Time `json:"passesAt,omitempty"`
}

func newStatusReport(v *view, name string) (*statusReport, error) {
	r := &statusReport{At: metav1.NewTime(v.at.UTC()), FleetMigrations: []migrationReport{}}
	if name != "" {
		m, err := v.migration(name)
		if err != nil {
			return nil, err
		}
		r.FleetMigrations = append(r.FleetMigrations, newDetails(m))
		return r, nil
	}
	for at := range v.plan.Migrations {
		r.FleetMigrations = append(r.FleetMigrations, newMigrationReport(v.migrationAt(at)))
	}
	r.Tasks = v.tasksOfUnclaimed("")
	return r, nil
}

// newMigrationReport is the short one.
func newMigrationReport(m migration) migrationReport {
	r := migrationReport{
		Name: m.plan.Name, Mode: m.object.Spec.Mode, Clusters: m.plan.Clusters, Nodes: m.plan.Nodes, Waves: []waveReport{},
		Tasks: m.tasks(),
	}
	if ready := meta.FindStatusCondition(m.plan.Status.Conditions, ucv1.ReadyCondition); ready != nil {
		r.Reason, r.Message = ready.Reason, ready.Message
	}
	for at := range m.plan.Waves {
		w := &m.plan.Waves[at]
		r.Waves = append(r.Waves, waveReport{
			Name: w.Name, State: w.State, WaitsFor: m.waitsFor(at), Clusters: w.Clusters, OpenedAt: timeOf(w.OpenedAt),
			PassedAt: timeOf(w.PassedAt), SoaksUntil: soaksUntil(w),
		})
	}
	return r
}

func soaksUntil(w *fleet.WavePlan) *metav1.Time {
	if w.State != ucv1.WaveSoaking {
		return nil
	}
	return timeOf(w.SoaksUntil)
}

// newDetails also looks ahead.
func newDetails(m migration) migrationReport {
	r := newDetailsOfNow(m)
	r.Forecast = newForecastReport(m.forecast(m.plan.Name))
	return r
}

func newDetailsOfNow(m migration) migrationReport {
	r := newMigrationReport(m)
	status := m.plan.Status
	r.OutOfScope, r.Queue, r.Budgets = status.OutOfScope, status.Queue, status.Budgets
	r.Windows, r.Exclusions = windowsOf(m.object, m.at)
	return r
}

// waitsFor is why a wave is not further: for one that is open, what most of its Clusters wait for.
func (m migration) waitsFor(wave int) string {
	w := &m.plan.Waves[wave]
	if w.WaitsFor != "" || w.State != ucv1.WaveOpen {
		return w.WaitsFor
	}
	counts := map[string]int{}
	for _, of := range m.members() {
		if of.plan.Wave == wave && of.plan.Position > 0 && len(of.plan.Obstacles) > 0 {
			counts[of.plan.Obstacles[0].Reason]++
		}
	}
	return most(counts)
}

// most is the name that counts most, and of several the first.
func most(counts map[string]int) string {
	first := ""
	for name, count := range counts {
		if by := cmp.Or(cmp.Compare(count, counts[first]), cmp.Compare(first, name)); first == "" || by > 0 {
			first = name
		}
	}
	return first
}

func newForecastReport(f forecast.Forecast) *forecastReport {
	r := &forecastReport{
		Likely: timeOf(f.EndsAt), Earliest: timeOf(f.Earliest), Latest: timeOf(f.Latest), Clusters: f.Clusters,
		Assumptions: slices.Clone(f.Assumptions), Waves: []waveForecastReport{}, from: f.From,
	}
	if f.EndsAt.IsZero() {
		r.WaitsFor = waitsFor(f)
	}
	for _, w := range f.Waves {
		r.Waves = append(r.Waves, waveForecastReport{Name: w.Name, OpensAt: timeOf(w.OpensAt), PassesAt: timeOf(w.PassesAt)})
	}
	return r
}
