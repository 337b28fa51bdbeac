package fleet

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

func halted(fm *ucv1.FleetMigration) {
	fm.Spec.Waves[1].MaxFailures = nil
	fm.Status.Halt = &ucv1.FleetHalt{
		At: *ago(30 * time.Minute), Reason: ucv1.MaxFailuresExceededReason, Clusters: []string{"user-epsilon/epsilon"},
		Message: "1 Clusters of wave prod have failed, and 0 may. Look at them, and set spec.failures.countSince to the time at which " +
			"you did.",
	}
}

func misspelled(fm *ucv1.FleetMigration) {
	fm.Spec.Budgets[0].MaxConcurrency = nil
	withWindows(fm)
	fm.Spec.Maintenance.Windows[0].TimeZone = "Europe/Berlln"
}

func second(fm *ucv1.FleetMigration) {
	fm.Name, fm.UID, fm.Spec.Mode, fm.Spec.ClusterSelector = "vsphere", "uid-vsphere", ucv1.FleetPlanOnly, selecting("cloud", "vsphere")
	fm.Status = ucv1.FleetMigrationStatus{}
}

func TestStatus(t *testing.T) {
	for name, tc := range map[string]struct {
		migrations []*ucv1.FleetMigration
		clusters   []ucv1.Cluster
		of         string
		format     string
		screen     terminal.Screen
	}{
		"a fleet that runs": {migrations: []*ucv1.FleetMigration{openstack(withWindows)}, of: "openstack"},
		"a fleet that ends": {migrations: []*ucv1.FleetMigration{openstack(withWindows, func(fm *ucv1.FleetMigration) {
			fm.Spec.Waves[1].MinSuccesses = new(intstr.FromString("50%"))
		})}, of: "openstack"},
		"a fleet without windows":         {migrations: []*ucv1.FleetMigration{openstack()}, of: "openstack"},
		"a halt says how to resume":       {migrations: []*ucv1.FleetMigration{openstack(halted)}, of: "openstack"},
		"a wave that needs an approval":   {migrations: []*ucv1.FleetMigration{openstack(awaitingApproval)}, of: "openstack"},
		"a spec that cannot be followed":  {migrations: []*ucv1.FleetMigration{openstack(misspelled)}, of: "openstack"},
		"a first wave that is empty":      {migrations: []*ucv1.FleetMigration{openstack(second)}, of: "vsphere"},
		"all FleetMigrations":             {migrations: []*ucv1.FleetMigration{openstack(), openstack(second)}},
		"there is none":                   {clusters: []ucv1.Cluster{}},
		"in ASCII, for a narrow terminal": {migrations: []*ucv1.FleetMigration{openstack(withWindows)}, of: "openstack", screen: terminal.Screen{Width: 72, ASCII: true}},
		"as JSON":                         {migrations: []*ucv1.FleetMigration{openstack(withWindows)}, of: "openstack", format: "json"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.clusters == nil {
				tc.clusters = fleetOf()
			}
			if tc.screen.Width == 0 {
				tc.screen = plain()
			}
			file := "status/" + fileName(name) + ".txt"
			if tc.format == "" {
				tc.format = "text"
			} else {
				file = "status/" + fileName(name) + "." + tc.format
			}
			made, err := newStatusReport(viewOf(tc.clusters, tc.migrations...), tc.of)
			expectGolden(t, file, printed(t, made, err, tc.format, tc.screen))
		})
	}
}

func TestStatusOfAFleetMigrationThatIsNotThere(t *testing.T) {
	_, err := newStatusReport(viewOf(fleetOf(), openstack()), "other")
	NewWithT(t).Expect(err).To(MatchError("FleetMigration other does not exist in the management cluster at https://management; " +
		"'kubectl get fm' lists what there is"))
}

// TestARecentHaltIsResumedByATimeThatIsNotBefore: a time in an object has whole seconds, and an earlier one resumes nothing.
func TestARecentHaltIsResumedByATimeThatIsNotBefore(t *testing.T) {
	halt := &ucv1.FleetHalt{At: *ago(-500 * time.Millisecond)}
	NewWithT(t).Expect(resume("openstack", halt, noon().Add(700*time.Millisecond))).To(ContainSubstring("2026-01-01T12:00:01Z"))
}
