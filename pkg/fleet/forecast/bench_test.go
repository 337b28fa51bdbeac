package forecast_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet/forecast"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// BenchmarkMake is what a command waits for: the forecast of a fleet in three waves with a window every night.
func BenchmarkMake(b *testing.B) {
	for _, clusters := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprint(clusters), func(b *testing.B) {
			of := forecast.Fleet{Migrations: []*ucv1.FleetMigration{{
				ObjectMeta: metav1.ObjectMeta{Name: "fleet", UID: "uid", CreationTimestamp: metav1.NewTime(start())},
				Spec: ucv1.FleetMigrationSpec{
					Mode: ucv1.FleetRun, ClusterSelector: selecting(),
					Waves: []ucv1.Wave{
						{Name: "canary", ClusterSelector: selecting("tier", "canary"), MaxConcurrency: new(intstr.FromString("5%"))},
						{Name: "rest", ClusterSelector: selecting(), MaxConcurrency: new(intstr.FromString("5%"))},
					},
					Maintenance: ucv1.FleetMaintenance{Windows: []ucv1.FleetWindow{{MaintenanceWindow: ucv1.MaintenanceWindow{
						Name: "nights", Schedule: "0 22 * * *", DurationSeconds: 21600, TimeZone: "Europe/Berlin",
					}}}},
				},
			}}}
			for i := range clusters {
				name := fmt.Sprint("c-", i)
				of.Members = append(of.Members, fleet.Member{
					Namespace: "user", Name: name, UID: name, Requested: true, Nodes: observation.Known(int32(1 + i%30)),
					Blocking: observation.Known(false), Labels: labels.Set{"tier": []string{"canary", "rest", "rest"}[i%3]},
				})
			}
			b.ReportAllocs()
			for b.Loop() {
				made := forecast.Make(of, "fleet", start())
				b.ReportMetric(float64(made.Steps), "steps")
				if made.EndsAt.IsZero() {
					b.Fatal(made.Waits)
				}
			}
		})
	}
}
