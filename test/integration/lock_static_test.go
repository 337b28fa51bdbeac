package integration_test

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
)

// staticLock are static pods whose leader, and the CCM, elect a second time when they have the migration lock.
type staticLock struct {
	*staticPods
	lock *lockPlayers
}

func (s *staticLock) playLock() {
	s.t.Helper()
	s.play()
	if slices.Contains(s.manifests[s.holder], armedFlag) {
		s.lock.elect(s.lock.asKCM, s.holder+"_1")
	}
	deployment := s.lock.ccm()
	if deployment != nil && slices.Contains(deployment.Spec.Template.Spec.Containers[0].Args, armedFlag) && s.playCCM() {
		s.lock.elect(s.asCCM, ccm+"-0_1")
	}
}

func TestAdministratorGivesKCMTheMigrationLockAndTakesIt(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	s := &staticLock{w.staticControlPlane(loopsOn(), "cp-0", "cp-1"), &lockPlayers{world: w, asKCM: w.kcmClient()}}
	w.pool("pool", 1)
	w.create(byLock, func(c *ucv1.Cluster) {
		c.Spec.ControlPlane.Type, c.Spec.Rollout.AcceptNodes = ucv1.ExternalControlPlane, []string{"cp-0", "cp-1"}
	})
	w.pass()
	w.edit(feature(true))
	instructed := func(c *ucv1.Cluster) bool { return len(c.Status.Instructions) > 0 }
	w.until("instructions for the lock", instructed, s.playLock)
	g.Expect(s.left()).To(Equal([]string{"cp-1", "cp-0"}), "the leader's Node is last")
	first := w.status().Instructions[0]
	g.Expect(first.Set).To(Equal([]string{armedFlag, lockFlag}))
	g.Expect(first.Files).To(ConsistOf(And(HaveField("Path", handover.LockPath),
		HaveField("Content", ContainSubstring(`name: "service-lb-controller"`)))))

	s.do("cp-1")
	w.clock.Step(48 * time.Hour)
	s.expectWaiting("Node cp-0 has no lock")
	g.Expect(s.left()).To(Equal([]string{"cp-0"}))
	g.Expect(w.condition("Ready")).To(HaveField("Reason", "WaitingForAdministrator"), "it has time: KCM runs the loops")
	s.do("cp-0")
	w.pass()
	g.Expect(w.status().Handover.FenceOpenedAt).To(BeNil(), "the proof takes its time")
	w.until("an open fence", opened, s.playLock)
	w.until("instructions for the loops", instructed, s.playLock)
	g.Expect(w.status().Instructions).To(HaveEach(And(
		HaveField("Set", []string{silentList}), HaveField("RemoveFiles", []string{handover.LockPath}),
		HaveField("Remove", []string{"--enable-leader-migration", "--leader-migration-config"}))))
	s.do("cp-1")
	w.until("Node cp-1 to be done", func(*ucv1.Cluster) bool { return len(s.left()) == 1 }, s.playLock)
	s.do("cp-0")
	s.holder = "cp-1"
	w.until("the hand-over", func(c *ucv1.Cluster) bool { return c.Status.Handover.FinishedAt != nil }, s.playLock)
	g.Expect(s.manifests["cp-0"]).To(And(ContainElement(silentList), Not(ContainElement(armedFlag)), Not(ContainElement(lockFlag))))
	s.lock.expectNothingLeft()
}
