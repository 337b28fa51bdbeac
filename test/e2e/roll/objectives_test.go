package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

const (
	slowPool = "pool"
	// slowDeadline is longer than the minute of the objectives, which are violated first; slowGuard is our minReadySeconds then.
	slowDeadline = 70
	slowGuard    = 105 * time.Second
	// tooSlow is longer than the CCM waits for an answer.
	tooSlow = 20 * time.Second
)

// haltsWhenViolated: both Nodes of a roll wait for the cloud for more than a minute.
func (h *handovers) haltsWhenViolated(t *testing.T) {
	t.Parallel()
	g, u := NewWithT(t), h.clusters["slow"]
	former := h.startSlowRoll(t, u)
	waitForCluster(t, h.Bed, u, "the objectives to be violated", func(cluster *ucv1.Cluster) string {
		if measured := cluster.Status.SLO; measured == nil || measured.ViolatedAt == nil {
			return fmt.Sprintf("it is %+v", measured)
		}
		return ""
	})
	h.Cloud.ClearFaultsOf(u.Options.Name)
	// A Node that misses the breaker's deadline, too, is the nearer reason until it is initialized.
	cluster := waitForCluster(t, h.Bed, u, "the objectives to halt it", func(cluster *ucv1.Cluster) string {
		if stalled := stalledOf(cluster); stalled.Reason != ucv1.SLOViolatedReason {
			return fmt.Sprintf("Stalled is %q: %s, %+v", stalled.Reason, stalled.Message, cluster.Status.SLO)
		}
		return ""
	})
	message := stalledOf(cluster).Message
	t.Log(message)
	g.Expect(message).To(And(ContainSubstring("TaintRemoval: 2 of 2 took more than 1m0s"), ContainSubstring("spec.slo.countSince")))
	made := h.externalMachines(t, u)
	g.Expect(made).To(HaveLen(2))
	for _, machine := range made {
		g.Expect(message).To(ContainSubstring("Node "+machine.Name+", at least 1m"), "its Node is named")
	}
	g.Expect(cluster.Status.SLO.ViolatedAt).NotTo(BeNil())
	h.expectHalted(t, u, former)

	patch := fmt.Appendf(nil, `{"spec":{"slo":{"countSince":%q}}}`, time.Now().UTC().Format(time.RFC3339))
	g.Expect(h.Client.Patch(t.Context(), u.NewCluster(false), client.RawPatch(types.MergePatchType, patch))).To(Succeed())
	cluster = waitForCluster(t, h.Bed, u, "the end of its migration", isTrue(ucv1.CSIKubeletMigrationCompletedCondition))
	h.expectGivenBack(t, u, slowPool)
	g.Expect(cluster.Status.SLO.ViolatedAt).To(BeNil())
	g.Expect(verbsOf(cluster)).To(ContainElements("PauseMachineDeployment", "UnpauseMachineDeployment"))
}

// startSlowRoll of a MachineDeployment that makes both its Machines at once. It returns the Machines that are to be replaced.
func (h *handovers) startSlowRoll(t *testing.T, u *bed.UserCluster) []string {
	t.Helper()
	g := NewWithT(t)
	twice := []byte(`{"spec":{"replicas":2,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":2,"maxUnavailable":0}}}}`)
	g.Expect(u.Client.Patch(t.Context(), bed.MachineDeployment(slowPool, 0), client.RawPatch(types.MergePatchType, twice))).To(Succeed())
	g.Expect(h.nodesJoin(t.Context(), u, 2)).To(Succeed())
	former := h.machines(t.Context(), t, u)
	patch := fmt.Appendf(nil, `{"spec":{"rollout":{"initializationDeadlineSeconds":%d}}}`, slowDeadline)
	g.Expect(h.Client.Patch(t.Context(), u.NewCluster(false), client.RawPatch(types.MergePatchType, patch))).To(Succeed())
	h.flip(t, u)
	waitForCluster(t, h.Bed, u, "the moment before its roll", func(cluster *ucv1.Cluster) string {
		if cluster.Status.RollGeneration == "" {
			return "step " + string(cluster.Status.Step)
		}
		return ""
	})
	h.Cloud.AddFault(simcloud.Fault{Cluster: u.Options.Name, Method: "InstanceMetadata", LatencyMS: tooSlow.Milliseconds()})
	return former
}

// expectHalted: although the new Nodes are initialized and would count as available, all former Machines stay.
func (h *handovers) expectHalted(t *testing.T, u *bed.UserCluster, former []string) {
	t.Helper()
	g := NewWithT(t)
	g.Eventually(func() bool { return h.pool(t, u, slowPool).Spec.Paused }).WithTimeout(patience).WithPolling(pollTime).Should(BeTrue())
	g.Expect(h.breakersFields(h.pool(t, u, slowPool))).To(ConsistOf("f:minReadySeconds", "f:paused"))
	var rolled error
	g.Expect(h.WaitFor(t.Context(), "minReadySeconds of Nodes that are initialized", patience, func(ctx context.Context) (string, error) {
		if now := h.machines(ctx, t, u); len(now) != 4 || slices.ContainsFunc(former, func(name string) bool { return !slices.Contains(now, name) }) {
			rolled = fmt.Errorf("the Machines are %v, and were %v", now, former)
			return "", nil
		}
		nodes := &corev1.NodeList{}
		if err := u.Client.List(ctx, nodes); err != nil {
			return "", err
		}
		for _, node := range nodes.Items {
			tainted := slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == machines.UninitializedTaint })
			if tainted || time.Since(node.CreationTimestamp.Time) < slowGuard+15*time.Second {
				return "Node " + node.Name + " is not initialized, or too young", nil
			}
		}
		return "", nil
	})).To(Succeed())
	g.Expect(rolled).NotTo(HaveOccurred())
	cluster, err := u.Get(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(stalledOf(cluster).Reason).To(Equal(ucv1.SLOViolatedReason), "it does not end by itself")
}

func (h *handovers) externalMachines(t *testing.T, u *bed.UserCluster) []machines.Machine {
	t.Helper()
	list := &machines.MachineList{}
	NewWithT(t).Expect(u.Client.List(t.Context(), list)).To(Succeed())
	return slices.DeleteFunc(list.Items, func(machine machines.Machine) bool {
		return machine.Annotations[ucv1.ExternalCloudProviderAnnotation] != "true"
	})
}

// stalledOf is the condition Stalled, or an empty one.
func stalledOf(cluster *ucv1.Cluster) (condition struct{ Reason, Message string }) {
	if stalled := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.StalledCondition); stalled != nil {
		condition.Reason, condition.Message = stalled.Reason, stalled.Message
	}
	return condition
}

func verbsOf(cluster *ucv1.Cluster) []string {
	var verbs []string
	for _, entry := range cluster.Status.Timeline {
		if entry.Kind == ucv1.TimelineVerb {
			verbs = append(verbs, entry.Verb)
		}
	}
	return verbs
}
