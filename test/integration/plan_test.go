package integration_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/audit"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// planner runs the command as an administrator of the management cluster, who is told apart in its audit log.
func (w *world) planner() (run func(arguments ...string) (string, int), name string) {
	w.t.Helper()
	name = "planner-" + w.namespace
	line := w.commandLineOf(name, "system:masters", auditedGroup)
	return func(arguments ...string) (string, int) {
		return line.run(slices.Concat([]string{"plan", w.namespace + "/" + alpha}, arguments)...)
	}, name
}

func planOf(t *testing.T, run func(...string) (string, int)) plan.Plan {
	t.Helper()
	g := NewWithT(t)
	out, code := run("-o=json")
	g.Expect(code).To(BeZero(), out)
	made := plan.Plan{}
	g.Expect(json.Unmarshal([]byte(out), &made)).To(Succeed(), out)
	return made
}

// plannedWorld is an in-tree cluster whose feature is off.
func plannedWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("small", 1)
	w.pool("large", 2)
	w.playKCM(kcm + "-r1-0")
	w.create()
	w.pass()
	return w
}

func TestPlanOnlyReads(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := plannedWorld(t)
	run, planner := w.planner()
	management, user := w.snapshot(), w.userSnapshot()
	marks := map[string]auditMark{
		"management": suite.management.markAudit(t), "user": w.user.markAudit(t),
	}
	made := planOf(t, run)
	g.Expect(made.Outcome.State).To(Equal(plan.Finishes), "%+v", made.Outcome)
	for _, format := range []string{"text", "yaml", "html"} {
		out, code := run("-o=" + format)
		g.Expect(code).To(BeZero(), out)
		g.Expect(out).To(And(ContainSubstring(made.Digest), ContainSubstring("MachineDeployment kube-system/small")), format)
		for _, key := range []string{"endpoint", "token"} {
			g.Expect(out).NotTo(ContainSubstring(string(simcloudConfig()[key])), "the value of %s", key)
		}
	}
	dry := 0
	for name, who := range map[string]string{"management": planner, "user": "ccm-migration-controller"} {
		all, trials, writes := audit.Count(marks[name].since(t), who)
		g.Expect(all).NotTo(BeZero(), name)
		dry += trials
		g.Expect(writes).To(BeEmpty(), "the audit log of the %s cluster", name)
	}
	g.Expect(dry).To(BeNumerically(">", 20), "objects were compared by dry runs")
	g.Expect(w.snapshot()).To(Equal(management))
	g.Expect(w.userSnapshot()).To(Equal(user))
}

func TestPlanIsWhatHappens(t *testing.T) {
	t.Parallel()
	for name, configure := range map[string]func(*ucv1.Cluster){
		"protocol Fenced":     func(*ucv1.Cluster) {},
		"protocol Serialized": func(c *ucv1.Cluster) { c.Spec.Handover.Protocol = ucv1.SerializedProtocolChoice },
		"a canary first":      func(c *ucv1.Cluster) { c.Spec.Rollout.Canary = ucv1.CanaryMachine },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			w := plannedWorld(t)
			w.edit(configure)
			run, _ := w.planner()
			made := planOf(t, run)
			w.edit(feature(true))
			for _, step := range []ucv1.Step{ucv1.StepHandover, ucv1.StepRoll, ucv1.StepFinished} {
				w.until("step "+string(step), at(step), w.playControlPlane, w.playAddons, w.playMachines, w.playCanary, w.playNewestKCM)
			}
			g.Expect(done(w.status())).To(Equal(planned(made)))
			g.Expect(w.status().PointOfNoReturnAt).NotTo(BeNil())
			g.Expect(made.PointOfNoReturn.Step).To(Equal(ucv1.StepComplete))
			replaced := 0
			for _, rollout := range made.Rollouts {
				replaced += len(rollout.Machines)
				for _, machine := range rollout.Machines {
					g.Expect(w.machineNames()).NotTo(ContainElement(strings.TrimPrefix(machine, "kube-system/")), "it was replaced")
				}
			}
			g.Expect(replaced).To(Equal(len(w.machineNames())))
		})
	}
}

// playNewestKCM has the newest pod of KCM lead.
func (w *world) playNewestKCM() { w.playKCM(w.pods(kcm)[len(w.pods(kcm))-1].Name) }

// done is what the timeline says was done, in the form of planned.
func done(status ucv1.ClusterStatus) []string {
	var lines []string
	for _, entry := range status.Timeline {
		if entry.Kind == ucv1.TimelineAction {
			lines = appendVerb(lines, entry.Action, entry.Objects)
		}
	}
	return besideLast(lines)
}

func planned(made plan.Plan) []string {
	var lines []string
	for _, verb := range made.Actions {
		objects := make([]string, 0, len(verb.Objects))
		for _, object := range verb.Objects {
			objects = append(objects, object.Object)
		}
		// The timeline names ten at most.
		lines = appendVerb(lines, string(verb.Kind), objects[:min(len(objects), 10)])
	}
	return besideLast(lines)
}

