package report

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

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
			NewWithT(t).Expect(newFleetReport(manyTroubles(), &selection{}).text(out, s, noon())).To(Succeed())
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
		g.Expect(newFleetReport(clusters, &selection{}).text(out, s, now)).To(Succeed())
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
			g.Expect(terminal.Write(out, format, newFleetReport(fleet()[:3], &selection{}), nil)).To(Succeed())
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

// What no manager runs harms now; what has not begun can wait.
func TestTheWorstTroubleComesFirst(t *testing.T) {
	g, order := NewWithT(t), []trouble{}
	report := newFleetReport(manyTroubles(), &selection{})
	for i := range report.Clusters {
		if len(order) == 0 || order[len(order)-1] != report.Clusters[i].Trouble {
			order = append(order, report.Clusters[i].Trouble)
		}
	}
	g.Expect(order).To(Equal(troubles()))

	states := []clusterState{}
	for i := range report.Clusters {
		if one := &report.Clusters[i]; one.Trouble == noTrouble && !slices.Contains(states, one.State) {
			states = append(states, one.State)
		}
	}
	g.Expect(states).To(Equal(slices.DeleteFunc(clusterStates(), func(s clusterState) bool {
		return s == needsYou || s == cannotLook || s == isPaused
	})), "and those without trouble are in the order of their states")
}

// What cannot go on by itself is worse than what a look found, too.
func TestAFailureOutweighsFindings(t *testing.T) {
	c := clusterAt("delta", ucv1.OriginInTree, ucv1.StepInTree, lookedAhead, stalls(ucv1.LoopsOffAlreadyReason, "No cloud loop runs."))
	report := newClusterReport(&c)
	NewWithT(t).Expect(report.Blocking).NotTo(BeEmpty())
	NewWithT(t).Expect(report.Trouble).To(Equal(failed))
}

func TestAGroupHasTheSameTroubleForTheSameReason(t *testing.T) {
	g := NewWithT(t)
	report, next := newFleetReport(manyTroubles(), &selection{}), 0
	for _, group := range report.Groups {
		for range group.Clusters {
			g.Expect(groupOf(&report.Clusters[next]).key()).To(Equal(group.key()))
			next++
		}
	}
	g.Expect(report.Clusters[next].Trouble).To(Equal(noTrouble))
	g.Expect(report.Groups).To(ContainElement(clusterGroup{
		Trouble: findings, Reason: ucv1.PreflightFailedReason, Findings: []string{"NodeNotReady"}, Clusters: 5,
	}))
	found := slices.DeleteFunc(report.Groups, func(c clusterGroup) bool { return c.Trouble != findings })
	g.Expect(found[0].Clusters).To(Equal(5), "of one trouble, what most have is first")
}

func TestStatusOfSelectedClusters(t *testing.T) {
	for name, row := range map[string]struct {
		field string
		want  []string
	}{
		"by step":                  {"step=Roll", []string{"gamma", "alpha", "eta"}},
		"by state, not":            {"step=Roll,state!=Paused", []string{"gamma", "alpha"}},
		"by trouble":               {"trouble=CloudLoops", []string{"psi", "omega"}},
		"by reason":                {"reason=WaitingForMachines", []string{"theta", "alpha"}},
		"by FleetMigration":        {"fleetMigration=north,wave=prod", []string{"xi"}},
		"by what has no value":     {"step=", []string{"lambda"}},
		"by one Cluster with name": {"cluster=user-psi/psi", []string{"psi"}},
	} {
		t.Run(name, func(t *testing.T) {
			g, selected, got := NewWithT(t), &selection{fields: row.field}, []string{}
			g.Expect(selected.parse("", "")).To(Succeed())
			for _, one := range newFleetReport(fleet(), selected).Clusters {
				_, short, _ := strings.Cut(one.Cluster, "/")
				got = append(got, short)
			}
			g.Expect(got).To(ConsistOf(row.want))
		})
	}
}

func TestStatusByLabels(t *testing.T) {
	g := NewWithT(t)
	scheme, err := management.NewScheme()
	g.Expect(err).NotTo(HaveOccurred())
	first, second := one("alpha"), one("beta")
	first.Labels = map[string]string{"ring": "early"}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(first, second).Build()
	options := &statusOptions{selection: selection{labels: "ring=early"}}
	g.Expect(options.parse("", "")).To(Succeed())
	clusters, err := options.clusters(t.Context(), c)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(clusters).To(HaveLen(1))
	g.Expect(clusters[0].Name).To(Equal("alpha"))
}

func TestSelectionsThatAreRefused(t *testing.T) {
	for name, row := range map[string]struct {
		selected         selection
		named, namespace string
		message          string
	}{
		"a field that there is not": {selected: selection{fields: "status.step=Roll"}, message: `--field has no "status.step"; it has cluster, `},
		"no selector of fields":     {selected: selection{fields: "step"}, message: "read --field: "},
		"no selector of labels":     {selected: selection{labels: "a in b"}, message: "read --selector: "},
		"a name, too":               {selected: selection{labels: "a=b"}, named: "alpha", message: "a NAME is one Cluster already"},
		"a namespace, too":          {selected: selection{all: true}, namespace: "user-a", message: "exclude each other"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(row.selected.parse(row.named, row.namespace)).To(MatchError(ContainSubstring(row.message)))
		})
	}
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
	g.Expect(newFleetReport(nil, &selection{}).text(out, terminal.Screen{Width: terminal.FileWidth}, noon())).To(Succeed())
	g.Expect(out.String()).To(Equal("There is no Cluster here.\n"))
	out.Reset()
	selected := &selection{labels: "wave=one"}
	g.Expect(newFleetReport(nil, selected).text(out, terminal.Screen{Width: terminal.FileWidth}, noon())).To(Succeed())
	g.Expect(out.String()).To(Equal("No Cluster here is selected.\n"))
	out.Reset()
	g.Expect(terminal.Write(out, "json", newFleetReport(nil, &selection{}), func(io.Writer) error { return nil })).To(Succeed())
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
