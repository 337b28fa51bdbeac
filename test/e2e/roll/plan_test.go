package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/audit"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/csi"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

const (
	operator = "operator"
	heldPool = "held"
	// mostEntries of a timeline; one that is full has lost verbs.
	mostEntries = 50
)

// planned is what is compared of the program's output.
type planned struct {
	Protocol ucv1.HandoverProtocol
	Outcome  struct{ State, Step, Reason string }
	Verbs    []plannedVerb
	Rollouts []struct{ Machines []string }

	PointOfNoReturn struct {
		Passed    bool
		AfterVerb int
	}
}

type plannedVerb struct {
	Kind, Conditional string
	Objects           []struct{ Object string }
}

// TestPlan asks the built program what a migration would do, as an operator does, migrates, and compares.
func TestPlan(t *testing.T) {
	options, _ := bedOptions(t, "plan")
	options.Audited = true
	h := startWith(t, options,
		bed.UserClusterOptions{Name: "hosted"},
		bed.UserClusterOptions{Name: "beside", CCMBesideControlPlane: true},
		bed.UserClusterOptions{Name: "paused"},
		bed.UserClusterOptions{Name: "external", ControlPlaneNodes: 1},
	)
	defer expectStopped(t, h.Bed, h.Stop)
	h.withCanary(t, h.clusters["hosted"])
	h.withPausedPool(t, h.clusters["paused"])
	kubeconfig := h.operators(t)

	plans := map[string]planned{}
	for name, u := range h.clusters {
		// The breaker is for what nobody plans; a busy machine must not trip it.
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"rollout":{"initializationDeadlineSeconds":60}}}`))
		NewWithT(t).Expect(h.Client.Patch(t.Context(), u.NewCluster(false), patch)).To(Succeed())
		waitForCluster(t, h.Bed, u, "a first look", func(cluster *ucv1.Cluster) string {
			if cluster.Status.Step != ucv1.StepInTree {
				return "there was none"
			}
			return ""
		})
		plans[name] = h.plan(t, u, kubeconfig)
	}
	t.Run("what happens is what was planned", func(t *testing.T) {
		for name, made := range plans {
			t.Run(name, func(t *testing.T) { t.Parallel(); h.expectPlanned(t, h.clusters[name], made) })
		}
	})
	expectNothingRanTwice(t, h.Bed)
}

// withCanary has two MachineDeployments of different sizes, and a canary before both.
func (h *handovers) withCanary(t *testing.T, u *bed.UserCluster) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(u.Client.Create(t.Context(), bed.MachineDeployment(brokenPool, 2))).To(Succeed())
	g.Expect(h.nodesJoin(t.Context(), u, 3)).To(Succeed())
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"rollout":{"canary":"Machine"}}}`))
	g.Expect(h.Client.Patch(t.Context(), u.NewCluster(false), patch)).To(Succeed())
	ctx, cancel := context.WithCancel(t.Context())
	group := sync.WaitGroup{}
	group.Go(func() { _ = csi.ServeVolumes(ctx, u.Client, volumeClass) })
	t.Cleanup(func() { cancel(); group.Wait() })
}

