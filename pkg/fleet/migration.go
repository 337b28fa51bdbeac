package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet/window"
)

// Migration is a FleetMigration that is compiled once a generation.
type Migration struct {
	object *ucv1.FleetMigration
	rules  selection
	waves  []selection
	// windows select Clusters in the order of the calendar's.
	windows  []selection
	calendar window.Calendar
	// problems of the spec: one that has any admits no Cluster.
	problems []string
	// unreadable says that whom it selects is not known.
	unreadable bool
}

// selection selects Clusters; the zero value selects none.
type selection struct{ clusters, namespaces labels.Selector }

// Compile a FleetMigration, which is not changed afterwards. One that cannot be followed has problems and admits no Cluster.
func Compile(fm *ucv1.FleetMigration) Migration {
	m := Migration{object: fm}
	note := func(what string, err error) {
		if err != nil {
			m.problems = append(m.problems, fmt.Sprintf("%s: %v", what, err))
		}
	}
	var err error
	m.rules.clusters, err = selector(fm.Spec.ClusterSelector)
	note("spec.clusterSelector", err)
	m.rules.namespaces = labels.Everything()
	if fm.Spec.NamespaceSelector != nil {
		m.rules.namespaces, err = selector(fm.Spec.NamespaceSelector)
		note("spec.namespaceSelector", err)
	}
	m.unreadable = len(m.problems) > 0
	for _, wave := range fm.Spec.Waves {
		s, err := selector(wave.ClusterSelector)
		note("spec.waves "+wave.Name, err)
		m.waves = append(m.waves, selection{s, labels.Everything()})
		for name, limit := range map[string]limit{
			"maxConcurrency": {wave.MaxConcurrency}, "maxFailures": {wave.MaxFailures}, "minSuccesses": {wave.MinSuccesses},
			"maxInconclusive": {wave.MaxInconclusive},
		} {
			note("spec.waves "+wave.Name+" "+name, limit.check())
		}
	}
	if len(fm.Spec.Waves) == 0 {
		note("spec.waves", fmt.Errorf("at least one wave is needed"))
	}
	m.compileWindows(note)
	m.problems = append(m.problems, budgetProblems(fm.Spec)...)
	m.problems = append(m.problems, orderProblems(fm)...)
	slices.Sort(m.problems)
	return m
}

// Released says that a person lets a FleetMigration go that is being deleted, whatever Clusters wait in it.
func Released(fm *ucv1.FleetMigration) bool {
	return fm.DeletionTimestamp != nil && fm.Annotations[ucv1.FleetReleaseAnnotation] == "true"
}

// Refuse says why a FleetMigration cannot be followed although its spec can: it admits no Cluster.
func (m *Migration) Refuse(problem string) { m.problems = append(m.problems, problem) }

func (m *Migration) compileWindows(note func(string, error)) {
	var err error
	m.calendar, err = window.NewCalendar(m.object.Spec.Maintenance)
	note("spec.maintenance", err)
	if err != nil {
		return
	}
	for _, w := range m.object.Spec.Maintenance.Windows {
		clusters := labels.Everything()
		if w.ClusterSelector != nil {
			clusters, err = selector(w.ClusterSelector)
			note("spec.maintenance.windows "+w.Name, err)
		}
		m.windows = append(m.windows, selection{clusters, labels.Everything()})
	}
}

// selector of nothing where there is none: a field that was left out selects no Cluster.
func selector(s *metav1.LabelSelector) (labels.Selector, error) {
	if s == nil {
		return labels.Nothing(), nil
	}
	compiled, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing(), err
	}
	return compiled, nil
}

// budgetProblems: a budget has exactly one limit.
func budgetProblems(spec ucv1.FleetMigrationSpec) []string {
	var problems []string
	for _, b := range spec.Budgets {
		if (b.MaxConcurrency == nil) == (b.MaxNodes == nil) {
			problems = append(problems, fmt.Sprintf("spec.budgets %s: it has to have either maxConcurrency or maxNodes", b.Name))
		}
	}
	return problems
}

// orderProblems: a wave that has opened does not stand behind one that has not, or that would open although its Clusters come
// later.
func orderProblems(fm *ucv1.FleetMigration) []string {
	closed := ""
	for _, wave := range fm.Spec.Waves {
		switch status := waveStatus(fm, wave.Name); {
		case status == nil || status.OpenedAt == nil && status.State != ucv1.WaveEmpty:
			closed = cmp.Or(closed, wave.Name)
		case status.OpenedAt != nil && closed != "":
			return []string{fmt.Sprintf("spec.waves: wave %s has opened and stands behind wave %s, which has not; put it before",
				wave.Name, closed)}
		}
	}
	return nil
}

func waveStatus(fm *ucv1.FleetMigration, name string) *ucv1.WaveStatus {
	at := slices.IndexFunc(fm.Status.Waves, func(w ucv1.WaveStatus) bool { return w.Name == name })
	if at < 0 {
		return nil
	}
	return &fm.Status.Waves[at]
}

// Deadline is how long a Cluster may migrate before it counts as failed.
func (m *Migration) Deadline() time.Duration {
	return seconds(m.object.Spec.Failures.ProgressDeadlineSeconds, defaultDeadline)
}

func (m *Migration) priority() int32 {
	if m.object.Spec.Priority == nil {
		return 0
	}
	return *m.object.Spec.Priority
}

// onAdmission says that it sets the feature itself.
func (m *Migration) onAdmission() bool { return m.object.Spec.Enablement == ucv1.EnablementOnAdmission }

// before is the order in which FleetMigrations get Clusters and start them.
func before(a, b *Migration) int {
	return cmp.Or(
		cmp.Compare(b.priority(), a.priority()),
		a.object.CreationTimestamp.Compare(b.object.CreationTimestamp.Time),
		cmp.Compare(a.object.Name, b.object.Name),
	)
}

// seconds of a field, or its default.
func seconds(field *int32, otherwise time.Duration) time.Duration {
	if field == nil {
		return otherwise
	}
	return time.Duration(*field) * time.Second
}
