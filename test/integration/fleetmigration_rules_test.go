package integration_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/fleetlimits"
)

// fleetOf has two waves, of which the first is for canaries.
func fleetOf(name string) *ucv1.FleetMigration {
	all := &metav1.LabelSelector{}
	return &ucv1.FleetMigration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: ucv1.FleetMigrationSpec{
			// It is for no Cluster of another test.
			Mode: ucv1.FleetPlanOnly, ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"world": "rules"}},
			Waves: []ucv1.Wave{{
				Name: "canary", ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "canary"}},
			}, {Name: "rest", ClusterSelector: all}},
		},
	}
}

func window(change func(*ucv1.MaintenanceWindow)) func(*ucv1.FleetMigration) {
	return func(fm *ucv1.FleetMigration) {
		w := ucv1.FleetWindow{MaintenanceWindow: ucv1.MaintenanceWindow{
			Name: "nights", Schedule: "0 22 * * 1-4", DurationSeconds: 3600, TimeZone: "Europe/Berlin",
		}}
		change(&w.MaintenanceWindow)
		fm.Spec.Maintenance.Windows = []ucv1.FleetWindow{w}
	}
}

// refusal is what the API server says of a change; empty where it accepts it.
type refusal struct {
	change  func(*ucv1.FleetMigration)
	refused string
}

func TestFleetMigrationsThatTheAPIServerRefuses(t *testing.T) {
	t.Parallel()
	tryToCreate(t, changesOfWaves())
	tryToCreate(t, changesOfLimits())
}

func tryToCreate(t *testing.T, refusals map[string]refusal) {
	t.Helper()
	for name, tc := range refusals {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			fm := fleetOf("refused")
			tc.change(fm)
			err := suite.client.Create(t.Context(), fm, client.DryRunAll)
			if tc.refused == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.refused)))
		})
	}
}

func changesOfWaves() map[string]refusal {
	return map[string]refusal{
		"a plain one passes":           {change: func(*ucv1.FleetMigration) {}},
		"without a mode":               {func(fm *ucv1.FleetMigration) { fm.Spec.Mode = "" }, "spec.mode"},
		"without a wave":               {func(fm *ucv1.FleetMigration) { fm.Spec.Waves = nil }, "spec.waves"},
		"two waves of one name":        {func(fm *ucv1.FleetMigration) { fm.Spec.Waves[1].Name = "canary" }, "Duplicate value"},
		"a wave without a selector":    {func(fm *ucv1.FleetMigration) { fm.Spec.Waves[0].ClusterSelector = nil }, "clusterSelector"},
		"a selector without an effect": {func(fm *ucv1.FleetMigration) { fm.Spec.ClusterSelector = nil }, "spec.clusterSelector"},
		"101%": {
			func(fm *ucv1.FleetMigration) { fm.Spec.Waves[0].MaxConcurrency = new(intstr.Parse("101%")) }, "a percentage up to 100%",
		},
		"a number below 0": {
			func(fm *ucv1.FleetMigration) { fm.Spec.Waves[0].MaxFailures = new(intstr.Parse("-1")) }, "a number from 0",
		},
		"no success at all": {
			func(fm *ucv1.FleetMigration) { fm.Spec.Waves[0].MinSuccesses = new(intstr.Parse("0")) }, "a number from 1",
		},
		"an approval of no wave": {
			func(fm *ucv1.FleetMigration) {
				fm.Spec.Approvals = []ucv1.ApprovedWave{{Wave: "prod", GateDigest: "9f2c"}}
			}, "each wave has to be one of spec.waves",
		},
		"a rollback of no wave": {
			func(fm *ucv1.FleetMigration) {
				fm.Spec.Rollback = &ucv1.FleetRollback{Waves: []string{"prod"}, Scope: ucv1.RollbackAll}
			}, "each wave has to be one of spec.waves",
		},
	}
}

