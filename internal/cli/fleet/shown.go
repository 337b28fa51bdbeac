package fleet

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

// Shown is what fleet status prints, in pieces for a page, but for forecasts: they take longer than a page may.
type Shown struct {
	Migrations []Migration
	// Tasks about Clusters that no FleetMigration has any more.
	Tasks []Task
}

// Migration is one FleetMigration.
type Migration struct {
	Name, Reason, Message, Done string
	Waves                       []Wave
	Tasks                       []Task
	Queue, OutOfScope           []ucv1.ReasonCount
	Budgets                     []Budget
	// BudgetsLeft says how many budgets are not shown.
	BudgetsLeft string
	Calendar    []string
}

// Wave is one wave. Now is what it does, or waits for.
type Wave struct {
	Name, Now, Sign, Class                     string
	Succeeded, Total, InFlight, Failed, Queued int32
}

// Task is what a person has to do.
type Task struct {
	Who, Message string
	Commands     []string
}

// Budget is how full one is.
type Budget struct {
	Name        string
	Used, Limit int32
}

// Show what fleet status prints. Namespaces have their labels.
func Show(
	clusters []ucv1.Cluster, migrations []*ucv1.FleetMigration, namespaces map[string]labels.Set, now time.Time,
) Shown {
	v := newView(seen{clusters: clusters, migrations: migrations, namespaces: namespaces, at: now}, provider.New().CanMigrate)
	shown := Shown{Tasks: tasksShown(v.tasksOfUnclaimed(""))}
	for at := range v.plan.Migrations {
		r := newDetailsOfNow(v.migrationAt(at))
		shown.Migrations = append(shown.Migrations, r.shown(now))
	}
	return shown
}

func (r *migrationReport) shown(now time.Time) Migration {
	shown := Migration{
		Name: r.Name, Reason: r.Reason, Message: r.Message, Done: r.done(), Tasks: tasksShown(r.Tasks), Queue: r.Queue,
		OutOfScope: r.OutOfScope, BudgetsLeft: r.budgetsLeft(), Calendar: r.calendarLines(),
	}
	for i := range r.Waves {
		w := &r.Waves[i]
		mark, tone := w.sign(terminal.Screen{})
		shown.Waves = append(shown.Waves, Wave{
			Name: w.Name, Now: w.now(now), Sign: mark, Class: tone.Class(), Succeeded: w.Clusters.Succeeded, Total: w.Clusters.Total,
			InFlight: w.Clusters.InFlight, Failed: w.Clusters.Failed, Queued: w.Clusters.Queued + w.Clusters.Ineligible,
		})
	}
	for _, b := range r.Budgets[:min(len(r.Budgets), mostLines)] {
		shown.Budgets = append(shown.Budgets, Budget{Name: budgetName(b), Used: b.Used, Limit: b.Limit})
	}
	return shown
}

func tasksShown(list []task) (shown []Task) {
	for _, t := range list {
		shown = append(shown, Task{Who: t.Who.words(), Message: t.Message, Commands: t.Commands})
	}
	return shown
}
