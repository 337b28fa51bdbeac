package roll_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/audit"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

const (
	heldPool = "held"
	// mostEntries of a timeline; one that is full has lost actions.
	mostEntries = 80
)

// plans tells of a user cluster about which the built program is asked what a migration would do, as an operator does.
// It is migrated then, and both are compared.
func (h *rolls) plans(
	options bed.UserClusterOptions, prepare func(context.Context, *suite.Scene, *bed.UserCluster),
) func(context.Context, *suite.Scene) {
	return h.With(options, func(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
		if prepare != nil {
			prepare(ctx, s, u)
		}
		// The breaker is for what is not planned; a busy machine must not trip it.
		h.Patch(ctx, s, u, `{"spec":{"rollout":{"initializationDeadlineSeconds":60}}}`)
		h.WaitForCluster(ctx, s, u, "a first look", func(cluster *ucv1.Cluster) string {
			if cluster.Status.Step != ucv1.StepInTree {
				return "there was none"
			}
			return ""
		})
		defer h.serveVolumes(ctx, u)()
		h.expectPlanned(ctx, s, u, h.plan(ctx, s, u))
	})
}

// withCanary has two MachineDeployments of different sizes, and a canary before both.
func (h *rolls) withCanary(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	GinkgoHelper()
	s.Expect(u.Client.Create(ctx, bed.MachineDeployment(brokenPool, 2))).To(Succeed())
	h.NodesJoin(ctx, s, u, 3)
	h.Patch(ctx, s, u, `{"spec":{"rollout":{"canary":"Machine"}}}`)
}

