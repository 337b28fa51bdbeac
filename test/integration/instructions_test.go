package integration_test

import (
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

const silentList = "--controllers=*,bootstrapsigner," +
	"-cloud-node-lifecycle-controller,-node-route-controller,-service-lb-controller"

// flipStatic makes an External cluster that was seen in-tree and then got the feature, and waits for instructions.
func (s *staticPods) flipStatic() {
	s.t.Helper()
	s.create(func(c *ucv1.Cluster) {
		c.Spec.ControlPlane.Type = ucv1.ExternalControlPlane
		for node := range s.manifests {
			c.Spec.Rollout.AcceptNodes = append(c.Spec.Rollout.AcceptNodes, node)
		}
	})
	s.pass()
	s.edit(feature(true))
	s.until("instructions", func(c *ucv1.Cluster) bool { return len(c.Status.Instructions) > 0 }, s.play)
}

// expectWaiting lets time go by, and the fence stays closed.
func (s *staticPods) expectWaiting(why string) {
	s.t.Helper()
	g := NewWithT(s.t)
	for range 6 {
		s.renewKCM()
		s.clock.Step(5 * time.Second)
		s.pass()
		g.Expect(s.status().Handover.FenceOpenedAt).To(BeNil(), why)
		g.Expect(s.playCCM()).To(BeFalse(), why)
	}
}

func TestAdministratorFollowsTheInstructions(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	s := w.staticControlPlane(loopsOn(), "cp-0", "cp-1", "cp-2")
	w.pool("pool", 1)
	s.flipStatic()
	g.Expect(s.left()).To(Equal([]string{"cp-1", "cp-2", "cp-0"}), "the leader's Node is last")
	g.Expect(s.status().Instructions[2]).To(Equal(ucv1.Instruction{
		Order: 3, Component: kcm, Object: "Pod kube-system/" + kcm + "-cp-0", Node: "cp-0", Leader: true, Set: []string{silentList},
	}))
	w.expectVerdict(kstatus.InProgressStatus)
	g.Expect(w.condition("Ready")).To(
		And(HaveField("Reason", "WaitingForAdministrator"), HaveField("Message", ContainSubstring("Node cp-1, "))),
	)
	w.clock.Step(48 * time.Hour)
	s.renewKCM()
	w.passes(2)
	w.expectVerdict(kstatus.InProgressStatus)

	for _, node := range []string{"cp-1", "cp-2"} {
		s.do(node)
		s.expectWaiting("Node cp-0 is not done")
		g.Expect(s.left()).NotTo(ContainElement(node))
	}
	g.Expect(s.left()).To(Equal([]string{"cp-0"}))
	s.do("cp-0")
	s.holder = "cp-1"
	w.pass()
	g.Expect(w.status().Handover.FenceOpenedAt).To(BeNil(), "the proof takes its time")
	w.until("an open fence", opened, s.renewKCM)
	g.Expect(s.left()).To(BeEmpty())
	w.until("the hand-over", func(c *ucv1.Cluster) bool { return c.Status.Handover.FinishedAt != nil }, s.play)
	for _, process := range w.status().Handover.Processes {
		g.Expect(process.EndedBecause).To(ContainSubstring("from another manifest"), process.PodName)
	}
	w.until("completion", func(c *ucv1.Cluster) bool { return c.Status.CompletedAt != nil }, s.play, s.administer)
	w.until(
		"instructions to take the in-tree flags out",
		func(c *ucv1.Cluster) bool { return len(c.Status.Instructions) > 0 },
		s.play,
	)
	g.Expect(s.status().Instructions[0]).To(And(
		HaveField("Set", ContainElement("--cloud-provider=external")), HaveField("Remove", []string{"--cloud-config"})))
	w.until("the end", at(ucv1.StepFinished), s.play, s.administer)
	w.expectVerdict(kstatus.CurrentStatus)
	g.Expect(w.status().Instructions).To(BeEmpty())
	g.Expect(s.manifests["cp-0"]).To(Equal([]string{
		"--cloud-provider=external", "--controllers=*,bootstrapsigner",
		"--feature-gates=CSIMigrationPortworx=true", "--cluster-name=alpha-1", "--leader-elect=true",
	}))
}

func TestAdministratorTakesTheWrongOrderAndStopsHalfWay(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	s := w.staticControlPlane(loopsOn(), "cp-0", "cp-1", "cp-2")
	w.pool("pool", 1)
	s.flipStatic()
	s.do("cp-0")
	s.holder = "cp-2"
	s.expectWaiting("two Nodes still run the loops")
	g.Expect(s.left()).To(Equal([]string{"cp-1", "cp-2"}), "the new leader is last")
	s.do("cp-1")
	s.expectWaiting("one Node still runs the loops")

	// Someone tidies up: a mirror pod that is gone proves nothing, and comes back.
	s.remove("cp-2")
	s.expectWaiting("a mirror pod that was deleted proves nothing")
	s.mirror("cp-2")
	s.expectWaiting("it goes on")
	g.Expect(s.left()).To(Equal([]string{"cp-2"}))
	g.Expect(w.status().Handover.Processes).To(HaveLen(3), "it is the same process")

	for range 20 {
		w.clock.Step(30 * time.Second)
		s.renewKCM() // After the step: one that the watch delivers before it has run out when the pass looks.
		w.pass()
	}
	w.expectVerdict(kstatus.FailedStatus)
	g.Expect(w.condition("Stalled")).To(And(HaveField("Reason", "WaitingForAdministrator"), HaveField("Message", And(
		ContainSubstring("no one may be running the cloud loops"), ContainSubstring("Node cp-2"), Not(ContainSubstring("cp-0"))))))
	g.Expect(w.playCCM()).To(BeFalse())

	s.do("cp-2")
	w.until("the hand-over", func(c *ucv1.Cluster) bool { return c.Status.Handover.FinishedAt != nil }, s.play)
	w.expectVerdict(kstatus.InProgressStatus)

	// Afterwards someone restores an old manifest.
	s.write("cp-1", loopsOn())
	w.pass()
	w.expectVerdict(kstatus.FailedStatus)
	g.Expect(w.condition("Stalled")).To(
		And(HaveField("Reason", "CloudLoopsContended"), HaveField("Message", ContainSubstring(kcm+"-cp-1"))),
	)
	w.passes(3)
	g.Eventually(w.playCCM, deadline, interval).Should(BeFalse(), "the fence is closed")
	g.Expect(s.left()).To(Equal([]string{"cp-1"}))
	s.do("cp-1")
	w.until("the hand-over again", func(c *ucv1.Cluster) bool { return c.Status.Handover.FinishedAt != nil }, s.play)
}

func TestSingleControlPlaneNodeWithoutLeaderElection(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	arguments := append(loopsOn()[:5:5], "--leader-elect=false")
	s := w.staticControlPlane(arguments, "cp-0")
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: kcm}}
	g.Expect(w.user.client.Delete(t.Context(), lease)).To(Succeed())
	w.pool("pool", 1)
	quiet := func() { w.playControlPlane(); w.playAddons(); w.playMachines() }
	w.create(func(c *ucv1.Cluster) {
		c.Spec.ControlPlane.Type, c.Spec.Rollout.AcceptNodes = ucv1.ExternalControlPlane, []string{"cp-0"}
	})
	w.pass()
	w.edit(feature(true))
	w.until("instructions", func(c *ucv1.Cluster) bool { return len(c.Status.Instructions) > 0 }, quiet)
	g.Expect(s.left()).To(Equal([]string{"cp-0"}))
	s.do("cp-0")
	w.pass()
	g.Expect(w.status().Handover.FenceOpenedAt).To(BeNil(), "the proof is the pod's own, and takes its time")
	changed := w.clock.Now()
	w.until("an open fence", opened, quiet)
	g.Expect(w.clock.Now().Sub(changed)).To(BeNumerically(">=", 9*time.Second))
	w.until("the hand-over", func(c *ucv1.Cluster) bool { return c.Status.Handover.FinishedAt != nil }, quiet)
}

