package integration_test

import (
	"context"
	"slices"
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// ccmPod is a pod that runs as the CCM.
func (w *world) ccmPod(name string) *corev1.Pod {
	w.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name},
		Spec: corev1.PodSpec{
			ServiceAccountName: ccm, Containers: []corev1.Container{{Name: ccm, Image: "registry.example/ccm:v1"}},
		},
	}
	NewWithT(w.t).Expect(w.user.client.Create(w.t.Context(), pod)).To(Succeed())
	w.t.Cleanup(func() { w.endPod(pod) })
	return pod
}

func (w *world) endPod(pod *corev1.Pod) {
	err := w.user.client.Delete(context.WithoutCancel(w.t.Context()), pod, client.GracePeriodSeconds(0))
	NewWithT(w.t).Expect(client.IgnoreNotFound(err)).To(Succeed())
}

func TestRollbackInTheRollAndRedo(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := startedWorld(t, "the roll", at(ucv1.StepRoll), "a", "b", "c")
	w.until(
		"a Machine that is rolled",
		func(c *ucv1.Cluster) bool { return slices.Contains(w.machineNames(), "a-1-0") },
		w.playEverybody,
	)
	pnr := w.status().Handover.PointOfNoReturn
	g.Expect(pnr.State).To(Equal(ucv1.PointOfNoReturnAhead), pnr.Reason)
	g.Expect(pnr.Next).To(ContainSubstring("step Complete"))
	pod := w.ccmPod("ccm-0")

	w.edit(rollback(true))
	w.until("the CCM's pod to be all that is left", at(ucv1.StepRollbackFence), w.playEverybody)
	for _, name := range machineControllers() {
		g.Expect(w.arguments(name)).NotTo(ContainElement(HaveSuffix("external-cloud-provider=true")), name)
	}
	g.Expect(w.machineNames()).To(ContainElements("a-2-0", "c-0-0"), "what was not rolled is not touched")
	w.expectVerdict(kstatus.InProgressStatus)
	g.Expect(w.condition("MachineDeploymentsRolledOut").Reason).To(Equal("RolledBack"))
	g.Expect(w.condition("HandoverCompleted").Reason).To(Equal("RollbackInProgress"))

	for range 10 {
		w.clock.Step(10 * time.Second)
		w.playEverybody()
		w.pass()
		g.Expect(w.loops()).To(ContainElement(ContainSubstring("-service-lb-controller")), "a pod of the CCM is left")
	}
	g.Expect(w.ccmDeployed()).To(BeFalse())
	g.Expect(w.condition("HandoverCompleted").Message).To(ContainSubstring("ccm-0"))
	w.endPod(pod)
	gone := w.clock.Now()
	w.until("a KCM with its loops", func(*ucv1.Cluster) bool { return w.status().Rollback.LoopsOnAt != nil }, w.playEverybody)
	g.Expect(w.clock.Now().Sub(gone)).To(BeNumerically(">=", 15*time.Second), "its Lease has to run out")
	g.Expect(w.loops()).To(ConsistOf("--controllers=*,bootstrapsigner"), "as it was")

	w.until("the end of the rollback", at(ucv1.StepRolledBack), w.playEverybody)
	w.expectVerdict(kstatus.CurrentStatus)
	g.Expect(w.condition("Ready").Reason).To(Equal("RolledBack"))
	g.Expect(w.arguments(kcm)).To(ConsistOf(append([]string{kcm}, loopsOn()...)), "the gates too")
	status := w.status()
	status.Rollback = nil
	g.Expect(status.Facts).To(Equal(ucv1.Facts{Origin: ucv1.OriginMigrating}))
	w.expectIdle()

	w.edit(rollback(false))
	w.passes(3)
	w.expectIdle()
	g.Expect(w.status().Step).To(Equal(ucv1.StepRolledBack), "a line that is lost from a Git repository starts nothing")
	w.edit(w.again())
	w.until("the end", finished, w.playEverybody)
	g.Expect(w.machineNames()).To(ContainElements("a-3-0", "c-1-0"), "each was replaced once more")
	g.Expect(w.status().PointOfNoReturnAt).NotTo(BeNil())
}

// loops is the flag of KCM that switches them.
func (w *world) loops() []string {
	w.t.Helper()
	return slices.DeleteFunc(
		w.arguments(kcm),
		func(argument string) bool { return len(argument) < 14 || argument[:14] != "--controllers=" },
	)
}

