package report

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// screens are what the golden files are made for.
func screens() map[string]terminal.Screen {
	return map[string]terminal.Screen{
		"file":         {Width: terminal.FileWidth},
		"wide-colour":  {Width: terminal.MaxWidth, Colour: true},
		"narrow-ascii": {Width: 80, ASCII: true},
	}
}

func TestFleetForPeople(t *testing.T) {
	for name, s := range screens() {
		t.Run(name, func(t *testing.T) {
			out := &bytes.Buffer{}
			NewWithT(t).Expect(newFleetReport(fleet()).text(out, s, noon())).To(Succeed())
			expectGolden(t, "status/fleet-"+name+".txt", out.String())
			expectWidth(t, s, out.String())
		})
	}
}

// expectWidth looks at every line but those with a name that is to be copied.
func expectWidth(t *testing.T, s terminal.Screen, text string) {
	t.Helper()
	text = regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(text, "")
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "What to do:") && !strings.Contains(line, ", for ") {
			NewWithT(t).Expect(utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))).To(BeNumerically("<=", s.Width), line)
		}
		if s.ASCII {
			NewWithT(t).Expect(line).To(HaveLen(utf8.RuneCountInString(line)), "only ASCII: %s", line)
		}
		NewWithT(t).Expect(line).NotTo(ContainSubstring("\x1b"))
	}
}

func TestColumnsOfAFleetStandStill(t *testing.T) {
	g := NewWithT(t)
	s := terminal.Screen{Width: terminal.FileWidth, ASCII: true}
	frame := func(clusters []ucv1.Cluster, now time.Time) []int {
		out := &bytes.Buffer{}
		g.Expect(newFleetReport(clusters).text(out, s, now)).To(Succeed())
		var columns []int
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "  CLUSTER") {
				for _, title := range []string{"STATE", "STEP ", "STEPS", "MACHINES", "FOR"} {
					columns = append(columns, strings.Index(line, title))
				}
			}
		}
		return columns
	}
	clusters := fleet()[:3]
	before := frame(clusters, noon())
	clusters[0].Status.Step, clusters[0].Status.Machines.Total = ucv1.StepRollbackMachineController, 12345
	g.Expect(frame(clusters, noon().Add(300*24*time.Hour))).To(Equal(before))
	g.Expect(before).NotTo(ContainElement(-1))
}

func TestAClusterForPeople(t *testing.T) {
	for _, cluster := range fleet() {
		t.Run(cluster.Name, func(t *testing.T) {
			out, report := &bytes.Buffer{}, newClusterDetails(&cluster)
			NewWithT(t).Expect(report.text(out, terminal.Screen{Width: terminal.FileWidth}, noon(), 8)).To(Succeed())
			expectGolden(t, "status/"+cluster.Name+".txt", out.String())
			expectWidth(t, terminal.Screen{Width: terminal.FileWidth}, out.String())
		})
	}
	for name, s := range screens() {
		t.Run("gamma on screen "+name, func(t *testing.T) {
			out, report := &bytes.Buffer{}, newClusterDetails(one("gamma"))
			NewWithT(t).Expect(report.text(out, s, noon(), 8)).To(Succeed())
			expectGolden(t, "status/gamma-"+name+".txt", out.String())
			expectWidth(t, s, out.String())
		})
	}
}

func TestStatusForScripts(t *testing.T) {
	for _, format := range []string{"json", "yaml"} {
		t.Run(format, func(t *testing.T) {
			g, out := NewWithT(t), &bytes.Buffer{}
			g.Expect(terminal.Write(out, format, newFleetReport(fleet()[:3]), nil)).To(Succeed())
			expectGolden(t, "status/fleet."+format, out.String())
			out.Reset()
			g.Expect(terminal.Write(out, format, newClusterDetails(one("gamma")), nil)).To(Succeed())
			expectGolden(t, "status/gamma."+format, out.String())
		})
	}
}

