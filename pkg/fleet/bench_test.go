package fleet_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// largeFleet has 20 FleetMigrations with three waves, two budgets and a window each; one Cluster in ten has succeeded, and most wait.
func largeFleet(clusters int) (fleet.Fleet, time.Time) {
	now := time.Date(2026, 3, 28, 23, 0, 0, 0, time.UTC)
	f := fleet.Fleet{}
	for i := range 20 {
		fm := &ucv1.FleetMigration{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("fm-%d", i), UID: types.UID(fmt.Sprintf("uid-fm-%d", i)), CreationTimestamp: metav1.NewTime(now),
		}}
		fm.Spec = ucv1.FleetMigrationSpec{
			Mode: ucv1.FleetRun, ClusterSelector: selecting("fleet", fmt.Sprint(i)),
			Waves: []ucv1.Wave{
				{Name: "canary", ClusterSelector: selecting("tier", "canary")},
				{Name: "prod", ClusterSelector: selecting("tier", "prod"), MaxConcurrency: new(intstr.FromString("5%"))},
				{Name: "rest", ClusterSelector: selecting()},
			},
			Budgets: []ucv1.FleetBudget{
				{Name: "region", Per: "region", MaxConcurrency: new(int32(3))}, {Name: "nodes", MaxNodes: new(int32(400))},
			},
			Maintenance: ucv1.FleetMaintenance{Windows: []ucv1.FleetWindow{{MaintenanceWindow: ucv1.MaintenanceWindow{
				Name: "nights", Schedule: "0 22 * * *", DurationSeconds: 21600, TimeZone: "Europe/Berlin",
			}}}},
		}
		for _, wave := range []string{"canary", "prod", "rest"} {
			fm.Status.Waves = append(fm.Status.Waves, ucv1.WaveStatus{Name: wave, OpenedAt: &metav1.Time{Time: now.Add(-time.Hour)}})
		}
		f.Migrations = append(f.Migrations, fleet.Compile(fm))
	}
	for i := range clusters {
		id := fmt.Sprintf("cluster-%d", i)
		m := fleet.Member{
			Namespace: "user", Name: id, UID: "uid-" + id, Requested: true, Nodes: observation.Known(int32(i % 50)),
			Blocking: observation.Known(i%97 == 0), Labels: labels.Set{
				"fleet": fmt.Sprint(i % 20), "tier": []string{"canary", "prod", "rest"}[i/20%3], "region": fmt.Sprint("region-", i%7),
			},
			Admission: &ucv1.AdmissionStatus{
				FleetMigration: fmt.Sprintf("fm-%d", i%20), UID: fmt.Sprintf("uid-fm-%d", i%20), State: ucv1.AdmissionQueued,
			},
		}
		if i%10 == 0 {
			m.Admission.State, m.Admission.AdmittedAt = ucv1.AdmissionAdmitted, &metav1.Time{Time: now.Add(-5 * time.Hour)}
			m.StartedAt, m.CompletedAt, m.HealthySince = now.Add(-5*time.Hour), now.Add(-4*time.Hour), now.Add(-4*time.Hour)
		}
		f.Members = append(f.Members, m)
	}
	return f, now
}

func BenchmarkDecide(b *testing.B) {
	for _, clusters := range []int{1000, 5000, 10000} {
		b.Run(fmt.Sprint(clusters), func(b *testing.B) {
			f, now := largeFleet(clusters)
			(&fleet.Placer{}).Place(&f)
			b.ReportAllocs()
			for b.Loop() {
				fleet.Decide(f, now)
			}
		})
	}
}

func BenchmarkPlace(b *testing.B) {
	f, _ := largeFleet(5000)
	placer := &fleet.Placer{}
	b.ReportAllocs()
	for b.Loop() {
		placer.Place(&f)
	}
}
