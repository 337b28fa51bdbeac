package roll_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// limits of a pool: so many serve at least, and so many new Machines are not initialized at most.
type limits struct{ serving, unproven int }

// keepsWithinLimits rolls at once a pool without surge, one of which an old Node is no longer Ready, and a single Machine. At
// first the machine-controller's webhook refuses every Machine and every write of a MachineDeployment, as the cloud does not
// answer it.
func (h *rolls) keepsWithinLimits(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	const tight = "tight"
	bounds := map[string]limits{slowPool: {1, 1}, tight: {1, 1}, brokenPool: {2, 1}}
	for name, replicas := range map[string]int32{tight: 2, brokenPool: 3} {
		s.Expect(u.Client.Create(ctx, bed.MachineDeployment(name, replicas))).To(Succeed())
	}
	h.patchPool(ctx, s, u, tight, `{"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":0,"maxUnavailable":1}}}}`)
	h.NodesJoin(ctx, s, u, 6)
	former, last := h.machines(ctx, s, u), h.lastOf(ctx, s, u, brokenPool)
	// Nothing may be rolled until the cloud does not answer: half a second later, a Machine could have come before.
	h.Patch(ctx, s, u, `{"spec":{"rollout":{"maxConcurrent":"0%%","canary":"None"},"slo":{"onViolation":"Continue"}}}`)
	h.Flip(ctx, s, u)
	h.WaitForCluster(ctx, s, u, "that its budget holds the roll", func(cluster *ucv1.Cluster) string {
		ready := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.ReadyCondition)
		if cluster.Status.Step != ucv1.StepRoll || ready.Reason != ucv1.WaitingForBudgetReason {
			return fmt.Sprintf("step %s: %s", cluster.Status.Step, ready.Message)
		}
		return ""
	})
	h.Cloud.AddFault(simcloud.Fault{Cluster: u.Options.Name, Method: "ListInstances", ErrorStatus: http.StatusServiceUnavailable})
	h.Patch(ctx, s, u, `{"spec":{"rollout":{"maxConcurrent":"100%%"}}}`)
	seen := &extremes{bounds: bounds}
	stop := inBackground(ctx, func(ctx context.Context) { seen.watch(ctx, u) })
	defer stop()
	s.Consistently(
		func() []string { return h.machines(ctx, s, u) },
	).WithContext(ctx).WithTimeout(suite.HeldTime).WithPolling(suite.PollTime).
		Should(
			ConsistOf(former),
			"no Machine comes, and none goes",
		)
	s.Logf("while the webhook refuses: %s", stalledOrReady(suite.Cluster(ctx, s, u)))

	h.Cloud.ClearFaultsOf(u.Options.Name)
	h.waitForRoll(ctx, s, u, brokenPool)
	s.Expect(u.SilenceNode(ctx, last)).To(Succeed())
	h.WaitForCluster(ctx, s, u, "the end of its migration", suite.IsTrue(ucv1.CSIKubeletMigrationCompletedCondition))
	for pool := range bounds {
		h.expectGivenBack(ctx, s, u, pool)
	}
	stop()
	s.Logf("in %d looks, the fewest that served and the most that were not initialized: %v", seen.looks, seen.worst)
	s.Expect(seen.beyond).To(BeEmpty())
	s.Expect(seen.looks).To(BeNumerically(">", 100))
}

// goesOnWithoutManager: the manager ends before a new Machine of a pool with as much surge as Machines is proven. All of them
// come and serve, and no old one goes.
func (h *rolls) goesOnWithoutManager(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	h.patchPool(
		ctx,
		s,
		u,
		slowPool,
		`{"spec":{"replicas":3,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":3,"maxUnavailable":0}}}}`,
	)
	h.NodesJoin(ctx, s, u, 3)
	former := h.machines(ctx, s, u)
	h.Patch(ctx, s, u, `{"spec":{"rollout":{"canary":"None"}}}`)
	h.Flip(ctx, s, u)
	h.beforeRoll(ctx, s, u)
	h.Cloud.AddFault(
		simcloud.Fault{Cluster: u.Options.Name, Method: "InstanceMetadata", ErrorStatus: http.StatusInternalServerError},
	)
	h.waitForRoll(ctx, s, u, slowPool)
	h.ScaleManager(ctx, s, 0)
	h.NodesJoin(ctx, s, u, 6)
	h.Cloud.ClearFaultsOf(u.Options.Name)
	s.Expect(u.WakeCCM(ctx)).To(Succeed())
	s.Eventually(func() int { return h.served(ctx, s, u) }).
		WithContext(ctx).WithTimeout(suite.Patience).WithPolling(suite.PollTime).Should(Equal(6), "Nodes that serve")
	s.Consistently(
		func() []string { return h.machines(ctx, s, u) },
	).WithContext(ctx).WithTimeout(suite.HeldTime).WithPolling(suite.PollTime).
		Should(
			And(ContainElements(former), HaveLen(6)),
			"nothing was granted",
		)

	h.ScaleManager(ctx, s, 1)
	h.WaitForCluster(ctx, s, u, "the end of its migration", suite.IsTrue(ucv1.CSIKubeletMigrationCompletedCondition))
	h.expectGivenBack(ctx, s, u, slowPool)
}

