package e2e_test

import (
	"context"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// TestUndo takes hand-overs back, and then makes them after all.
func TestUndo(t *testing.T) {
	h := startHandovers(t, "undo", bed.UserClusterOptions{Name: "after"}, bed.UserClusterOptions{Name: "middle"}, bed.UserClusterOptions{Name: "lock"})
	defer expectStopped(t, h.Bed, h.Stop)
	verdicts := watchClusters(t, h.Bed)

	t.Run("it is undone and redone", func(t *testing.T) {
		t.Run("after the hand-over", func(t *testing.T) {
			t.Parallel()
			h.undoAndRedo(t, h.clusters["after"], isTrue(ucv1.HandoverCompletedCondition))
		})
		t.Run("in the middle of the roll", func(t *testing.T) {
			t.Parallel()
			h.undoAndRedo(t, h.clusters["middle"], func(cluster *ucv1.Cluster) string {
				if len(cluster.Status.RolledMachineDeployments) == 0 {
					return "nothing is rolled yet"
				}
				return ""
			})
		})
		t.Run("while both managers have the migration lock", func(t *testing.T) {
			t.Parallel()
			h.byLock(t, h.clusters["lock"])
			h.undoAndRedo(t, h.clusters["lock"], func(cluster *ucv1.Cluster) string {
				if handover := cluster.Status.Handover; handover == nil || handover.FenceOpenedAt == nil {
					return "the CCM's fence is not open yet"
				}
				return ""
			})
		})
	})
	_, samples := records(t, h.Bed)
	NewWithT(t).Expect(loops.Overlaps(samples)).To(BeEmpty(), "loops that ran in two managers, as the sampler saw them")
	expectNothingForbidden(t, h.Bed)
	verdicts.expectGood(t)
}

func (h *handovers) undoAndRedo(t *testing.T, u *bed.UserCluster, when func(*ucv1.Cluster) string) {
	t.Helper()
	g, start := NewWithT(t), time.Now()
	before := h.argumentsOfKCM(t, u)
	h.flip(t, u)
	waitForCluster(t, h.Bed, u, "the moment of its undo", when)
	asked := time.Now()
	h.rollback(t, u, true)
	waitForCluster(t, h.Bed, u, "the end of its undo", func(cluster *ucv1.Cluster) string {
		if cluster.Status.Step != ucv1.StepRolledBack {
			return "step " + string(cluster.Status.Step)
		}
		return ""
	})
	t.Logf("undone in %s", time.Since(asked).Round(time.Second))
	cluster, err := u.Get(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	loopsOn := cluster.Status.Rollback.LoopsOnAt.Time
	g.Expect(h.argumentsOfKCM(t, u)).To(ConsistOf(before), "in whatever order")
	h.expectInTree(t, u)

	redone := time.Now()
	h.rollback(t, u, false)
	waitForCluster(t, h.Bed, u, "the end of its migration", isTrue(ucv1.CSIKubeletMigrationCompletedCondition))
	h.expectLeadingCCM(t, u)
	all, samples := records(t, h.Bed)
	calls := loops.OfCluster(all, u.Options.Name)
	for loop, gap := range loops.Gaps(loops.OfCluster(samples, u.Options.Name), asked, redone) {
		t.Logf("gap of %s in the undo: %.1f s", loop, gap.Seconds())
	}
	balancers := loops.LoadBalancers(calls, start)
	g.Expect(balancers).To(Equal(loops.LoadBalancerSummary{Before: 1, Kept: 1, Created: 1}), "load balancers are the same objects, and one is new")
	// What the cloud saw goes from KCM to the CCM, back, and there again: each way by itself.
	ways := map[string][]simcloud.Call{"there": between(calls, start, loopsOn), "there again": between(calls, loopsOn, time.Now())}
	if inUse := cluster.Spec.Handover.Protocol == ucv1.LeaderMigrationProtocolChoice; !inUse {
		ways["back"] = between(calls, asked, redone) // While the lock is in use it was KCM that called when the undo was asked for.
	}
	for name, way := range ways {
		g.Expect(loops.CallOverlaps(way)).To(BeEmpty(), name)
	}
}

func between(calls []simcloud.Call, from, to time.Time) []simcloud.Call {
	return slices.DeleteFunc(slices.Clone(calls), func(call simcloud.Call) bool { return call.Time.Before(from) || !call.Time.Before(to) })
}

func (h *handovers) rollback(t *testing.T, u *bed.UserCluster, on bool) {
	t.Helper()
	patch := `{"spec":{"handover":{"rollback":false}}}`
	if on {
		patch = `{"spec":{"handover":{"rollback":true}}}`
	}
	cluster := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: u.Namespace, Name: u.Options.Name}}
	NewWithT(t).Expect(h.Client.Patch(t.Context(), cluster, client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
}

func (h *handovers) argumentsOfKCM(t *testing.T, u *bed.UserCluster) []string {
	t.Helper()
	deployment := &appsv1.Deployment{}
	NewWithT(t).Expect(h.Client.Get(t.Context(), client.ObjectKey{Namespace: u.Namespace, Name: kcmName}, deployment)).To(Succeed())
	container := deployment.Spec.Template.Spec.Containers[0]
	return slices.Concat(container.Command, container.Args)
}

// expectInTree: every Node initialized itself, KCM runs the loops, and there is no CCM.
func (h *handovers) expectInTree(t *testing.T, u *bed.UserCluster) {
	t.Helper()
	g := NewWithT(t)
	nodes := &corev1.NodeList{}
	g.Expect(u.Client.List(t.Context(), nodes)).To(Succeed())
	g.Expect(nodes.Items).NotTo(BeEmpty())
	for _, node := range nodes.Items {
		g.Expect(node.Spec.Taints).NotTo(ContainElement(HaveField("Key", "node.cloudprovider.kubernetes.io/uninitialized")), node.Name)
		g.Expect(node.Spec.ProviderID).To(HavePrefix("simcloud://"), node.Name)
	}
	g.Expect(h.processesOf(t, u.Options.Name, ccmName)).To(BeEmpty(), "processes of the CCM")
	err := h.WaitFor(t.Context(), "user cluster "+u.Options.Name+": a new load balancer from KCM", patience, func(ctx context.Context) (string, error) {
		service := bed.LoadBalancer("late")
		if err := u.Client.Create(ctx, service); client.IgnoreAlreadyExists(err) != nil {
			return "", err
		}
		if err := u.Client.Get(ctx, client.ObjectKeyFromObject(service), service); err != nil {
			return "", err
		}
		if len(service.Status.LoadBalancer.Ingress) == 0 {
			return "there is no address yet", nil
		}
		return "", nil
	})
	g.Expect(err).NotTo(HaveOccurred())
}