func TestRollbackAgainAndAgainKilled(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := startedWorld(t, "the roll", at(ucv1.StepRoll), "pool")
	w.edit(func(c *ucv1.Cluster) { c.Spec.Handover.PauseBeforePointOfNoReturn = true })
	w.until(
		"the pause",
		func(*ucv1.Cluster) bool { return w.condition("Ready").Reason == "WaitingBeforePointOfNoReturn" },
		w.playEverybody,
	)
	w.edit(rollback(true))
	w.edit(func(c *ucv1.Cluster) { c.Spec.Handover.RollbackAddons = true })
	moves := 0
	w.until("the end of the rollback", at(ucv1.StepRolledBack), w.playEverybody, func() {
		// The Lease is waited for on the controller's own clock, so it has to live for that long.
		if moves++; moves%3 == 0 && w.status().Step != ucv1.StepRollbackSilence {
			w.restart()
			w.pass()
		}
	})
	g.Expect(w.machineNames()).To(ConsistOf("pool-2-0"), "it was rolled back once")
	g.Expect(w.loops()).To(ConsistOf("--controllers=*,bootstrapsigner"))
	g.Expect(w.ccmDeployed()).To(BeFalse())
	account := &corev1.ServiceAccount{}
	err := w.user.client.Get(t.Context(), client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: ccm}, account)
	g.Expect(client.IgnoreNotFound(err)).To(Succeed())
	g.Expect(err).To(HaveOccurred(), "the addons are gone")
	driver := &storagev1.CSIDriver{}
	g.Expect(w.user.client.Get(t.Context(), client.ObjectKey{Name: "csi.simcloud.k8c.io"}, driver)).To(
		Succeed(),
		"a driver is never deleted",
	)

	w.edit(func(c *ucv1.Cluster) { c.Spec.Handover = ucv1.HandoverSpec{} })
	w.edit(w.again())
	w.until("the end", finished, w.playEverybody)
}

func TestRollbackIsRefusedForAVolumeThatOnlyTheDriverCanServe(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := startedWorld(t, "the roll", at(ucv1.StepRoll), "pool")
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}, Spec: corev1.PersistentVolumeSpec{
		Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		PersistentVolumeSource: corev1.PersistentVolumeSource{
			CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.simcloud.k8c.io", VolumeHandle: "1"},
		},
	}}
	g.Expect(w.user.client.Create(t.Context(), volume)).To(Succeed())
	// The controller has not looked yet: the race that no rule of the API can see.
	w.edit(rollback(true))
	w.pass()
	g.Expect(w.condition("Stalled").Reason).To(Equal("RollbackRefused"))
	g.Expect(w.condition("Stalled").Message).To(
		And(ContainSubstring("was passed at "), ContainSubstring("PersistentVolume "+w.namespace)),
	)
	g.Expect(w.condition("HandoverCompleted").Status).To(Equal(metav1.ConditionTrue), "what holds is still said to hold")
	w.expectVerdict(kstatus.FailedStatus)

	volume.Finalizers = nil
	g.Expect(w.user.client.Update(t.Context(), volume)).To(Succeed())
	g.Expect(w.user.client.Delete(t.Context(), volume)).To(Succeed())
	w.until("the rollback", func(c *ucv1.Cluster) bool { return c.Status.Rollback != nil }, w.playEverybody)
	w.until("the end of the rollback", at(ucv1.StepRolledBack), w.playEverybody)
}

func TestPauseBeforeThePointOfNoReturn(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := startedWorld(t, "the roll", at(ucv1.StepRoll), "pool")
	w.edit(func(c *ucv1.Cluster) { c.Spec.Handover.PauseBeforePointOfNoReturn = true })
	w.until(
		"the pause",
		func(*ucv1.Cluster) bool { return w.condition("Ready").Reason == "WaitingBeforePointOfNoReturn" },
		w.playEverybody,
	)
	w.expectVerdict(kstatus.InProgressStatus)
	for range 5 {
		w.clock.Step(time.Minute)
		w.playEverybody()
		w.pass()
	}
	g.Expect(w.status().CompletedAt).To(BeNil())
	w.edit(func(c *ucv1.Cluster) { c.Spec.Handover.PauseBeforePointOfNoReturn = false })
	w.until("the end", finished, w.playEverybody)
	g.Expect(w.status().Handover.PointOfNoReturn.State).To(Equal(ucv1.PointOfNoReturnPassed))
}

func TestRollbackWhileTheMigrationLockIsInUse(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*ucv1.Cluster) bool{
		"both have it":     func(c *ucv1.Cluster) bool { return c.Status.Handover != nil && c.Status.Handover.FenceOpenedAt != nil },
		"the CCM holds it": func(c *ucv1.Cluster) bool { return c.Status.Handover != nil && c.Status.Handover.LockTakenAt != nil },
	}
	for name, moment := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			w := newWorld(t)
			p := &lockPlayers{world: w, asKCM: w.kcmClient()}
			w.deployControlPlane(loopsOn()...)
			w.pool("pool", 1)
			w.playKCM(kcm + "-r1-0")
			w.create(byLock)
			w.pass()
			w.edit(feature(true))
			w.until("the moment of the rollback", moment, p.play)

			w.edit(rollback(true))
			w.until("the end of the rollback", at(ucv1.StepRolledBack), p.play)
			g.Expect(p.early).To(BeFalse(), "no KCM is without the lock while the fence is open")
			g.Expect(w.ccmDeployed()).To(BeFalse())
			g.Expect(w.arguments(kcm)).To(ConsistOf(append([]string{kcm}, loopsOn()...)), "as it was, and without the lock")
			g.Expect(w.deployment(kcm).Spec.Template.Spec.Volumes).To(BeEmpty())
			p.expectNoLock()
			w.expectVerdict(kstatus.CurrentStatus)
			g.Expect(w.condition("HandoverCompleted").Reason).To(Equal("RolledBack"))
			w.expectIdle()

			w.edit(w.again())
			w.until("the end", finished, p.play)
			p.expectNoLock()
		})
	}
}
