package integration_test

import (
	"slices"
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

func TestInTreeClusterIsLeftAlone(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.create()
	result := w.pass()
	g.Expect(result.RequeueAfter).To(BeNumerically("<=", 6*time.Hour), "it is looked at for the first time")
	w.expectVerdict(kstatus.CurrentStatus)
	c, _ := w.cluster()
	g.Expect(c.Finalizers).To(BeEmpty())
	g.Expect(c.Status.Origin).To(Equal(ucv1.OriginInTree))
	g.Expect(c.Status.Step).To(Equal(ucv1.StepInTree))
	g.Expect(w.condition("Ready").Reason).To(Equal("InTree"))
	g.Expect(w.requests.take()).To(HaveLen(1), "the status")

	w.clock.Step(time.Second)
	w.pass()
	again, _ := w.cluster()
	g.Expect(w.requests.take()).To(BeEmpty())
	g.Expect(again.ResourceVersion).To(Equal(c.ResourceVersion))
}

// flip makes a cluster that was seen in-tree and then got the feature, while the webhook was down.
func (w *world) flip() {
	w.t.Helper()
	w.create()
	w.pass()
	w.edit(feature(true))
	c, _ := w.cluster()
	NewWithT(w.t).Expect(c.Annotations).To(BeEmpty())
}

func TestMigrationEndToEnd(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("small", 1)
	w.pool("large", 2)
	w.playKCM(kcm + "-r1-0")
	w.flip()

	w.pass()
	c, _ := w.cluster()
	g.Expect(c.Finalizers).To(ConsistOf(ucv1.ClusterFinalizer))
	w.pass()
	g.Expect(w.status().Origin).To(Equal(ucv1.OriginMigrating), "not guessed from the annotations, which are missing")
	w.expectVerdict(kstatus.InProgressStatus)
	w.until("the start", func(c *ucv1.Cluster) bool { return c.Status.StartedAt != nil })
	g.Expect(w.ccmDeployed()).To(BeFalse())
	g.Expect(w.status().Inherited).To(HaveValue(Equal(ucv1.InheritedConfiguration{
		ClusterName: "alpha-1", ClusterUID: string(c.UID), Loops: []string{"cloud-node-lifecycle-controller", "service-lb-controller"},
	})))
	w.prepareAddons()
	c, _ = w.cluster()
	g.Expect(c.Annotations).To(Equal(both()), "restored while there was nothing else to do")
	w.handOver()
	w.finish()
}

// prepareAddons goes on until the fenced CCM runs beside a KCM that no one touched.
func (w *world) prepareAddons() {
	w.t.Helper()
	g := NewWithT(w.t)
	w.until("a CCM", func(*ucv1.Cluster) bool { return w.ccmDeployed() })
	w.passes(2)
	g.Expect(w.status().Step).To(Equal(ucv1.StepAddons))
	g.Expect(w.condition("CloudControllerManagerReady").Status).To(Equal(metav1.ConditionFalse), "no pod of it is ready")
	g.Expect(w.playCCM()).To(BeFalse(), "the fence is closed")
	g.Expect(w.arguments(kcm)).To(Equal(append([]string{kcm}, loopsOn()...)))
	w.until("the hand-over", at(ucv1.StepHandover), w.playAddons)
	g.Expect(w.condition("CSIReady").Status).To(Equal(metav1.ConditionTrue))
	g.Expect(w.condition("CloudControllerManagerReady").Status).To(Equal(metav1.ConditionTrue))
}

// handOver goes through the lines of the protocol; every line that could be passed too early is tried.
func (w *world) handOver() {
	w.t.Helper()
	g := NewWithT(w.t)
	w.until("the record of KCM's processes", func(c *ucv1.Cluster) bool { return c.Status.Handover.StartedAt != nil }, w.playAddons)
	g.Expect(w.status().Handover.Processes).To(HaveLen(2))
	g.Expect(w.status().Baseline).NotTo(BeNil())

	before := w.deployment(kcm)
	w.until("a KCM without cloud loops", func(c *ucv1.Cluster) bool { return c.Status.Handover.TouchedAt != nil })
	g.Expect(w.deployment(kcm).Generation).To(Equal(before.Generation+2), "one for the change, one for the touch")
	want := append([]string{kcm}, loopsOn()...)
	want[3] = "--controllers=*,bootstrapsigner,-cloud-node-lifecycle-controller,-node-route-controller,-service-lb-controller"
	want[4] = "--feature-gates=DisableCloudProviders=false,CSIMigrationPortworx=true"
	g.Expect(w.arguments(kcm)).To(Equal(want), "two arguments are others, in their places")

	w.rollPods(kcm)
	w.expectClosed("the old pods are still going")
	g.Expect(w.condition("HandoverCompleted").Message).To(And(ContainSubstring(kcm+"-r1-0"), ContainSubstring(kcm+"-r1-1")))

	w.endTerminating(kcm)
	w.playKCM(kcm + "-r2-0")
	w.until("an open fence", func(c *ucv1.Cluster) bool { return c.Status.Handover.FenceOpenedAt != nil })
	for _, process := range w.status().Handover.Processes {
		g.Expect(process.EndedAt).NotTo(BeNil(), process.PodName)
	}
	g.Expect(w.condition("HandoverCompleted").Status).To(Equal(metav1.ConditionFalse), "it does not lead yet")
	g.Eventually(w.playCCM, deadline, interval).Should(BeTrue(), "the authorizer reads the Role from a watch")
	w.until("a leader", func(c *ucv1.Cluster) bool { return c.Status.Handover.FinishedAt != nil })
	g.Expect(w.status().Handover.GapSeconds).To(HaveValue(BeNumerically("<", 15)))
}

// expectClosed lets time go by, and the fence stays closed.
func (w *world) expectClosed(why string) {
	w.t.Helper()
	g := NewWithT(w.t)
	for range 5 {
		w.clock.Step(10 * time.Second)
		w.pass()
		g.Expect(w.status().Handover.FenceOpenedAt).To(BeNil(), why)
		g.Expect(w.playCCM()).To(BeFalse(), why)
	}
	g.Expect(w.condition("HandoverCompleted").Reason).To(Equal("ProvingSilence"))
	w.expectVerdict(kstatus.InProgressStatus)
}

// finish plays everybody until there is nothing left to do.
func (w *world) finish() {
	w.t.Helper()
	g := NewWithT(w.t)
	w.until("the roll", at(ucv1.StepRoll), w.playControlPlane, w.playAddons, w.playMachines)
	for _, name := range machineControllers() {
		g.Expect(w.arguments(name)[2]).To(HaveSuffix("external-cloud-provider=true"), name)
	}
	w.until("completion", func(c *ucv1.Cluster) bool { return c.Status.CompletedAt != nil }, w.playControlPlane, w.playMachines)
	g.Expect(w.condition("CSIKubeletMigrationCompleted").Reason).To(Equal("CSIKubeletMigrationSuccess"))
	w.until("the end", at(ucv1.StepFinished), w.playControlPlane, w.playMachines)
	w.expectVerdict(kstatus.CurrentStatus)
	g.Expect(w.condition("Ready").Reason).To(Equal("Migrated"))
	g.Expect(w.machineNames()).To(ConsistOf("small-1-0", "large-1-0", "large-1-1"), "each was replaced once")
	g.Expect(w.status().Machines).To(HaveValue(Equal(ucv1.ProgressCount{Total: 3, UpToDate: 3, Summary: "3/3"})))
	g.Expect(w.arguments(kcm)).To(Equal([]string{
		kcm, "--cloud-provider=external", "--controllers=*,bootstrapsigner",
		"--feature-gates=CSIMigrationPortworx=true", "--cluster-name=alpha-1", "--leader-elect=true",
	}))
	w.clock.Step(time.Minute) // No other KCM takes the Lease, which runs out.
	w.playLeaders()
	w.expectIdle()
}

// expectIdle: a cluster that is done is looked at, and nothing at all is written, in neither cluster.
func (w *world) expectIdle() {
	w.t.Helper()
	g := NewWithT(w.t)
	w.pass()
	w.requests.take()
	management, user := w.snapshot(), w.userSnapshot()
	for range 5 {
		w.clock.Step(15 * time.Minute)
		w.playLeaders()
		w.pass()
	}
	g.Expect(w.requests.take()).To(BeEmpty())
	g.Expect(w.snapshot()).To(Equal(management))
	g.Expect(w.userSnapshot()).To(Equal(user))
}

func TestMachineDeploymentDeletedMeanwhileIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	doomed := w.pool("doomed", 1)
	w.pool("large", 2)
	w.playKCM(kcm + "-r1-0")
	w.flip()
	w.until("a forceRestart value", func(c *ucv1.Cluster) bool { return c.Status.RollGeneration != "" },
		w.playControlPlane, w.playAddons, w.playMachines, func() { w.playKCM(w.pods(kcm)[len(w.pods(kcm))-1].Name) })

	// The inventory is read after the Machines, and before anything is done.
	w.requests.once("/configmaps/"+alpha+"-ccm-migration-addons", func() {
		g.Expect(w.user.client.Delete(t.Context(), doomed)).To(Succeed())
	})
	w.pass()
	g.Expect(w.requests.waiting()).To(BeFalse())
	left := &machines.MachineDeploymentList{}
	g.Expect(w.user.client.List(t.Context(), left)).To(Succeed())
	g.Expect(left.Items).To(HaveLen(1))
	g.Expect(left.Items[0].Name).To(Equal("large"))
	g.Expect(w.condition("Stalled").Status).To(BeEmpty(), "it is looked at again")

	g.Expect(
		w.user.client.DeleteAllOf(
			t.Context(),
			&machines.MachineSet{},
			client.InNamespace(metav1.NamespaceSystem),
			client.MatchingLabels{"pool": "doomed"},
		),
	).To(Succeed())
	g.Expect(
		w.user.client.DeleteAllOf(
			t.Context(),
			&machines.Machine{},
			client.InNamespace(metav1.NamespaceSystem),
			client.MatchingLabels{"pool": "doomed"},
		),
	).To(Succeed())
	w.until("the other one", func(*ucv1.Cluster) bool { return slices.Contains(w.machineNames(), "large-1-1") }, w.playMachines)
}