// withPausedPool has one MachineDeployment that its owner paused.
func (h *rolls) withPausedPool(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	GinkgoHelper()
	held := bed.MachineDeployment(heldPool, 1)
	s.Expect(u.Client.Create(ctx, held)).To(Succeed())
	h.NodesJoin(ctx, s, u, 2)
	pause := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"paused":true}}`))
	s.Expect(u.Client.Patch(ctx, held, pause)).To(Succeed())
}

// kubeconfigOf an operator, who may read everything in the management cluster and change nothing.
func (h *rolls) kubeconfigOf(ctx context.Context, s *suite.Scene, operator string) string {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: operator}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}},
	}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: operator},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: operator},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: operator}},
	}
	for _, object := range []client.Object{role, binding} {
		s.Expect(h.Client.Create(ctx, object)).To(Succeed())
	}
	config, err := h.Management.ClientCert(operator)
	s.Expect(err).NotTo(HaveOccurred())
	path, err := h.WriteKubeconfig(operator, h.Management, config)
	s.Expect(err).NotTo(HaveOccurred())
	return path
}

// plan runs the program as an operator of its own, and counts what it asked of both API servers. In the user cluster
// it is the manager by its name, who does nothing there before the feature is on.
func (h *rolls) plan(ctx context.Context, s *suite.Scene, u *bed.UserCluster) plan.Plan {
	GinkgoHelper()
	operator, home := "operator-of-"+u.Options.Name, h.File("homes", u.Options.Name)
	s.Expect(os.MkdirAll(home, 0o755)).To(Succeed())
	kubeconfig := h.kubeconfigOf(ctx, s, operator)
	management, user := h.mark(s, h.Management.AuditLog()), h.mark(s, u.AuditLog())
	out, problems := &bytes.Buffer{}, &bytes.Buffer{}
	program := filepath.Join(h.Options().BinDir, "ccm-migration-controller")
	command := exec.CommandContext(ctx, program, "plan", u.Namespace+"/"+u.Options.Name, "-o", "json")
	command.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=" + home}
	command.Stdout, command.Stderr = out, problems
	s.Expect(command.Run()).To(Succeed(), "%s", problems)
	made := plan.Plan{}
	decoder := json.NewDecoder(out)
	decoder.DisallowUnknownFields()
	s.Expect(decoder.Decode(&made)).To(Succeed())
	s.Logf("%s: %s, %d actions, %s %s",
		u.Options.Name, made.Protocol, len(made.Actions), made.Outcome.State, made.Outcome.Reason)

	asked, _, writes := audit.Count(h.since(ctx, s, h.Client, h.Management.AuditLog(), management), operator)
	s.Expect(asked).NotTo(BeZero())
	s.Expect(writes).To(BeEmpty(), "in the management cluster")
	asked, dry, writes := audit.Count(h.since(ctx, s, u.Client, u.AuditLog(), user), bed.ManagerUser)
	s.Logf("%s: %d requests to the user cluster, %d dry runs, writes: %v", u.Options.Name, asked, dry, writes)
	s.Expect(dry).To(BeNumerically(">", 10), "objects are compared by dry runs")
	s.Expect(writes).To(BeEmpty(), "in the user cluster")
	return made
}

func (h *rolls) mark(s *suite.Scene, log audit.Log) int64 {
	GinkgoHelper()
	mark, err := log.Mark()
	s.Expect(err).NotTo(HaveOccurred())
	return mark
}

// since are the requests behind a mark. A last one of ours shows that those before it are in the log.
func (h *rolls) since(
	ctx context.Context, s *suite.Scene, c client.Client, log audit.Log, mark int64,
) []audit.Event {
	GinkgoHelper()
	const last = "the-last-request"
	s.Expect(c.List(ctx, &corev1.NamespaceList{}, client.MatchingLabels{last: ""})).To(Succeed())
	var events []audit.Event
	s.Eventually(func() bool {
		var err error
		events, err = log.Since(mark)
		isLast := func(e audit.Event) bool { return strings.Contains(e.RequestURI, last) }
		return err == nil && slices.ContainsFunc(events, isLast)
	}).WithContext(ctx).WithTimeout(suite.Patience).WithPolling(suite.PollTime).
		Should(BeTrue(), "the last request is in the log")
	return events
}

func (h *rolls) expectPlanned(ctx context.Context, s *suite.Scene, u *bed.UserCluster, made plan.Plan) {
	GinkgoHelper()
	before := h.machines(ctx, s, u)
	h.Flip(ctx, s, u)
	h.WaitForCluster(ctx, s, u, "the planned end", func(cluster *ucv1.Cluster) string {
		reason, ready := stalledOf(cluster).Reason, meta.FindStatusCondition(cluster.Status.Conditions, ucv1.ReadyCondition)
		if made.Outcome.State == plan.Waits && reason == "" {
			reason = ready.Reason
		}
		if cluster.Status.Step == made.Outcome.Step && reason == made.Outcome.Reason {
			return ""
		}
		return fmt.Sprintf("step %s, %s: %s", cluster.Status.Step, reason, ready.Message)
	})
	status := suite.Cluster(ctx, s, u).Status
	s.Expect(status.Handover.Protocol).To(Equal(made.Protocol))
	s.Expect(len(status.Timeline)).To(BeNumerically("<", mostEntries), "nothing was dropped from it")
	s.Expect(besideLast(done(status.Timeline))).To(Equal(besideLast(sequence(made.Actions))))
	expectPointOfNoReturn(s, status, made)

	var replaced []string
	for _, rollout := range made.Rollouts {
		replaced = append(replaced, rollout.Machines...)
	}
	after := h.machines(ctx, s, u)
	gone := slices.DeleteFunc(before, func(name string) bool { return slices.Contains(after, name) })
	s.Expect(gone).To(ConsistOf(replaced), "the Machines that were replaced")
	s.Logf("%d actions, %d Machines were replaced", len(done(status.Timeline)), len(gone))
	if made.Outcome.State == plan.Waits {
		h.expectFewReads(ctx, s, u)
	}
}

// waitingWindow is longer than what is kept of a read, so that all of it is read again in it.
const waitingWindow = 60 * time.Second

// expectFewReads of a cluster that waits: every other second one.
func (h *rolls) expectFewReads(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	GinkgoHelper()
	mark, began := h.mark(s, u.AuditLog()), time.Now()
	s.Eventually(func() time.Duration { return time.Since(began) }).WithContext(ctx).WithTimeout(2 * waitingWindow).
		Should(BeNumerically(">=", waitingWindow))
	requests := audit.RequestsOf(h.since(ctx, s, u.Client, u.AuditLog(), mark), ucv1.FieldManager)
	s.Logf("%s waits: %d reads in %s: %v", u.Options.Name, requests.Reads(), waitingWindow, requests)
	s.Expect(requests.Reads()).To(BeNumerically("<=", waitingWindow.Seconds()/2), "%v", requests)
}

// expectPointOfNoReturn: times are of seconds, so that actions of one second with it may be on either side.
func expectPointOfNoReturn(s *suite.Scene, status ucv1.ClusterStatus, made plan.Plan) {
	GinkgoHelper()
	s.Expect(status.PointOfNoReturnAt != nil).To(Equal(made.PointOfNoReturn.Passed))
	if status.PointOfNoReturnAt == nil {
		return
	}
	before := slices.DeleteFunc(slices.Clone(status.Timeline), func(e ucv1.TimelineEntry) bool {
		return !e.Time.Before(status.PointOfNoReturnAt)
	})
	until := slices.DeleteFunc(slices.Clone(status.Timeline), func(e ucv1.TimelineEntry) bool {
		return status.PointOfNoReturnAt.Before(&e.Time)
	})
	count := func(lines []string) int { return len(besideLast(lines)) }
	early := slices.DeleteFunc(
		slices.Clone(made.Actions),
		func(action plan.Action) bool { return action.Number > made.PointOfNoReturn.Action },
	)
	s.Expect(count(sequence(early))).To(
		And(BeNumerically(">=", count(done(before))), BeNumerically("<=", count(done(until)))),
		"actions before the point of no return")
}

func (h *rolls) machines(ctx context.Context, s *suite.Scene, u *bed.UserCluster) []string {
	GinkgoHelper()
	list := &machines.MachineList{}
	s.Expect(u.Client.List(ctx, list)).To(Succeed())
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
		if entry.Kind == ucv1.TimelineAction {
			lines = appendAction(lines, entry.Action, entry.Objects)
		}
	}
	return lines
}

func sequence(actions []plan.Action) []string {
	var lines []string
	for _, action := range actions {
		var objects []string
		for _, object := range action.Objects {
			objects = append(objects, object.Object)
		}
		if action.Conditional == "" {
			// The timeline names ten at most.
			lines = appendAction(lines, string(action.Kind), objects[:min(len(objects), 10)])
		}
	}
	return lines
}

// besideLast puts what goes on beside the roll at the end, sorted: between which others cannot be known before.
func besideLast(lines []string) []string {
	isBeside := func(line string) bool {
		kind, _, _ := strings.Cut(line, " ")
		return slices.Contains([]string{"RemoveCanary", "ReturnMinReady"}, kind)
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

// appendAction leaves out what is only done when there is something to clear up, and names each MachineDeployment by
// itself.
func appendAction(lines []string, kind string, objects []string) []string {
	switch kind {
	case "RestoreAnnotations",
		"FreeLease",
		"GrantLease",
		"RevokeLease",
		"ReleaseCCMLease",
		"ReleaseLock",
		"KeepLeader",
		"MarkMachines",
		"StepMachineSet":
		return lines
	case "TakeBaseline", "CreateCanary":
		// The plan names what is made, the timeline what it is made from.
		return append(lines, kind)
	case "RollMachineDeployment", "ReturnMinReady", "RemoveCanary":
		for _, object := range objects {
			lines = append(lines, kind+" "+object)
		}
		return lines
	}
	return append(lines, kind+" "+strings.Join(slices.Sorted(slices.Values(objects)), ", "))
}
