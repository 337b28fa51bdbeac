package roll_test

import (
	"context"
	"fmt"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// holdsWhateverIsPaused rolls one Machine, and three with as much surge: with any other breaker than the one that holds by
// construction, both pools lose all that serves when someone pauses them while no new Node is initialized.
func (h *rolls) holdsWhateverIsPaused(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	deployment := bed.MachineDeployment(brokenPool, 3)
	s.Expect(u.Client.Create(ctx, deployment)).To(Succeed())
	h.patchPool(
		ctx,
		s,
		u,
		brokenPool,
		`{"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":3,"maxUnavailable":0}}}}`,
	)
	h.NodesJoin(ctx, s, u, 4)
	former := h.machines(ctx, s, u)
	h.Patch(ctx, s, u, `{"spec":{"rollout":{"maxConcurrent":"100%%","canary":"None"},"slo":{"onViolation":"Continue"}}}`)
	h.Flip(ctx, s, u)
	h.beforeRoll(ctx, s, u)
	h.Cloud.AddFault(
		simcloud.Fault{Cluster: u.Options.Name, Method: "InstanceMetadata", ErrorStatus: http.StatusInternalServerError},
	)
	h.WaitForCluster(ctx, s, u, "the breaker to trip", func(cluster *ucv1.Cluster) string {
		if stalled := stalledOf(cluster); stalled.Reason != ucv1.BreakerTrippedReason {
			return fmt.Sprintf("Stalled is %q: %s", stalled.Reason, stalled.Message)
		}
		return ""
	})
	for _, pool := range []string{brokenPool, slowPool} {
		h.patchPool(ctx, s, u, pool, `{"spec":{"paused":true}}`)
	}
	s.Consistently(
		func() []string { return h.machines(ctx, s, u) },
	).WithContext(ctx).WithTimeout(suite.HeldTime).WithPolling(suite.PollTime).
		Should(
			ContainElements(former),
			"what serves was replaced by what does not",
		)

	for _, pool := range []string{brokenPool, slowPool} {
		h.patchPool(ctx, s, u, pool, `{"spec":{"paused":false}}`)
	}
	h.Cloud.ClearFaultsOf(u.Options.Name)
	s.Expect(u.WakeCCM(ctx)).To(Succeed())
	h.WaitForCluster(ctx, s, u, "the end of its migration", suite.IsTrue(ucv1.CSIKubeletMigrationCompletedCondition))
	h.expectGivenBack(ctx, s, u, brokenPool)
	h.expectGivenBack(ctx, s, u, slowPool)
}

// beforeRoll waits until nothing else is left to do.
func (h *rolls) beforeRoll(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	GinkgoHelper()
	h.WaitForCluster(ctx, s, u, "the moment before its roll", func(cluster *ucv1.Cluster) string {
		if cluster.Status.RollGeneration == "" {
			return "step " + string(cluster.Status.Step)
		}
		return ""
	})
}

func (h *rolls) patchPool(ctx context.Context, s *suite.Scene, u *bed.UserCluster, pool, patch string) {
	GinkgoHelper()
	s.Expect(u.Client.Patch(ctx, bed.MachineDeployment(pool, 0), client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
}
