package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// What the dashboard is tested with is what status is tested with. Budgets ask how many Nodes there are.
func TestTheDashboardHasTheClustersOfStatus(t *testing.T) {
	clusters := manyTroubles()
	for i := range clusters {
		if status := &clusters[i].Status; status.Nodes == nil && status.Step != "" {
			status.Nodes = &ucv1.NodeCount{Total: 3}
		}
	}
	text, err := yaml.Marshal(&ucv1.ClusterList{Items: clusters})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	expectGolden(t, "../../dashboard/testdata/clusters.yaml", string(text))
}

func TestAFleetIsShownAsStatusPrintsIt(t *testing.T) {
	g, out := NewWithT(t), &bytes.Buffer{}
	s := terminal.Screen{Width: 100000}
	g.Expect(newFleetReport(manyTroubles(), &selection{}).text(out, s, noon())).To(Succeed())
	shown := FleetOf(manyTroubles(), noon())
	printed := out.String()
	g.Expect(printed).To(ContainSubstring(shown.Summary))
	g.Expect(printed).To(ContainSubstring("No manager runs the cloud loops of: " + strings.Join(shown.Unattended, ", ")))
	from := 0
	for _, line := range shown.Lines {
		at := strings.Index(printed[from:], line.State.Sign+" "+line.Cluster+" ")
		g.Expect(at).To(BeNumerically(">=", 0), "%s comes after those before", line.Cluster)
		from += at
		row, _, _ := strings.Cut(printed[from:], "\n")
		g.Expect(strings.Fields(row)).To(ContainElements(line.Step, line.Steps, line.Machines, line.For), row)
		g.Expect(row).To(ContainSubstring(line.State.Words))
	}
	g.Expect(shown.Groups).NotTo(BeEmpty())
	for _, group := range shown.Groups {
		says := strings.TrimPrefix(group.Says, group.First+", for example: ") // Of a few, status prints what each says.
		g.Expect(printed).To(ContainSubstring(says))
		if group.Count > 1 {
			g.Expect(printed).To(ContainSubstring(fmt.Sprintf("%d Clusters: %s\n", group.Count, group.Words)))
		}
	}
}

func TestAClusterIsShownAsStatusAndWhyPrintIt(t *testing.T) {
	for _, cluster := range manyTroubles() {
		t.Run(cluster.Name, func(t *testing.T) {
			g, out := NewWithT(t), &bytes.Buffer{}
			s, what := terminal.Screen{Width: 100000}, blockerOf(&cluster)
			printed := newClusterDetails(&cluster)
			g.Expect(printed.text(out, s, noon(), 100)).To(Succeed())
			g.Expect(what.text(out, s, noon())).To(Succeed())
			shown := DetailsOf(&cluster, noon())
			for _, text := range []string{
				shown.Cluster, shown.State.Words, shown.Facts, shown.Head, shown.Said, shown.Unattended, shown.Acting, shown.Meaning,
				shown.Kubeconfig, shown.Runbook,
			} {
				g.Expect(out.String()).To(ContainSubstring(text))
			}
			for _, step := range shown.Steps {
				g.Expect(out.String()).To(And(ContainSubstring(step.Sign+" "+s.Cut(step.Name, stepWidth)), ContainSubstring(step.Note)))
			}
			for _, commands := range shown.Commands {
				g.Expect(out.String()).To(ContainSubstring(commands.Head + ":\n  " + strings.Join(commands.Lines, "\n  ")))
			}
			for _, entry := range shown.Timeline {
				g.Expect(out.String()).To(And(ContainSubstring(entry.Kind), ContainSubstring(entry.Says)))
			}
		})
	}
}
