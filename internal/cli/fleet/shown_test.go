package fleet

import (
	"bytes"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// What the dashboard is tested with is what fleet status is tested with, in namespaces of its own.
func TestTheDashboardHasTheFleetOfFleetStatus(t *testing.T) {
	members := fleetOf()
	for i := range members {
		members[i].Namespace = "fleet-" + members[i].Name
	}
	for name, list := range map[string]any{
		"members.yaml":    &ucv1.ClusterList{Items: members},
		"migrations.yaml": &ucv1.FleetMigrationList{Items: []ucv1.FleetMigration{*openstack(withWindows)}},
	} {
		text, err := yaml.Marshal(list)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		expectGolden(t, "../../dashboard/testdata/"+name, string(text))
	}
}

func TestFleetMigrationsAreShownAsFleetStatusPrintsThem(t *testing.T) {
	for name, fm := range map[string]*ucv1.FleetMigration{
		"with windows": openstack(withWindows), "halted": openstack(halted), "approval": openstack(awaitingApproval),
	} {
		t.Run(name, func(t *testing.T) {
			g, out := NewWithT(t), &bytes.Buffer{}
			made, err := newStatusReport(viewOf(fleetOf(), fm), fm.Name)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(made.text(out, terminal.Screen{Width: 100000})).To(Succeed())
			shown := Show(fleetOf(), []*ucv1.FleetMigration{fm}, nil, noon())
			g.Expect(shown.Migrations).To(HaveLen(1))
			one := shown.Migrations[0]
			g.Expect(out.String()).To(ContainSubstring(one.Name + "  " + one.Reason + "  " + one.Done))
			for _, w := range one.Waves {
				g.Expect(out.String()).To(MatchRegexp(`%s %s .* %d/%d +%d +%d +%d  %s`, w.Sign, w.Name, w.Succeeded, w.Total, w.InFlight,
					w.Failed, w.Queued, w.Now))
			}
			for _, task := range one.Tasks {
				g.Expect(out.String()).To(ContainSubstring(task.Who + ": " + task.Message))
			}
			for _, budget := range one.Budgets {
				g.Expect(out.String()).To(MatchRegexp(`%s +%d  %d`, budget.Name, budget.Used, budget.Limit))
			}
			for _, reason := range one.Queue {
				g.Expect(out.String()).To(MatchRegexp(`%s +%d`, reason.Reason, reason.Count))
			}
			for _, line := range one.Calendar {
				g.Expect(out.String()).To(ContainSubstring(fmt.Sprint("• ", line)))
			}
		})
	}
}
