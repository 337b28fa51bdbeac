package integration_test

import (
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func (w *world) delete() {
	w.t.Helper()
	c, _ := w.cluster()
	NewWithT(w.t).Expect(suite.client.Delete(w.t.Context(), c)).To(Succeed())
}

func (w *world) expectGone() {
	w.t.Helper()
	w.pass()
	_, gone := w.cluster()
	NewWithT(w.t).Expect(gone).To(BeTrue())
	w.pass()
}

// gone is for until: the Cluster is gone.
func (w *world) gone(*ucv1.Cluster) bool {
	_, gone := w.cluster()
	return gone
}

func TestDeletionBeforeTheHandoverIsImmediate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		prepare func(w *world)
	}{
		"of a cluster that was never external": {func(w *world) {
			w.create()
			w.pass()
		}},
		"of a cluster that cannot start": {func(w *world) {
			w.flip()
			w.secret(alpha+"-kubeconfig", nil)
			w.passes(5)
			w.expectVerdict(kstatus.FailedStatus)
		}},
		"of a cluster whose addons are being applied": {func(w *world) {
			w.deployControlPlane(loopsOn()...)
			w.pool("pool", 1)
			w.flip()
			w.until("a CCM", func(*ucv1.Cluster) bool { return w.ccmDeployed() })
		}},
		"of a cluster that is external": {func(w *world) {
			w.deployControlPlane("--cloud-provider=external")
			w.create(feature(true))
			w.until("the end", at(ucv1.StepFinished), w.playEverybody)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tc.prepare(w)
			management, user := w.snapshot(), w.userSnapshot()
			w.delete()
			w.expectGone()
			g := NewWithT(t)
			g.Expect(w.userSnapshot()).To(Equal(user), "nothing is rolled back")
			g.Expect(w.snapshot()).To(Equal(management))
		})
	}
}

func TestDeletionDuringTheHandoverWaitsForItsEnd(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 1)
	w.playKCM(kcm + "-r1-0")
	w.flip()
	w.until("the proof of silence", provingSilence, w.playAddons)
	w.delete()
	w.clock.Step(3 * time.Second)
	w.passes(3)
	w.expectVerdict(kstatus.TerminatingStatus)
	g.Expect(w.condition("Ready")).To(And(
		HaveField("Reason", "Deleting"),
		HaveField(
			"Message",
			And(ContainSubstring("the deleted Cluster goes when the hand-over is complete"), ContainSubstring(kcm+"-r1-0")),
		),
	))

	w.until("an open fence", func(c *ucv1.Cluster) bool { return c.Status.Handover.FenceOpenedAt != nil },
		w.playControlPlane, func() { w.playKCM(kcm + "-r2-0") })
	_, gone := w.cluster()
	g.Expect(gone).To(BeFalse(), "no one runs the loops now")
	g.Eventually(w.playCCM, deadline, interval).Should(BeTrue())
	w.until("its end", w.gone, w.playEverybody)
	g.Expect(w.arguments(kcm)[3]).To(ContainSubstring("-service-lb-controller"), "no loop is given back")
}

func TestDeletionDuringTheRollWaitsForWhatIsRolling(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("small", 1)
	w.pool("large", 2)
	w.playKCM(kcm + "-r1-0")
	w.flip()
	w.until(
		"a MachineDeployment that is rolled",
		func(c *ucv1.Cluster) bool { return len(c.Status.RolledMachineDeployments) > 0 },
		w.playEverybody,
	)
	w.delete()
	w.passes(2)
	w.expectVerdict(kstatus.TerminatingStatus)
	g.Expect(w.condition("Ready").Message).To(And(
		HavePrefix("Waiting for the Machines of MachineDeployment kube-system/small ("),
		HaveSuffix("; the deleted Cluster goes when what was begun is rolled out, or at once with annotation "+
			"usercluster.k8c.io/abandon=true."),
	))
	w.until("its end", w.gone, w.playEverybody)
	g.Expect(w.machineNames()).To(ConsistOf("small-1-0", "large-0-0", "large-0-1"), "nothing new is begun")
}

// playEverybody is one move of all.
func (w *world) playEverybody() {
	w.t.Helper()
	w.playControlPlane()
	w.playAddons()
	w.playMachines()
	w.playLeaderOfKCM()
}

// playLeaderOfKCM has a pod of KCM that stays renew its Lease.
func (w *world) playLeaderOfKCM() {
	w.t.Helper()
	for _, pod := range w.pods(kcm) {
		if pod.DeletionTimestamp == nil {
			w.playKCM(pod.Name)
			return
		}
	}
}

// playLeaders is all that goes on in a cluster that rests: those who lead renew their Leases.
func (w *world) playLeaders() {
	w.t.Helper()
	w.playCCM()
	w.playLeaderOfKCM()
}