// besideLast puts what goes on beside the roll at the end, sorted: no one can know before between which others.
func besideLast(lines []string) []string {
	isBeside := func(line string) bool {
		kind, _, _ := strings.Cut(line, " ")
		return slices.Contains([]outcome.ActionKind{outcome.ActionRemoveCanary, outcome.ActionReturnMinReady}, outcome.ActionKind(kind))
	}
	var beside []string
	for _, line := range lines {
		if isBeside(line) {
			beside = append(beside, line)
		}
	}
	return append(slices.DeleteFunc(lines, isBeside), slices.Sorted(slices.Values(beside))...)
}

// appendVerb leaves out what is only done when there is something to clear up, and names each MachineDeployment by itself.
func appendVerb(lines []string, kind string, objects []string) []string {
	switch outcome.ActionKind(kind) {
	case outcome.ActionRestoreAnnotations,
		outcome.ActionFreeLease,
		outcome.ActionGrantLease,
		outcome.ActionRevokeLease,
		outcome.ActionReleaseCCMLease,
		outcome.ActionKeepLeader,
		outcome.ActionMarkMachines,
		outcome.ActionStepMachineSet:
		return lines
	case outcome.ActionTakeBaseline, outcome.ActionCreateCanary:
		// The plan names what is made, the timeline what it is made from.
		return append(lines, kind)
	case outcome.ActionRollMachineDeployment, outcome.ActionReturnMinReady, outcome.ActionRemoveCanary:
		for _, object := range objects {
			lines = append(lines, kind+" "+object)
		}
		return lines
	default:
		return append(lines, kind+" "+strings.Join(slices.Sorted(slices.Values(objects)), ", "))
	}
}

func TestPlanOnlyStartsWithTheApprovedPlan(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := plannedWorld(t)
	run, _ := w.planner()
	before := planOf(t, run)
	w.edit(func(c *ucv1.Cluster) { c.Spec.Mode = ucv1.PlanOnlyMode })
	w.edit(feature(true))
	w.until("a plan", func(c *ucv1.Cluster) bool { return c.Status.Plan != nil })
	first := w.status().Plan
	g.Expect(first.Digest).To(Equal(before.Digest), "the plan of the command, before the feature was on")
	g.Expect(w.condition("Ready").Reason).To(Equal("WaitingForApproval"))
	w.expectVerdict(kstatus.InProgressStatus)

	management, user := w.snapshot(), w.userSnapshot()
	for range 5 {
		// The API server's clock stands still for the plan; with minutes between them it would be another one, with another finding.
		w.clock.Step(30 * time.Second)
		w.playLeaders()
		w.pass()
	}
	g.Expect(w.status().Plan).To(Equal(first), "nothing changed")
	g.Expect(w.status().StartedAt).To(BeNil())
	g.Expect(w.snapshot()).To(Equal(management))
	g.Expect(w.userSnapshot()).To(Equal(user))

	w.edit(func(c *ucv1.Cluster) { c.Spec.Approval.PlanDigest = first.Digest })
	extra := w.pool("extra", 1)
	w.passes(2)
	g.Expect(w.condition("Ready").Reason).To(Equal("PlanNotApproved"), "it has one more MachineDeployment")
	w.expectVerdict(kstatus.FailedStatus)
	g.Expect(w.status().StartedAt).To(BeNil())

	g.Expect(w.user.client.Delete(t.Context(), extra)).To(Succeed())
	w.removePool("extra")
	w.until("the start", func(c *ucv1.Cluster) bool { return c.Status.StartedAt != nil })
	g.Expect(w.status().Plan.Digest).To(Equal(first.Digest), "what it started with")
}

func TestPlanNamesBudgetsThatAllowNothing(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := plannedWorld(t)
	labels := map[string]string{"app": "web"}
	w.userPod("web", "small-0-0", labels)
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}},
	}
	g.Expect(w.user.client.Create(t.Context(), budget)).To(Succeed())
	t.Cleanup(func() { g.Expect(w.user.client.Delete(context.WithoutCancel(t.Context()), budget)).To(Succeed()) })
	run, _ := w.planner()
	made := planOf(t, run)
	g.Expect(made.Rollouts).NotTo(BeEmpty(), "%+v", made.Outcome)
	g.Expect(made.Rollouts[0].Pods).To(HaveValue(Equal(1)))
	g.Expect(made.Rollouts[0].Budgets).To(ConsistOf(plan.Budget{Name: "default/web", Pods: 1}))
}

// userPod makes a pod of the user cluster that runs on a Node.
func (w *world) userPod(name, node string, labels map[string]string) {
	w.t.Helper()
	g := NewWithT(w.t)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: name, Image: "registry.example/" + name}}},
	}
	g.Expect(w.user.client.Create(w.t.Context(), pod)).To(Succeed())
	w.t.Cleanup(func() {
		g.Expect(w.user.client.Delete(context.Background(), pod, client.GracePeriodSeconds(0))).To(Succeed())
	})
}

// removePool takes out the Machines and MachineSets of a MachineDeployment that was deleted, with their Nodes.
func (w *world) removePool(name string) {
	w.t.Helper()
	g := NewWithT(w.t)
	sets := &machines.MachineSetList{}
	g.Expect(w.user.client.List(w.t.Context(), sets, client.MatchingLabels{"pool": name})).To(Succeed())
	for i := range sets.Items {
		w.removeMachines(&sets.Items[i])
		g.Expect(w.user.client.Delete(w.t.Context(), &sets.Items[i])).To(Succeed())
	}
}