// withPausedPool has one MachineDeployment that its owner paused.
func (h *handovers) withPausedPool(t *testing.T, u *bed.UserCluster) {
	t.Helper()
	g := NewWithT(t)
	held := bed.MachineDeployment(heldPool, 1)
	g.Expect(u.Client.Create(t.Context(), held)).To(Succeed())
	g.Expect(h.nodesJoin(t.Context(), u, 2)).To(Succeed())
	g.Expect(u.Client.Patch(t.Context(), held, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"paused":true}}`)))).To(Succeed())
}

// operators is the kubeconfig of somebody who may read everything in the management cluster, and change nothing.
func (h *handovers) operators(t *testing.T) string {
	t.Helper()
	g := NewWithT(t)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: operator}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}},
	}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: operator},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: operator},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: operator}},
	}
	for _, object := range []client.Object{role, binding} {
		g.Expect(h.Client.Create(t.Context(), object)).To(Succeed())
	}
	config, err := h.Management.ClientCert(operator)
	g.Expect(err).NotTo(HaveOccurred())
	path, err := h.WriteKubeconfig(operator, h.Management, config)
	g.Expect(err).NotTo(HaveOccurred())
	return path
}

// plan runs the program, and counts what it asked of both API servers. In the user cluster it is the manager by its name, who does
// nothing there before the feature is on.
func (h *handovers) plan(t *testing.T, u *bed.UserCluster, kubeconfig string) planned {
	t.Helper()
	g := NewWithT(t)
	management, user := h.mark(t, h.Management.AuditLog()), h.mark(t, u.AuditLog())
	out, problems := &bytes.Buffer{}, &bytes.Buffer{}
	command := exec.CommandContext(t.Context(), filepath.Join(binaries(t), "ccm-migration-controller"), "plan", u.Namespace+"/"+u.Options.Name, "-o", "json")
	command.Env, command.Stdout, command.Stderr = []string{"KUBECONFIG=" + kubeconfig, "HOME=" + t.TempDir()}, out, problems
	g.Expect(command.Run()).To(Succeed(), "%s", problems)
	made := planned{}
	g.Expect(json.Unmarshal(out.Bytes(), &made)).To(Succeed(), "%s", out)
	t.Logf("%s: %s, %d verbs, %s %s", u.Options.Name, made.Protocol, len(made.Verbs), made.Outcome.State, made.Outcome.Reason)

	asked, _, writes := audit.Count(h.since(t, h.Client, h.Management.AuditLog(), management), operator)
	g.Expect(asked).NotTo(BeZero())
	g.Expect(writes).To(BeEmpty(), "in the management cluster")
	asked, dry, writes := audit.Count(h.since(t, u.Client, u.AuditLog(), user), bed.ManagerUser)
	t.Logf("%s: %d requests to the user cluster, %d dry runs, writes: %v", u.Options.Name, asked, dry, writes)
	g.Expect(dry).To(BeNumerically(">", 10), "objects are compared by dry runs")
	g.Expect(writes).To(BeEmpty(), "in the user cluster")
	return made
}

func (h *handovers) mark(t *testing.T, log audit.Log) int64 {
	t.Helper()
	mark, err := log.Mark()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return mark
}

// since are the requests behind a mark. A last one of ours shows that those before it are in the log.
func (h *handovers) since(t *testing.T, c client.Client, log audit.Log, mark int64) []audit.Event {
	t.Helper()
	g := NewWithT(t)
	const last = "the-last-request"
	g.Expect(c.List(t.Context(), &corev1.NamespaceList{}, client.MatchingLabels{last: ""})).To(Succeed())
	var events []audit.Event
	g.Eventually(func() bool {
		var err error
		events, err = log.Since(mark)
		return err == nil && slices.ContainsFunc(events, func(e audit.Event) bool { return strings.Contains(e.RequestURI, last) })
	}).WithTimeout(patience).WithPolling(pollTime).Should(BeTrue(), "the last request is in the log")
	return events
}

func (h *handovers) expectPlanned(t *testing.T, u *bed.UserCluster, made planned) {
	t.Helper()
	g := NewWithT(t)
	before := h.machines(t.Context(), t, u)
	h.flip(t, u)
	waitForCluster(t, h.Bed, u, "the planned end", func(cluster *ucv1.Cluster) string {
		reason, ready := stalledOf(cluster).Reason, meta.FindStatusCondition(cluster.Status.Conditions, ucv1.ReadyCondition)
		if made.Outcome.State == "Waits" && reason == "" {
			reason = ready.Reason
		}
		if string(cluster.Status.Step) == made.Outcome.Step && reason == made.Outcome.Reason {
			return ""
		}
		return fmt.Sprintf("step %s, %s: %s", cluster.Status.Step, reason, ready.Message)
	})
	cluster, err := u.Get(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	status := cluster.Status
	g.Expect(status.Handover.Protocol).To(Equal(made.Protocol))
	g.Expect(len(status.Timeline)).To(BeNumerically("<", mostEntries), "nothing was dropped from it")
	g.Expect(besideLast(done(status.Timeline))).To(Equal(besideLast(sequence(made.Verbs))))
	expectPointOfNoReturn(t, status, made)

	var replaced []string
	for _, rollout := range made.Rollouts {
		replaced = append(replaced, rollout.Machines...)
	}
	after := h.machines(t.Context(), t, u)
	gone := slices.DeleteFunc(before, func(name string) bool { return slices.Contains(after, name) })
	g.Expect(gone).To(ConsistOf(replaced), "the Machines that were replaced")
	t.Logf("%d verbs, %d Machines were replaced", len(done(status.Timeline)), len(gone))
}

// expectPointOfNoReturn: times are of seconds, so that verbs of one second with it may be on either side.
func expectPointOfNoReturn(t *testing.T, status ucv1.ClusterStatus, made planned) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(status.PointOfNoReturnAt != nil).To(Equal(made.PointOfNoReturn.Passed))
	if status.PointOfNoReturnAt == nil {
		return
	}
	before := slices.DeleteFunc(slices.Clone(status.Timeline), func(e ucv1.TimelineEntry) bool { return !e.Time.Before(status.PointOfNoReturnAt) })
	until := slices.DeleteFunc(slices.Clone(status.Timeline), func(e ucv1.TimelineEntry) bool { return status.PointOfNoReturnAt.Before(&e.Time) })
	count := func(lines []string) int { return len(besideLast(lines)) }
	g.Expect(count(sequence(made.Verbs[:made.PointOfNoReturn.AfterVerb]))).To(
		And(BeNumerically(">=", count(done(before))), BeNumerically("<=", count(done(until)))), "verbs before the point of no return")
}

func (h *handovers) machines(ctx context.Context, t *testing.T, u *bed.UserCluster) []string {
	t.Helper()
	list := &machines.MachineList{}
	NewWithT(t).Expect(u.Client.List(ctx, list)).To(Succeed())
	var names []string
	for _, machine := range list.Items {
		names = append(names, machine.Namespace+"/"+machine.Name)
	}
	return names
}

// done is what the timeline says was done, in the form of sequence.
func done(timeline []ucv1.TimelineEntry) []string {
	var lines []string
	for _, entry := range timeline {
		if entry.Kind == ucv1.TimelineVerb {
			lines = appendVerb(lines, entry.Verb, entry.Objects)
		}
	}
	return lines
}

func sequence(verbs []plannedVerb) []string {
	var lines []string
	for _, verb := range verbs {
		var objects []string
		for _, object := range verb.Objects {
			objects = append(objects, object.Object)
		}
		if verb.Conditional == "" {
			// The timeline names ten at most.
			lines = appendVerb(lines, verb.Kind, objects[:min(len(objects), 10)])
		}
	}
	return lines
}

// besideLast puts what goes on beside the roll at the end, sorted: nobody can know before between which others.
func besideLast(lines []string) []string {
	isBeside := func(line string) bool {
		kind, _, _ := strings.Cut(line, " ")
		return slices.Contains([]string{"RemoveCanary", "OwnMinReady", "ReturnMinReady"}, kind)
	}
	var beside []string
	for _, line := range lines {
		if isBeside(line) {
			beside = append(beside, line)
		}
	}
	// What is done again at once, by a pass with an old status, changes nothing.
	return slices.Compact(append(slices.DeleteFunc(lines, isBeside), slices.Sorted(slices.Values(beside))...))
}

// appendVerb leaves out what is only done when there is something to clear up, and names each MachineDeployment by itself.
func appendVerb(lines []string, kind string, objects []string) []string {
	switch kind {
	case "RestoreAnnotations", "ReleaseKCMLease", "ReleaseCCMLease", "ReleaseLock", "KeepLeader":
		return lines
	case "TakeBaseline", "CreateCanary":
		// The plan names what is made, the timeline what it is made from.
		return append(lines, kind)
	case "RollMachineDeployment", "OwnMinReady", "ReturnMinReady", "RemoveCanary":
		for _, object := range objects {
			lines = append(lines, kind+" "+object)
		}
		return lines
	}
	return append(lines, kind+" "+strings.Join(slices.Sorted(slices.Values(objects)), ", "))
}
