package handover_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
)

// handovers is one testbed with a user cluster for each difficulty.
type handovers struct {
	*suite.Testbed
	// managerBack is closed when the manager is there for good.
	managerBack chan struct{}
}

// The labels of topics.
const (
	outage    = "outage"
	outliving = "outliving"
	lock      = "lock"
	external  = "external"
	scenarios = "scenarios"
)

// The outage comes first, while the other user clusters start: it would hide what their stories are about.
var _ = Describe("Hand-overs", Ordered, ContinueOnFailure, func() {
	h := &handovers{Testbed: suite.NewTestbed(), managerBack: make(chan struct{})}
	managerIsBack := sync.OnceFunc(func() { close(h.managerBack) })
	whenBack := func(options bed.UserClusterOptions, tell func(context.Context, *suite.Scene, *bed.UserCluster)) func(
		context.Context, *suite.Scene) {
		return h.With(options, tell, h.managerBack)
	}

	away := h.With(bed.UserClusterOptions{Name: "outage"}, h.outage(managerIsBack))
	without := h.Stories.Add(func(ctx context.Context, s *suite.Scene) {
		defer managerIsBack()
		away(ctx, s)
	})
	BeforeAll(func(ctx SpecContext) {
		if !without.IsTold() {
			managerIsBack()
		}
		options, _ := suite.BedOptions("handover/bed")
		h.Start(ctx, options)
	}, NodeTimeout(suite.StartTime))

	without.It("while the manager is away nothing runs", nil, Label(suite.Core, outage))
	without.It("the hand-over goes on after the outage", nil, Label(suite.Core, outage))
	h.Stories.It("the proof never passes while a leader outlives its pod",
		whenBack(bed.UserClusterOptions{Name: "leader"}, h.leaderOutlives), Label(suite.Core, outliving))
	h.Stories.It("the proof never passes while a standby outlives its pod on a Node that is cut off",
		whenBack(bed.UserClusterOptions{Name: "standby"}, h.standbyOutlives), Label(outliving))

	h.Stories.It("administrators: one who follows the instructions gets to the end",
		whenBack(bed.UserClusterOptions{Name: "three", ControlPlaneNodes: 3}, h.follows), Label(external))
	h.Stories.It("administrators: one with a single Node without leader election, too",
		whenBack(bed.UserClusterOptions{Name: "one", ControlPlaneNodes: 1, WithoutElection: true}, h.followsAlone),
		Label(external))
	h.Stories.It("administrators: nothing opens for one who takes the wrong order and stops half way",
		whenBack(bed.UserClusterOptions{Name: "astray", ControlPlaneNodes: 3}, h.goesAstray), Label(external))

	h.Stories.It("protocol LeaderMigration hands over by the migration lock",
		whenBack(bed.UserClusterOptions{Name: "lock"}, h.handsOverByLock), Label(lock))

	h.scenarios()

	// In a scenario a person may have a loop run in two managers; each is judged by its own records.
	It("no cloud loop ran in two managers", func(SpecContext) {
		h.ExpectNothingRanTwice(suite.ThisSpec())
	}, NodeTimeout(suite.SpecTime), Label(suite.Core, outage, outliving, lock, external))
	all := Label(suite.Core, outage, outliving, lock, external, scenarios)
	It("the manager was forbidden nothing", func(SpecContext) {
		h.ExpectNothingForbidden(suite.ThisSpec())
	}, NodeTimeout(suite.SpecTime), all)
	It("every status was one that other tools understand", func(SpecContext) {
		h.ExpectGoodVerdicts(suite.ThisSpec())
	}, NodeTimeout(suite.SpecTime), all)
})

// recorded waits until the controller has recorded the processes and switched the loops off.
func (h *handovers) recorded(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	GinkgoHelper()
	h.WaitForCluster(ctx, s, u, "its KCM's arguments to be changed", func(cluster *ucv1.Cluster) string {
		handover := cluster.Status.Handover
		if cluster.Status.Step == ucv1.StepHandover && handover != nil && handover.Stage == "Silent" {
			return ""
		}
		return "step " + string(cluster.Status.Step)
	})
}

// outage takes the manager away when the loops are off in KCM's Deployment and no old pod has ended yet: they all end
// unseen.
func (h *handovers) outage(managerIsBack func()) func(context.Context, *suite.Scene, *bed.UserCluster) {
	return func(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
		h.nothingRunsWithoutManager(ctx, s, u)
		managerIsBack()
		h.WaitForCluster(ctx, s, u, "the end of its hand-over", suite.IsTrue(ucv1.HandoverCompletedCondition))
		h.ExpectLeadingCCM(ctx, s, u)
	}
}

func (h *handovers) nothingRunsWithoutManager(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	GinkgoHelper()
	h.holdRollouts(ctx, s, u, true)
	h.Flip(ctx, s, u)
	h.recorded(ctx, s, u)
	h.ScaleManager(ctx, s, 0)
	h.holdRollouts(ctx, s, u, false)
	s.Expect(h.WaitForDeployment(u.Namespace, suite.KCM)).To(Succeed())

	s.Consistently(func(g Gomega) {
		g.Expect(h.Err()).NotTo(HaveOccurred())
		g.Expect(h.fenceIsClosed(ctx, u)).To(Succeed())
	}).WithContext(ctx).WithTimeout(suite.AwayTime).WithPolling(suite.PollTime).Should(Succeed())
	h.expectSilentCCM(s, u)
	h.ScaleManager(ctx, s, 1)
}

