package fleetlimits

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// StatusBytes is what a status may have at most, as JSON: https://github.com/argoproj/argo-cd/issues/24689 has one that grew with
// the number of clusters until it could not be written.
const StatusBytes = 64 << 10

// Clusters of the fleet.
const Clusters = 10_000

// Spec with 20 waves and 16 budgets, all with the longest names.
func Spec() ucv1.FleetMigrationSpec {
	spec := ucv1.FleetMigrationSpec{
		Mode: ucv1.FleetRun, ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"world": "limits"}},
	}
	for i := range 20 {
		spec.Waves = append(spec.Waves, ucv1.Wave{
			Name: long("w", 40, i), ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"wave": fmt.Sprint(i)}},
			Approval: ucv1.WaveApprovalRequired, MaxFailures: new(intstr.FromString("100%")), MaxConcurrency: new(intstr.FromInt32(1000)),
		})
	}
	for i := range 16 {
		spec.Budgets = append(spec.Budgets, ucv1.FleetBudget{Name: long("b", 40, i), Per: "value", MaxConcurrency: new(int32(10000))})
	}
	return spec
}

// Status of which all waves are open, with the longest history.
func Status(spec ucv1.FleetMigrationSpec, now time.Time) ucv1.FleetMigrationStatus {
	status := ucv1.FleetMigrationStatus{}
	for i := range spec.Waves {
		status.Waves = append(status.Waves, ucv1.WaveStatus{Name: spec.Waves[i].Name, OpenedAt: &metav1.Time{Time: now}})
	}
	for range 30 {
		status.Timeline = append(status.Timeline, ucv1.FleetEvent{
			Kind: strings.Repeat("k", 64), Message: strings.Repeat("m", 256), Time: metav1.NewTime(now),
		})
	}
	return status
}

// Members of the FleetMigration, with the longest names: a third has failed, a third cannot be reached, a third may start. No two
// have the same value of the label that the budgets count by.
func Members(fm *ucv1.FleetMigration, now time.Time) []fleet.Member {
	members := make([]fleet.Member, 0, Clusters)
	for i := range Clusters {
		m := fleet.Member{
			Namespace: long("s", 63, i), Name: long("n", 253, i), UID: long("u", 63, i), Requested: true,
			Labels: labels.Set{"world": "limits", "wave": fmt.Sprint(i % 20), "value": long("v", 63, i)},
			Nodes:  observation.Known[int32](3), Blocking: observation.Known(false),
		}
		switch i % 3 {
		case 0:
			m.StartedAt = now.Add(-2 * time.Hour)
			m.Admission = &ucv1.AdmissionStatus{
				FleetMigration: fm.Name, UID: string(fm.UID), Wave: fm.Spec.Waves[i%20].Name, State: ucv1.AdmissionAdmitted,
				AdmittedAt: &metav1.Time{Time: m.StartedAt},
			}
			m.Stalled = fleet.Trouble{Reason: ucv1.BlockedMachinesReason, Since: now.Add(-time.Hour)}
		case 1:
			m.Unreachable = ucv1.UnreachableReason
		}
		members = append(members, m)
	}
	return members
}

// Decide is the pass over the fleet.
func Decide(fm *ucv1.FleetMigration, now time.Time) ucv1.FleetMigrationStatus {
	f := fleet.Fleet{Migrations: []fleet.Migration{fleet.Compile(fm)}, Members: Members(fm, now)}
	(&fleet.Placer{}).Place(&f)
	return fleet.Decide(f, now).Migrations[0].Status
}

// long is a name of that length that ends with a number.
func long(letter string, length, number int) string {
	id := fmt.Sprintf("%05d", number)
	return strings.Repeat(letter, length-len(id)) + id
}