func TestALostControlPlaneNodeIsVouchedFor(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	s := w.staticControlPlane(loopsOn(), "cp-0", "cp-1")
	w.pool("pool", 1)
	s.flipStatic()
	s.do("cp-0")
	s.expectWaiting("Node cp-1 is not done")
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "cp-1"}}
	g.Expect(w.user.client.Delete(t.Context(), node)).To(Succeed())
	s.remove("cp-1")
	s.expectWaiting("what a Node that is gone runs is not known")
	g.Expect(w.condition("HandoverCompleted").Message).To(
		And(ContainSubstring(kcm+"-cp-1 vanished"), ContainSubstring("Node cp-1 is gone")),
	)
	w.edit(func(c *ucv1.Cluster) { c.Spec.Handover.AcceptLostManagers = []string{kcm + "-cp-1"} })
	w.until("an open fence", opened, s.play)
}

func TestAnOperatorFollowsTheInstructions(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	arguments := append(loopsOn()[:5:5], "--leader-elect=false")
	w.deployControlPlane(arguments...)
	w.pool("pool", 1)
	w.create(func(c *ucv1.Cluster) { c.Spec.ControlPlane.Change = ucv1.InstructChange }, accepting("LeaderElectionOff"))
	w.pass()
	w.edit(feature(true))
	w.until("instructions", func(c *ucv1.Cluster) bool { return len(c.Status.Instructions) > 0 }, w.playControlPlane, w.playAddons)
	g.Expect(w.status().Instructions).To(Equal([]ucv1.Instruction{{
		Order: 1, Component: kcm, Object: "Deployment " + w.namespace + "/" + kcm, Set: []string{silentList},
	}}))
	before := w.deployment(kcm)
	w.clock.Step(time.Hour)
	w.passes(3)
	g.Expect(w.deployment(kcm).ResourceVersion).To(Equal(before.ResourceVersion), "nothing of it is changed by us")
	w.expectVerdict(kstatus.InProgressStatus)

	follow := func() {
		if len(w.status().Instructions) == 0 || w.status().Instructions[0].Done {
			return
		}
		deployment := w.deployment(kcm)
		container := &deployment.Spec.Template.Spec.Containers[0]
		container.Command = followed(container.Command, w.status().Instructions[0])
		g.Expect(suite.client.Update(t.Context(), deployment)).To(Succeed())
	}
	follow()
	w.rollPods(kcm)
	w.passes(2)
	g.Expect(w.status().Instructions[0].Done).To(BeFalse(), "old pods are still going")
	w.expectClosed("the old pods are still going")
	w.until(
		"completion",
		func(c *ucv1.Cluster) bool { return c.Status.CompletedAt != nil },
		w.playControlPlane,
		w.playAddons,
		w.playMachines,
		follow,
	)
	w.until("the end", at(ucv1.StepFinished), w.playControlPlane, w.playMachines, follow)
	w.expectVerdict(kstatus.CurrentStatus)
}
