package rollback_test

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// rollbacks is one testbed with a user cluster for each moment.
type rollbacks struct{ *suite.Testbed }

// rollback is the label of the topic.
const rollback = "rollback"

// Hand-overs are taken back, and then made after all.
var _ = Describe("A hand-over", Ordered, ContinueOnFailure, Label(rollback), func() {
	h := &rollbacks{Testbed: suite.NewTestbed()}
	BeforeAll(func(ctx SpecContext) {
		options, _ := suite.BedOptions("rollback/bed")
		options.Waits = "" // One package waits for the real times.
		h.Start(ctx, options)
	}, NodeTimeout(suite.StartTime))

	h.Stories.It("is rolled back and redone in the middle of the roll",
		h.redone("middle", func(cluster *ucv1.Cluster) string {
			if len(cluster.Status.RolledMachineDeployments) == 0 {
				return "nothing is rolled yet"
			}
			return ""
		}))
	h.Stories.It("is rolled back and redone after the hand-over",
		h.redone("after", suite.IsTrue(ucv1.HandoverCompletedCondition)))
	h.Stories.It("is rolled back and redone while both managers have the migration lock",
		h.redone("lock", func(cluster *ucv1.Cluster) string {
			if handover := cluster.Status.Handover; handover == nil || handover.FenceOpenedAt == nil {
				return "the CCM's fence is not open yet"
			}
			return ""
		}))

	It("no cloud loop ran in two managers, as the sampler saw it", func(SpecContext) {
		s := suite.ThisSpec()
		_, samples := suite.Records(s, h.Bed)
		s.Expect(loops.Overlaps(samples)).To(BeEmpty(), "loops that ran in two managers, as the sampler saw them")
	}, NodeTimeout(suite.SpecTime))
	It("the manager was forbidden nothing", func(SpecContext) {
		h.ExpectNothingForbidden(suite.ThisSpec())
	}, NodeTimeout(suite.SpecTime))
	It("every status was one that other tools understand", func(SpecContext) {
		h.ExpectGoodVerdicts(suite.ThisSpec())
	}, NodeTimeout(suite.SpecTime))
})

// redone tells of a user cluster whose migration is taken back at a moment.
func (h *rollbacks) redone(name string, when func(*ucv1.Cluster) string) func(context.Context, *suite.Scene) {
	return h.With(bed.UserClusterOptions{Name: name}, func(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
		if name == "lock" {
			h.ByLock(ctx, s, u)
		}
		start, before := time.Now(), h.argumentsOfKCM(ctx, s, u)
		h.Flip(ctx, s, u)
		h.WaitForCluster(ctx, s, u, "the moment of its rollback", when)
		asked := time.Now()
		h.rollBack(ctx, s, u)
		cluster := suite.Cluster(ctx, s, u)
		s.Expect(h.argumentsOfKCM(ctx, s, u)).To(ConsistOf(before), "in whatever order")
		h.expectInTree(ctx, s, u)

		redone := time.Now()
		h.Patch(
			ctx,
			s,
			u,
			`{"spec":{"handover":{"rollback":false,"retryAfter":%q}}}`,
			redone.Add(time.Second).UTC().Format(time.RFC3339),
		)
		h.WaitForCluster(ctx, s, u, "the end of its migration", suite.IsTrue(ucv1.CSIKubeletMigrationCompletedCondition))
		h.ExpectLeadingCCM(ctx, s, u)
		h.expectEachWayByItself(s, cluster, ways{start: start, asked: asked, redone: redone})
	})
}

func (h *rollbacks) rollBack(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	GinkgoHelper()
	asked := time.Now()
	h.Patch(ctx, s, u, `{"spec":{"handover":{"rollback":true}}}`)
	h.WaitForCluster(ctx, s, u, "the end of its rollback", func(cluster *ucv1.Cluster) string {
		if cluster.Status.Step != ucv1.StepRolledBack {
			return "step " + string(cluster.Status.Step)
		}
		return ""
	})
	s.Logf("rolled back in %s", time.Since(asked).Round(time.Second))
}

// ways are when the hand-over began, when it was asked to be taken back, and when to be made after all.
type ways struct{ start, asked, redone time.Time }

// expectEachWayByItself: what the cloud saw goes from KCM to the CCM, back, and there again. The Cluster is as it was
// when it had been rolled back.
func (h *rollbacks) expectEachWayByItself(s *suite.Scene, cluster *ucv1.Cluster, at ways) {
	GinkgoHelper()
	all, samples := suite.Records(s, h.Bed)
	calls := loops.OfCluster(all, cluster.Name)
	for loop, gap := range loops.Gaps(loops.OfCluster(samples, cluster.Name), at.asked, at.redone) {
		s.Logf("gap of %s in the rollback: %.1f s", loop, gap.Seconds())
	}
	balancers := loops.LoadBalancers(calls, at.start)
	s.Expect(balancers).To(Equal(loops.LoadBalancerSummary{Before: 1, Kept: 1, Created: 1}),
		"load balancers are the same objects, and one is new")
	loopsOn := cluster.Status.Rollback.LoopsOnAt.Time
	each := map[string][]simcloud.Call{
		"there": between(calls, at.start, loopsOn), "there again": between(calls, loopsOn, time.Now()),
	}
	if inUse := cluster.Spec.Handover.Protocol == ucv1.LeaderMigrationProtocolChoice; !inUse {
		// While the lock is in use it was KCM that called when the rollback was asked for.
		each["back"] = between(calls, at.asked, at.redone)
	}
	for name, way := range each {
		s.Expect(loops.CallOverlaps(way)).To(BeEmpty(), name)
	}
}

func between(calls []simcloud.Call, from, to time.Time) []simcloud.Call {
	return slices.DeleteFunc(slices.Clone(calls), func(call simcloud.Call) bool {
		return call.Time.Before(from) || !call.Time.Before(to)
	})
}

func (h *rollbacks) argumentsOfKCM(ctx context.Context, s *suite.Scene, u *bed.UserCluster) []string {
	GinkgoHelper()
	deployment := &appsv1.Deployment{}
	s.Expect(h.Client.Get(ctx, client.ObjectKey{Namespace: u.Namespace, Name: suite.KCM}, deployment)).To(Succeed())
	container := deployment.Spec.Template.Spec.Containers[0]
	return slices.Concat(container.Command, container.Args)
}

// expectInTree: every Node initialized itself, KCM runs the loops, and there is no CCM.
func (h *rollbacks) expectInTree(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	GinkgoHelper()
	nodes := &corev1.NodeList{}
	s.Expect(u.Client.List(ctx, nodes)).To(Succeed())
	s.Expect(nodes.Items).NotTo(BeEmpty())
	uninitialized := HaveField("Key", "node.cloudprovider.kubernetes.io/uninitialized")
	for _, node := range nodes.Items {
		s.Expect(node.Spec.Taints).NotTo(ContainElement(uninitialized), node.Name)
		s.Expect(node.Spec.ProviderID).To(HavePrefix("simcloud://"), node.Name)
	}
	s.Expect(h.ProcessesOf(s, u.Options.Name, suite.CCM)).To(BeEmpty(), "processes of the CCM")
	what := "user cluster " + u.Options.Name + ": a new load balancer from KCM"
	err := h.WaitFor(ctx, what, suite.Patience, func(ctx context.Context) (string, error) {
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
	s.Expect(err).NotTo(HaveOccurred())
}
