package fleet

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Labels of the Clusters.
const (
	fleetLabel  = "example.com/fleet"
	tierLabel   = "example.com/tier"
	regionLabel = "topology.kubernetes.io/region"
)

// The FleetMigrations and their waves.
const (
	north, south  = "north", "south"
	canary, prod  = "canary", "prod"
	all           = "all"
	regionBudget  = "region"
	perRegion     = 1
	prodAtOnce    = 2
	southAtOnce   = 2
	windowClosing = "closing"
	windowOpening = "opening"
)

// Member is a user cluster of the story.
type Member struct{ Name, Fleet, Wave, Region string }

// Cast of a story.
type Cast struct {
	Members []Member
	// Breaks is the Cluster whose CCM does not initialize Nodes; empty: none.
	Breaks string
	// Windows say that those of north close in the middle, and open again later.
	Windows bool
}

// Whole is the story of eight clusters in three waves of two FleetMigrations.
func Whole() Cast {
	return Cast{
		Members: []Member{
			{"n1", north, canary, "d"}, {"n2", north, prod, "a"}, {"n3", north, prod, "b"}, {"n4", north, prod, "b"},
			{"n5", north, prod, "c"}, {"s1", south, all, "a"}, {"s2", south, all, "b"}, {"s3", south, all, "c"},
		},
		Breaks: "n3", Windows: true,
	}
}

// Small is the story of three clusters.
func Small() Cast {
	return Cast{Members: []Member{{"f1", north, canary, "a"}, {"f2", north, prod, "a"}, {"f3", north, prod, "a"}}}
}

func (c Cast) of(fleet string) (members []Member) {
	for _, m := range c.Members {
		if m.Fleet == fleet {
			members = append(members, m)
		}
	}
	return members
}

func (m Member) labels() map[string]string {
	return map[string]string{fleetLabel: m.Fleet, tierLabel: m.Wave, regionLabel: m.Region}
}

func selecting(label, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{label: value}}
}

// northMigration has a wave for the canary and one that a person approves. It halts at the first failure.
func (c Cast) northMigration(closes, opens time.Time) *ucv1.FleetMigration {
	fm := &ucv1.FleetMigration{ObjectMeta: metav1.ObjectMeta{Name: north}}
	fm.Spec = ucv1.FleetMigrationSpec{
		Mode: ucv1.FleetRun, ClusterSelector: selecting(fleetLabel, north),
		Waves: []ucv1.Wave{
			{Name: canary, ClusterSelector: selecting(tierLabel, canary), SoakSeconds: new(int32(0))},
			{
				Name: prod, ClusterSelector: selecting(tierLabel, prod), SoakSeconds: new(int32(0)),
				MaxConcurrency: new(intstr.FromInt32(prodAtOnce)), Approval: ucv1.WaveApprovalRequired,
			},
		},
		Budgets:  []ucv1.FleetBudget{{Name: regionBudget, Per: regionLabel, MaxConcurrency: new(int32(perRegion))}},
		Failures: ucv1.FleetFailures{GraceSeconds: new(int32(0))},
	}
	if c.Windows {
		fm.Spec.Maintenance.Windows = []ucv1.FleetWindow{
			window(windowClosing, closes.Add(-windowLength)), window(windowOpening, opens),
		}
	}
	return fm
}

// windowLength is the shortest that the API takes.
const windowLength = 15 * time.Minute

func window(name string, opens time.Time) ucv1.FleetWindow {
	opens = opens.UTC()
	return ucv1.FleetWindow{MaintenanceWindow: ucv1.MaintenanceWindow{
		Name: name, TimeZone: "Etc/UTC", DurationSeconds: int32(windowLength / time.Second),
		Schedule: fmt.Sprintf("%d %d %d %d *", opens.Minute(), opens.Hour(), opens.Day(), opens.Month()),
	}}
}

func southMigration() *ucv1.FleetMigration {
	fm := &ucv1.FleetMigration{ObjectMeta: metav1.ObjectMeta{Name: south}}
	fm.Spec = ucv1.FleetMigrationSpec{
		Mode: ucv1.FleetRun, ClusterSelector: selecting(fleetLabel, south),
		Waves: []ucv1.Wave{{
			Name: all, ClusterSelector: &metav1.LabelSelector{}, SoakSeconds: new(int32(0)),
			MaxConcurrency: new(intstr.FromInt32(southAtOnce)),
		}},
	}
	return fm
}