// changesOfLimits are those of windows, budgets and exclusions.
func changesOfLimits() map[string]refusal {
	return map[string]refusal{
		"one with a window passes": {change: window(func(*ucv1.MaintenanceWindow) {})},
		"a macro":                  {window(func(w *ucv1.MaintenanceWindow) { w.Schedule = "@daily xx" }), "without macros such as @daily"},
		"a time zone in schedule":  {window(func(w *ucv1.MaintenanceWindow) { w.Schedule = "TZ=UTC 0 22 * * *" }), "set timeZone"},
		"a window of a minute":     {window(func(w *ucv1.MaintenanceWindow) { w.DurationSeconds = 60 }), "durationSeconds"},
		"a budget without a limit": {
			func(fm *ucv1.FleetMigration) { fm.Spec.Budgets = []ucv1.FleetBudget{{Name: "b"}} }, "either maxConcurrency or maxNodes",
		},
		"a budget with two limits": {
			func(fm *ucv1.FleetMigration) {
				fm.Spec.Budgets = []ucv1.FleetBudget{{Name: "b", MaxConcurrency: new(int32(1)), MaxNodes: new(int32(1))}}
			}, "either maxConcurrency or maxNodes",
		},
		"an exclusion that ends before it begins": {
			func(fm *ucv1.FleetMigration) {
				fm.Spec.Maintenance.Exclusions = []ucv1.FleetExclusion{{
					Name: "freeze", From: metav1.NewTime(time.Unix(7200, 0)), To: metav1.NewTime(time.Unix(3600, 0)),
				}}
			}, "from has to be before its to",
		},
	}
}

func TestWhatOfAFleetMigrationStays(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	fm := fleetOf("stays")
	g.Expect(suite.client.Create(t.Context(), fm)).To(Succeed())
	fm.Status.Waves = []ucv1.WaveStatus{{Name: "canary", OpenedAt: &metav1.Time{Time: time.Now()}}, {Name: "rest"}}
	g.Expect(suite.client.Status().Update(t.Context(), fm)).To(Succeed())

	owned := fm.DeepCopy()
	owned.Spec.Enablement = ucv1.EnablementOnAdmission
	g.Expect(suite.client.Update(t.Context(), owned)).To(MatchError(ContainSubstring("spec.enablement is immutable")))
	opened := fm.DeepCopy()
	opened.Spec.Waves = opened.Spec.Waves[1:]
	g.Expect(suite.client.Update(t.Context(), opened)).To(MatchError(ContainSubstring("a wave that has opened may not be removed")))
	closed := fm.DeepCopy()
	closed.Spec.Waves = closed.Spec.Waves[:1]
	g.Expect(suite.client.Update(t.Context(), closed)).To(Succeed())
}

// What the decision reports at its limits is accepted as it is, and stays small with what the API server adds.
func TestTheStatusOfAFleetMigrationAtItsLimits(t *testing.T) {
	t.Parallel()
	g, now := NewWithT(t), time.Now().Truncate(time.Second)
	fm := &ucv1.FleetMigration{ObjectMeta: metav1.ObjectMeta{Name: "limits"}, Spec: fleetlimits.Spec()}
	g.Expect(suite.client.Create(t.Context(), fm)).To(Succeed())
	t.Cleanup(func() { _ = suite.client.Delete(context.WithoutCancel(t.Context()), fm) })
	decided := fm.DeepCopy()
	decided.Status = fleetlimits.Status(fm.Spec, now)
	decided.Status = fleetlimits.Decide(decided, now)
	wanted := decided.Status.DeepCopy()
	g.Expect(suite.client.Status().Update(t.Context(), decided)).To(Succeed())

	stored := &ucv1.FleetMigration{}
	g.Expect(suite.client.Get(t.Context(), client.ObjectKeyFromObject(fm), stored)).To(Succeed())
	g.Expect(sizeOf(t, stored.Status)).To(And(Equal(sizeOf(t, wanted)), BeNumerically("<", fleetlimits.StatusBytes)))
	t.Logf("status %d bytes, object %d bytes", sizeOf(t, stored.Status), sizeOf(t, stored))
}

func sizeOf(t *testing.T, object any) int {
	t.Helper()
	text, err := json.Marshal(object)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return len(text)
}
