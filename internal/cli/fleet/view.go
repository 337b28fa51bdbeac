package fleet

import (
	"fmt"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet/forecast"
)

// view is a fleet, and what is decided of it at one time. Members and their plans have the places of the Clusters.
type view struct {
	seen
	fleet fleet.Fleet
	plan  fleet.Plan
	// canMigrate says whether a provider was ever in-tree.
	canMigrate func(provider string) bool
}

// newView decides. What was read is not changed.
func newView(s seen, canMigrate func(provider string) bool) *view {
	v := &view{seen: s, canMigrate: canMigrate}
	for i := range s.clusters {
		c := &s.clusters[i]
		v.fleet.Members = append(v.fleet.Members, fleet.MemberOf(c, s.namespaces[c.Namespace], canMigrate))
	}
	for _, fm := range s.migrations {
		v.fleet.Migrations = append(v.fleet.Migrations, fleet.Compile(fm))
	}
	(&fleet.Placer{}).Place(&v.fleet)
	v.plan = fleet.Decide(v.fleet, s.at)
	return v
}

// migration is a FleetMigration of the view.
type migration struct {
	*view
	// place of it in the plan.
	place  int
	plan   *fleet.MigrationPlan
	object *ucv1.FleetMigration
}

func (v *view) migration(name string) (migration, error) {
	at := slices.IndexFunc(v.plan.Migrations, func(m fleet.MigrationPlan) bool { return m.Name == name })
	if at < 0 {
		return migration{}, fmt.Errorf("FleetMigration %s does not exist in the management cluster at %s; 'kubectl get fm' lists what "+
			"there is", name, v.host)
	}
	return v.migrationAt(at), nil
}

func (v *view) migrationAt(at int) migration {
	plan := &v.plan.Migrations[at]
	of := slices.IndexFunc(v.migrations, func(fm *ucv1.FleetMigration) bool { return fm.Name == plan.Name })
	return migration{view: v, place: at, plan: plan, object: v.migrations[of]}
}

// member is a Cluster of the view.
type member struct {
	*view
	cluster *ucv1.Cluster
	seen    *fleet.Member
	plan    *fleet.MemberPlan
}

func (v *view) memberAt(i int) member {
	return member{view: v, cluster: &v.clusters[i], seen: &v.fleet.Members[i], plan: &v.plan.Members[i]}
}

func (v *view) member(namespace, name string) (member, error) {
	at := slices.IndexFunc(v.clusters, func(c ucv1.Cluster) bool { return c.Namespace == namespace && c.Name == name })
	if at < 0 {
		return member{}, fmt.Errorf("cluster %s/%s does not exist in the management cluster at %s; 'kubectl get uc -A' lists what "+
			"there is", namespace, name, v.host)
	}
	return v.memberAt(at), nil
}

// members that a FleetMigration counts.
func (m migration) members() []member {
	var members []member
	for i := range m.view.plan.Members {
		if m.view.plan.Members[i].Migration == m.place {
			members = append(members, m.memberAt(i))
		}
	}
	return members
}

// waits says that it is not let go yet.
func (m member) waits() bool { return m.plan.State == fleet.Queued || m.plan.State == fleet.Ineligible }

// wave of a Cluster; empty where no wave has it.
func (m member) wave() string {
	if m.plan.Migration < 0 || m.plan.Wave < 0 {
		return ""
	}
	return m.view.plan.Migrations[m.plan.Migration].Waves[m.plan.Wave].Name
}

func (v *view) begins() forecast.Fleet {
	return forecast.Fleet{Migrations: v.migrations, Members: v.fleet.Members}
}

func (v *view) forecast(name string) forecast.Forecast { return forecast.Make(v.begins(), name, v.at) }

// ends is when a FleetMigration likely does; a forecast without the earliest and latest end takes a third of the time.
func (v *view) ends(name string) time.Time {
	return forecast.Run(v.begins(), name, forecast.Measure(v.begins(), name).Likely, v.at).EndsAt
}