// waitForRoll waits until a pool was told to roll. The real webhook keeps a refusal for five minutes, and is asked again a minute
// later.
func (h *rolls) waitForRoll(ctx context.Context, s *suite.Scene, u *bed.UserCluster, pool string) {
	GinkgoHelper()
	patience := suite.Patience
	if h.IsReal("machine-controller-webhook") {
		patience *= 2
	}
	s.Eventually(func() bool { return h.minReadyIsOurs(h.pool(ctx, s, u, pool)) }).
		WithContext(ctx).WithTimeout(patience).WithPolling(suite.PollTime).Should(BeTrue())
}

// lastOf the Nodes of a pool by name, which would go last. They have the names of their Machines, which may not know them yet.
func (h *rolls) lastOf(ctx context.Context, s *suite.Scene, u *bed.UserCluster, pool string) string {
	GinkgoHelper()
	list := &machines.MachineList{}
	s.Expect(u.Client.List(ctx, list, client.MatchingLabels{"pool": pool})).To(Succeed())
	var names []string
	for _, machine := range list.Items {
		names = append(names, machine.Name)
	}
	return slices.Max(names)
}

func (h *rolls) served(ctx context.Context, s *suite.Scene, u *bed.UserCluster) int {
	GinkgoHelper()
	nodes := &corev1.NodeList{}
	s.Expect(u.Client.List(ctx, nodes)).To(Succeed())
	return len(slices.DeleteFunc(nodes.Items, func(node corev1.Node) bool { return !serves(node) }))
}

func serves(node corev1.Node) bool {
	return !isUninitialized(node) && slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func stalledOrReady(cluster *ucv1.Cluster) string {
	if stalled := stalledOf(cluster); stalled.Reason != "" {
		return stalled.Reason + ": " + stalled.Message
	}
	return fmt.Sprintf("step %s", cluster.Status.Step)
}

// extremes are the worst that was seen of each pool.
type extremes struct {
	bounds map[string]limits
	looks  int
	worst  map[string]limits
	beyond []string
}

// watch looks a few times a second. A look in which Machines changed says nothing: Nodes are read at another moment.
func (e *extremes) watch(ctx context.Context, u *bed.UserCluster) {
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		before, nodes, after := &machines.MachineList{}, &corev1.NodeList{}, &machines.MachineList{}
		if u.Client.List(ctx, before) == nil && u.Client.List(ctx, nodes) == nil && u.Client.List(ctx, after) == nil &&
			reflect.DeepEqual(before.Items, after.Items) {
			e.look(before.Items, nodes.Items)
		}
	}
}

func (e *extremes) look(all []machines.Machine, nodes []corev1.Node) {
	serving := map[string]bool{}
	for _, node := range nodes {
		serving[node.Name] = serves(node)
	}
	now := map[string]limits{}
	for _, machine := range all {
		pool, isNew := now[machine.Labels["pool"]], machine.Annotations[ucv1.ExternalCloudProviderAnnotation] == "true"
		switch ref := machine.Status.NodeRef; {
		case machine.DeletionTimestamp != nil:
		case ref != nil && serving[ref.Name]:
			pool.serving++
		case isNew:
			pool.unproven++
		}
		now[machine.Labels["pool"]] = pool
	}
	if e.looks++; e.worst == nil {
		e.worst = maps.Clone(now)
	}
	for name, bound := range e.bounds {
		pool := now[name]
		e.worst[name] = limits{min(pool.serving, e.worst[name].serving), max(pool.unproven, e.worst[name].unproven)}
		if pool.serving < bound.serving || pool.unproven > bound.unproven {
			e.beyond = append(e.beyond, fmt.Sprintf("%s: %+v, not %+v", name, pool, bound))
		}
	}
}
