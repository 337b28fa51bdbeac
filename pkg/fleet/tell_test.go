package fleet_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

func noon() time.Time { return time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC) }

func ago(d time.Duration) time.Time { return noon().Add(-d) }

// openFleet has the waves canary and prod, of which canary has opened.
func openFleet() *ucv1.FleetMigration {
	return &ucv1.FleetMigration{
		ObjectMeta: metav1.ObjectMeta{Name: "fleet", UID: "uid-fleet", CreationTimestamp: metav1.NewTime(ago(48 * time.Hour))},
		Spec: ucv1.FleetMigrationSpec{
			Mode: ucv1.FleetRun, ClusterSelector: selecting(),
			Waves: []ucv1.Wave{
				{Name: "canary", ClusterSelector: selecting("tier", "canary"), MaxConcurrency: new(intstr.FromInt32(2))},
				{Name: "prod", ClusterSelector: selecting("tier", "prod"), MaxConcurrency: new(intstr.FromInt32(2))},
			},
		},
		Status: ucv1.FleetMigrationStatus{Waves: []ucv1.WaveStatus{{Name: "canary", OpenedAt: &metav1.Time{Time: ago(26 * time.Hour)}}}},
	}
}

func member(name, tier string) fleet.Member {
	return fleet.Member{
		Namespace: "user", Name: name, UID: "uid-" + name, Requested: true, Labels: labels.Set{"tier": tier},
		Nodes: observation.Known[int32](3), Blocking: observation.Known(false),
	}
}

func admitted(m fleet.Member, at time.Time) fleet.Member {
	wave := m.Labels["tier"]
	m.Admission = &ucv1.AdmissionStatus{
		FleetMigration: "fleet", UID: "uid-fleet", Wave: wave, State: ucv1.AdmissionAdmitted, AdmittedAt: &metav1.Time{Time: at},
	}
	m.StartedAt = at
	return m
}

func succeeded(m fleet.Member, at time.Time) fleet.Member {
	m = admitted(m, at.Add(-time.Hour))
	m.CompletedAt, m.HealthySince, m.RolledOut, m.Verdict = at, at, true, slo.Met
	return m
}

func stalled(m fleet.Member, since time.Time) fleet.Member {
	m = admitted(m, since.Add(-time.Hour))
	m.Stalled = fleet.Trouble{Reason: ucv1.BlockedMachinesReason, Since: since}
	return m
}

func decide(fm *ucv1.FleetMigration, members ...fleet.Member) fleet.Plan {
	f := fleet.Fleet{Migrations: []fleet.Migration{fleet.Compile(fm)}, Members: members}
	(&fleet.Placer{}).Place(&f)
	return fleet.Decide(f, noon())
}

func obstacles(p fleet.MemberPlan) []string {
	reasons := []string{}
	for _, o := range p.Obstacles {
		reasons = append(reasons, o.Reason)
	}
	return reasons
}

// story is what a fleet comes to for its last Cluster.
type story struct {
	with     func(*ucv1.FleetMigration)
	members  []fleet.Member
	admits   bool
	reasons  []string
	wave     ucv1.WaveState
	halt     string
	accepted string
}

func tell(t *testing.T, stories map[string]story) {
	t.Helper()
	for name, s := range stories {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			fm := openFleet()
			if s.with != nil {
				s.with(fm)
			}
			plan := decide(fm, s.members...)
			last := plan.Members[len(plan.Members)-1]
			g.Expect(last.Admit).To(Equal(s.admits), "%v", last.Obstacles)
			g.Expect(obstacles(last)).To(ConsistOf(s.reasons))
			if s.wave != "" {
				g.Expect(plan.Migrations[0].Waves[0].State).To(Equal(s.wave))
			}
			if s.halt != "" {
				g.Expect(plan.Migrations[0].Halt).NotTo(BeNil())
				g.Expect(plan.Migrations[0].Halt.Reason).To(Equal(s.halt))
			} else {
				g.Expect(plan.Migrations[0].Halt).To(BeNil())
			}
			if s.accepted == "" {
				g.Expect(plan.Migrations[0].Problems).To(BeEmpty())
			} else {
				g.Expect(strings.Join(plan.Migrations[0].Problems, "; ")).To(ContainSubstring(s.accepted))
			}
		})
	}
}