func TestStatesOfClusters(t *testing.T) {
	g, got := NewWithT(t), map[string]clusterState{}
	for _, cluster := range fleet() {
		got[cluster.Name[:2]] = stateOf(&cluster)
	}
	g.Expect(got).To(Equal(map[string]clusterState{
		"al": isWorking,
		"be": isDone,
		"ga": needsYou,
		"de": isInTree,
		"ep": cannotLook,
		"ze": isWorking,
		"et": isPaused,
		"th": isRollingBack,
		"io": isDone,
		"ka": needsYou,
		"la": isNew,
		"mu": isDeleting,
		"nu": isRolledBack,
		"xi": isQueued,
		"om": cannotLook,
		"ps": needsYou,
	}))
	for _, state := range clusterStates() {
		g.Expect(state.words()).NotTo(BeEmpty(), string(state))
		g.Expect(len(state.words())).To(BeNumerically("<=", stateWidth), string(state))
	}
}

func TestThoseWhoNeedAPersonComeFirst(t *testing.T) {
	g, order := NewWithT(t), []clusterState{}
	for _, cluster := range newFleetReport(fleet()).Clusters {
		if len(order) == 0 || order[len(order)-1] != cluster.State {
			order = append(order, cluster.State)
		}
	}
	g.Expect(order).To(Equal(clusterStates()))
}

func TestStepsOfARollbackThatBeganAtTheFence(t *testing.T) {
	g := NewWithT(t)
	cluster := one("theta")
	cluster.Status.Step, cluster.Status.Rollback.MachineControllerRevertedAt = ucv1.StepRollbackFence, nil
	g.Expect(stepsOf(cluster)[0].State).To(Equal(stepOpen), "nothing is known of it")
	g.Expect(stepsOf(cluster)[2].State).To(Equal(stepCurrent))
	g.Expect(stepsOf(cluster)[3].State).To(Equal(stepOpen))
}

func TestNoCluster(t *testing.T) {
	g, out := NewWithT(t), &bytes.Buffer{}
	g.Expect(newFleetReport(nil).text(out, terminal.Screen{Width: terminal.FileWidth}, noon())).To(Succeed())
	g.Expect(out.String()).To(Equal("There is no Cluster here.\n"))
	out.Reset()
	g.Expect(terminal.Write(out, "json", newFleetReport(nil), func(io.Writer) error { return nil })).To(Succeed())
	g.Expect(out.String()).To(ContainSubstring(`"clusters": []`))
}

func TestNamesMayHaveTheirNamespace(t *testing.T) {
	g, m := NewWithT(t), &management.Access{Namespace: "default"}
	g.Expect(m.Named("alpha")).To(Equal("alpha"))
	g.Expect(m.Namespace).To(Equal("default"))
	g.Expect(m.Named("user-alpha/alpha")).To(Equal("alpha"))
	g.Expect(m.Namespace).To(Equal("user-alpha"))
}

// A Cluster that waits for its turn is Ready, and not done; one whose turn never comes by itself needs a person.
func TestQueuedClusters(t *testing.T) {
	for reason, state := range map[string]clusterState{
		ucv1.QueuedReason: isQueued, ucv1.UnmanagedStartsReason: isQueued,
		ucv1.FleetMigrationGoneReason: needsYou, ucv1.NotSelectedReason: needsYou, ucv1.NoFleetMigrationReason: needsYou,
	} {
		g := NewWithT(t)
		c := &ucv1.Cluster{}
		c.Namespace, c.Name, c.Spec.Features.ExternalCloudProvider = "user", "one", new(true)
		c.Status.Step, c.Status.Origin = ucv1.StepAdmitted, ucv1.OriginMigrating
		c.Status.Conditions = []metav1.Condition{
			{Type: ucv1.ReadyCondition, Status: metav1.ConditionTrue, Reason: ucv1.QueuedReason, Message: "It waits."},
			{Type: ucv1.AdmittedCondition, Status: metav1.ConditionFalse, Reason: reason, Message: "It waits for its turn."},
		}
		what := blockerOf(c)
		g.Expect(what.State).To(Equal(state), reason)
		g.Expect(what.Reason).To(Equal(reason))
		g.Expect(what.Message).To(ContainSubstring("It waits for its turn."))
	}
}
