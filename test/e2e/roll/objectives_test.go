package roll_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

const slowPool = "pool"

// haltsWhenViolated: both Nodes of a roll wait for the cloud for more than a minute.
func (h *rolls) haltsWhenViolated(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	former := h.startSlowRoll(ctx, s, u)
	h.WaitForCluster(ctx, s, u, "the objectives to be violated", func(cluster *ucv1.Cluster) string {
		if measured := cluster.Status.SLO; measured == nil || measured.ViolatedAt == nil {
			return fmt.Sprintf("it is %+v", measured)
		}
		return ""
	})
	h.Cloud.ClearFaultsOf(u.Options.Name)
	// A Node that misses the breaker's deadline, too, is the nearer reason until it is initialized.
	cluster := h.WaitForCluster(ctx, s, u, "the objectives to halt it", func(cluster *ucv1.Cluster) string {
		if stalled := stalledOf(cluster); stalled.Reason != ucv1.SLOViolatedReason {
			return fmt.Sprintf("Stalled is %q: %s, %+v", stalled.Reason, stalled.Message, cluster.Status.SLO)
		}
		return ""
	})
	message := stalledOf(cluster).Message
	s.Logf("%s", message)
	s.Expect(message).To(And(
		ContainSubstring("TaintRemoval: 2 of 2 took more than 1m0s"), ContainSubstring("spec.slo.countSince")))
	made := h.externalMachines(ctx, s, u)
	s.Expect(made).To(HaveLen(2))
	for _, machine := range made {
		s.Expect(message).To(ContainSubstring("Node "+machine.Name+", at least 1m"), "its Node is named")
	}
	s.Expect(cluster.Status.SLO.ViolatedAt).NotTo(BeNil())
	h.expectHalted(ctx, s, u, former)

	h.Patch(ctx, s, u, `{"spec":{"slo":{"countSince":%q}}}`, time.Now().UTC().Format(time.RFC3339))
	isDone := suite.IsTrue(ucv1.CSIKubeletMigrationCompletedCondition)
	cluster = h.WaitForCluster(ctx, s, u, "the end of its migration", isDone)
	h.expectGivenBack(ctx, s, u, slowPool)
	s.Expect(cluster.Status.SLO.ViolatedAt).To(BeNil())
	s.Expect(actionsOf(cluster)).To(ContainElement("StepMachineSet"))
}

// startSlowRoll of a MachineDeployment that makes both its Machines at once. It returns the Machines that are to be
// replaced.
func (h *rolls) startSlowRoll(ctx context.Context, s *suite.Scene, u *bed.UserCluster) []string {
	GinkgoHelper()
	twice := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":2,"strategy":{
		"type":"RollingUpdate","rollingUpdate":{"maxSurge":2,"maxUnavailable":0}}}}`))
	s.Expect(u.Client.Patch(ctx, bed.MachineDeployment(slowPool, 0), twice)).To(Succeed())
	h.NodesJoin(ctx, s, u, 2)
	former := h.machines(ctx, s, u)
	deadline := int(suite.SlowDeadline.Seconds())
	h.Patch(ctx, s, u, `{"spec":{"rollout":{"initializationDeadlineSeconds":%d}}}`, deadline)
	h.Flip(ctx, s, u)
	h.beforeRoll(ctx, s, u)
	h.Cloud.AddFault(simcloud.Fault{
		Cluster: u.Options.Name, Method: "InstanceMetadata", LatencyMS: suite.TooSlow.Milliseconds(),
	})
	return former
}

// expectHalted: although the new Nodes are initialized and would count as available, all former Machines stay.
func (h *rolls) expectHalted(ctx context.Context, s *suite.Scene, u *bed.UserCluster, former []string) {
	GinkgoHelper()
	s.Expect(h.minReadyIsOurs(h.pool(ctx, s, u, slowPool))).To(BeTrue())
	var rolled error
	what := "some time of Nodes that are initialized"
	s.Expect(h.WaitFor(ctx, what, suite.Patience, func(ctx context.Context) (string, error) {
		now := h.machines(ctx, s, u)
		isGone := func(name string) bool { return !slices.Contains(now, name) }
		if len(now) != 4 || slices.ContainsFunc(former, isGone) {
			rolled = fmt.Errorf("the Machines are %v, and were %v", now, former)
			return "", nil
		}
		nodes := &corev1.NodeList{}
		if err := u.Client.List(ctx, nodes); err != nil {
			return "", err
		}
		for _, node := range nodes.Items {
			if isUninitialized(node) || time.Since(node.CreationTimestamp.Time) < suite.SlowDeadline+suite.HeldTime {
				return "Node " + node.Name + " is not initialized, or too young", nil
			}
		}
		return "", nil
	})).To(Succeed())
	s.Expect(rolled).NotTo(HaveOccurred())
	s.Expect(stalledOf(suite.Cluster(ctx, s, u)).Reason).To(Equal(ucv1.SLOViolatedReason), "it does not end by itself")
}

func (h *rolls) externalMachines(ctx context.Context, s *suite.Scene, u *bed.UserCluster) []machines.Machine {
	GinkgoHelper()
	list := &machines.MachineList{}
	s.Expect(u.Client.List(ctx, list)).To(Succeed())
	return external(list.Items)
}

// stalledOf is the condition Stalled, or an empty one.
func stalledOf(cluster *ucv1.Cluster) (condition struct{ Reason, Message string }) {
	if stalled := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.StalledCondition); stalled != nil {
		condition.Reason, condition.Message = stalled.Reason, stalled.Message
	}
	return condition
}

func actionsOf(cluster *ucv1.Cluster) []string {
	var actions []string
	for _, entry := range cluster.Status.Timeline {
		if entry.Kind == ucv1.TimelineAction {
			actions = append(actions, entry.Action)
		}
	}
	return actions
}