// leaderOutlives: the pod of KCM's leader is deleted by force and its process goes on, holding the Lease and running
// the loops. Its Node's kubelet is well, which is evidence for the end of the process; the Lease contradicts it.
func (h *handovers) leaderOutlives(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	leader := h.leaderPod(ctx, s, u)
	h.holdRollouts(ctx, s, u, true)
	h.Flip(ctx, s, u)
	h.recorded(ctx, s, u)
	h.Survivors.Set(leader, true)
	h.deleteAtOnce(ctx, s, leader)
	h.holdRollouts(ctx, s, u, false)
	s.Expect(h.WaitForDeployment(u.Namespace, suite.KCM)).To(Succeed())

	vouched := time.Time{}
	err := h.provingUntil(ctx, u, leader.Name, func(process ucv1.ManagerProcess) (bool, error) {
		if process.EndedAt != nil && vouched.IsZero() {
			vouched = time.Now()
			s.Logf("for the kubelet it has ended: %s", process.EndedBecause)
		}
		return !vouched.IsZero() && time.Since(vouched) > suite.SurvivedTime, nil
	})
	s.Expect(err).NotTo(HaveOccurred())
	h.expectSilentCCM(s, u)
	s.Expect(h.ProcessesOf(s, bed.ManagementName, leader.Name)).To(HaveLen(1), "the process that outlives its pod")

	h.Survivors.Set(leader, false)
	h.WaitForCluster(ctx, s, u, "the end of its hand-over", suite.IsTrue(ucv1.HandoverCompletedCondition))
	h.ExpectLeadingCCM(ctx, s, u)
}

// provingUntil asks done with the record of the pod as often as the condition says that its process stands in the way.
// It fails when the hand-over went on, or said anything else than that it cannot look or repairs what comes before it.
func (h *handovers) provingUntil(
	ctx context.Context, u *bed.UserCluster, pod string, done func(ucv1.ManagerProcess) (bool, error),
) error {
	looks := func(ctx context.Context) (bool, error) {
		if err := h.fenceIsClosed(ctx, u); err != nil {
			return false, err
		}
		cluster, err := u.Get(ctx)
		if err != nil {
			return false, err
		}
		proof := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.HandoverCompletedCondition)
		if proof.Status == metav1.ConditionUnknown || proof.Reason == ucv1.WaitingForEarlierStepReason {
			return false, h.Err() // Busy machines miss deadlines.
		}
		if cluster.Status.Step != ucv1.StepHandover || proof.Status != metav1.ConditionFalse ||
			proof.Reason != ucv1.ProvingSilenceReason || !strings.Contains(proof.Message, pod) {
			return false, fmt.Errorf("step %s, HandoverCompleted %s, %s: %s",
				cluster.Status.Step, proof.Status, proof.Reason, proof.Message)
		}
		processes := cluster.Status.Handover.Processes
		at := slices.IndexFunc(processes, func(process ucv1.ManagerProcess) bool { return process.PodName == pod })
		if at < 0 {
			return false, fmt.Errorf("pod %s is not recorded", pod)
		}
		return done(processes[at])
	}
	return wait.PollUntilContextTimeout(ctx, suite.PollTime, suite.Patience, true, looks)
}

// fenceIsClosed: the Role that opens the fence does not exist, and the controller does not think that it opened it.
func (h *handovers) fenceIsClosed(ctx context.Context, u *bed.UserCluster) error {
	fence := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "ccm-migration:" + suite.CCM + "-lease"}
	for _, object := range []client.Object{&rbacv1.Role{}, &rbacv1.RoleBinding{}} {
		err := u.Client.Get(ctx, fence, object)
		if err == nil {
			return fmt.Errorf("the fence of %s was opened: %T exists", u.Options.Name, object)
		}
		if !apierrors.IsNotFound(err) {
			return err
		}
	}
	cluster, err := u.Get(ctx)
	if err != nil {
		return err
	}
	if opened := cluster.Status.Handover.FenceOpenedAt; opened != nil {
		return fmt.Errorf("the fence of %s was opened at %s", u.Options.Name, opened)
	}
	return nil
}

// expectSilentCCM: it is there and waits behind the fence.
func (h *handovers) expectSilentCCM(s *suite.Scene, u *bed.UserCluster) {
	GinkgoHelper()
	s.Expect(h.ProcessesOf(s, u.Options.Name, suite.CCM)).NotTo(BeEmpty(), "processes of the CCM")
	s.Expect(h.LoopsOfCCM(s, u)).To(BeEmpty())
	calls, _ := suite.Records(s, h.Bed)
	for _, call := range loops.OfCluster(calls, u.Options.Name) {
		s.Expect(call.Component).NotTo(Equal(suite.CCM), "%+v", call)
	}
}
