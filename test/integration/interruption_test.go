package integration_test

import (
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// startedWorld is a migration with these pools that was begun, up to a moment.
func startedWorld(t *testing.T, what string, holds func(*ucv1.Cluster) bool, pools ...string) *world {
	t.Helper()
	w := newWorld(t)
	w.begin(what, holds, pools...)
	return w
}

func (w *world) begin(what string, holds func(*ucv1.Cluster) bool, pools ...string) {
	w.t.Helper()
	w.deployControlPlane(loopsOn()...)
	for _, pool := range pools {
		w.pool(pool, 1)
	}
	w.playKCM(kcm + "-r1-0")
	// What is there is older than the migration: creation times have whole seconds, and are those of the API server, whose clock
	// may have gone further than the stepped one on a busy machine.
	w.clock.Step(max(0, time.Since(w.clock.Now())) + 2*time.Second)
	w.flip()
	w.until(what, holds, w.playEverybody)
}

func finished(c *ucv1.Cluster) bool { return c.Status.Step == ucv1.StepFinished }

func TestStatusOfAnOldVersionIsNotWritten(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.create()
	w.requests.once("/clusters/"+alpha+"/status", func() {
		w.edit(func(c *ucv1.Cluster) { c.Labels = map[string]string{"edited": "meanwhile"} })
	})
	result := w.pass()
	g.Expect(w.requests.waiting()).To(BeFalse())
	g.Expect(result.RequeueAfter).To(BeNumerically(">", 0), "a conflict is a new pass, and no error")
	g.Expect(w.status()).To(BeZero())
	w.pass()
	g.Expect(w.status().Step).To(Equal(ucv1.StepInTree))

	// What was recorded by another pass is not lost to one that did not know.
	w.edit(feature(true))
	w.pass()
	w.requests.once("/clusters/"+alpha+"/status", func() {
		c, _ := w.cluster()
		c.Status.RollGeneration = "42"
		g.Expect(suite.client.Status().Update(t.Context(), c)).To(Succeed())
	})
	w.pass()
	g.Expect(w.requests.waiting()).To(BeFalse())
	g.Expect(w.status().RollGeneration).To(Equal("42"))
	w.pass()
	g.Expect(w.status().RollGeneration).To(Equal("42"))
}

func TestAControllerThatIsKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("small", 1)
	w.pool("large", 2)
	w.flip()
	moves := 0
	w.until("the end", finished, w.playEverybody, func() {
		// A Lease has to be seen to change, so it needs to live for two looks.
		if moves++; moves%3 == 0 {
			w.restart()
			w.pass()
		}
	})
	w.expectVerdict(kstatus.CurrentStatus)
	g.Expect(w.machineNames()).To(ConsistOf("small-1-0", "large-1-0", "large-1-1"), "each was replaced once")
}

// One migration and what may happen in its middle, one after the other: each ends where it began.
func TestTroubleDuringTheRoll(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := startedWorld(t, "a forceRestart value", func(c *ucv1.Cluster) bool { return c.Status.RollGeneration != "" }, "pool")
	for _, trouble := range []func(){w.pause, w.loseCredentials, w.loseCloudConfig, w.turnLoopsOn} {
		trouble()
		g.Expect(w.machineNames()).To(ConsistOf("pool-0-0"))
	}
	w.until("the end", finished, w.playEverybody)
	g.Expect(w.machineNames()).To(ConsistOf("pool-1-0"), "it was replaced once")
}

func (w *world) pause() {
	w.t.Helper()
	g := NewWithT(w.t)
	w.edit(func(c *ucv1.Cluster) { c.Spec.Paused = true })
	w.playEverybody()
	management, user := w.snapshot(), w.userSnapshot()
	for range 5 {
		w.clock.Step(time.Minute)
		w.playLeaders()
		w.pass()
	}
	g.Expect(cmp.Diff(management, w.snapshot())).To(BeEmpty())
	g.Expect(cmp.Diff(user, w.userSnapshot())).To(BeEmpty())
	w.expectVerdict(kstatus.InProgressStatus)
	g.Expect(w.condition("Paused").Status).To(Equal(metav1.ConditionTrue))
	w.edit(func(c *ucv1.Cluster) { c.Spec.Paused = false })
}

func (w *world) loseCredentials() {
	w.t.Helper()
	g := NewWithT(w.t)
	kubeconfig(expired)(w)
	w.reconnect("Unauthorized")
	user := w.userSnapshot()
	w.passes(3)
	g.Expect(cmp.Diff(user, w.userSnapshot())).To(BeEmpty(), "nothing is decided")
	w.expectVerdict(kstatus.InProgressStatus)
	g.Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionUnknown))
	g.Expect(w.condition("UserClusterReachable").Reason).To(Equal("Unauthorized"))
	w.secret(alpha+"-kubeconfig", map[string][]byte{"value": w.user.kubeconfig})
	w.reconnect("Reachable")
}

func (w *world) loseCloudConfig() {
	w.t.Helper()
	g := NewWithT(w.t)
	user := w.withoutLeaseRight()
	for _, data := range []map[string][]byte{nil, {"token": []byte(confidential)}} {
		w.secret("cloud-config", data)
		w.passes(3)
		g.Expect(w.condition("Ready").Status).NotTo(Equal(metav1.ConditionTrue))
		g.Expect(w.condition("Ready").Message).To(ContainSubstring("Secret " + w.namespace + "/cloud-config"))
	}
	g.Expect(cmp.Diff(user, w.withoutLeaseRight())).To(BeEmpty(), "nothing is decided")
	w.secret("cloud-config", simcloudConfig())
}

func (w *world) turnLoopsOn() {
	w.t.Helper()
	g := NewWithT(w.t)
	deployment := w.deployment(kcm)
	before := deployment.Spec.Template.Spec.Containers[0].Command
	deployment.Spec.Template.Spec.Containers[0].Command = append([]string{kcm}, loopsOn()...)
	g.Expect(suite.client.Update(w.t.Context(), deployment, client.FieldOwner("gitops"))).To(Succeed())
	user := w.userSnapshot()
	w.passes(3)
	w.expectVerdict(kstatus.FailedStatus)
	g.Expect(w.condition("Stalled")).To(
		And(HaveField("Reason", "CloudLoopsContended"), HaveField("Message", ContainSubstring("gitops"))),
	)
	for _, kind := range []string{"Role", "RoleBinding"} {
		object := kind + ".rbac.authorization.k8s.io kube-system/ccm-migration:cloud-controller-manager-lease"
		g.Expect(user).To(HaveKey(object))
		delete(user, object)
	}
	g.Expect(w.userSnapshot()).To(Equal(user), "the fence is closed, and nothing is rolled")
	g.Expect(w.deployment(kcm).Generation).To(Equal(deployment.Generation), "two owners do not fight")
	w.rewrite(kcm, before[1:]...)
}

func TestAfterTheEnd(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := startedWorld(t, "the end", finished, "pool")
	w.passes(2)
	before := w.status()
	w.restart()
	w.requests.take()
	result := w.pass()
	g.Expect(result.RequeueAfter).To(BeNumerically(">", 0), "it is not connected yet")
	w.passes(3)
	g.Expect(w.requests.take()).To(BeEmpty(), "a restart looks like nothing happened")
	g.Expect(w.status()).To(Equal(before))

	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: ccm}}
	g.Expect(w.user.client.Delete(t.Context(), deployment)).To(Succeed())
	w.clock.Step(20 * time.Minute)
	w.until("a CCM, again", func(*ucv1.Cluster) bool { return w.ccmDeployed() })
	w.until("the end, again", finished, w.playEverybody)
	g.Expect(w.condition("CSIKubeletMigrationCompleted").Status).To(Equal(metav1.ConditionTrue), "it was never rolled back")
}

func TestNothingIsDoneWhileANodeIsNotReady(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := startedWorld(t, "the baseline", func(c *ucv1.Cluster) bool { return c.Status.Baseline != nil }, "pool")
	node := &corev1.Node{}
	g.Expect(w.user.client.Get(t.Context(), client.ObjectKey{Name: "pool-0-0"}, node)).To(Succeed())
	node.Status.Conditions[0].Status = corev1.ConditionUnknown
	g.Expect(w.user.client.Status().Update(t.Context(), node)).To(Succeed())
	for range 5 {
		w.clock.Step(time.Minute)
		w.playLeaders()
		w.pass()
	}
	g.Expect(w.status().Handover.StartedAt).To(BeNil())
	g.Expect(w.condition("HandoverCompleted")).To(
		And(HaveField("Reason", "NodesNotReady"), HaveField("Message", ContainSubstring("pool-0-0"))),
	)
	w.expectVerdict(kstatus.InProgressStatus)

	node.Status.Conditions[0].Status = corev1.ConditionTrue
	g.Expect(w.user.client.Status().Update(t.Context(), node)).To(Succeed())
	w.until("an open fence", func(c *ucv1.Cluster) bool { return c.Status.Handover.FenceOpenedAt != nil }, w.playEverybody)
}

// TestProofsOfKubeletsOutliveTheManager: kubelets that set their providerID themselves leave nothing that shows for long.
func TestProofsOfKubeletsOutliveTheManager(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.knownProviderIDs = true
	w.begin("the proof of every Node", func(c *ucv1.Cluster) bool { return c.Status.StableSince != nil }, "pool")
	w.pass()
	g.Expect(w.status().Nodes.Proven).To(HaveValue(Equal(ucv1.ProvenCount{Total: 1, Taint: 1})))
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: w.namespace, Name: w.status().Baseline.SecretName}
	g.Expect(suite.client.Get(t.Context(), key, secret)).To(Succeed())
	node := &corev1.Node{}
	g.Expect(w.user.client.Get(t.Context(), client.ObjectKey{Name: "pool-1-0"}, node)).To(Succeed())
	g.Expect(baseline.DecodeProofs(secret.Data[baseline.ProofsKey])).To(
		Equal(map[string]observation.Proof{string(node.UID): observation.TaintSeen}),
	)
	g.Expect(baseline.Decode(secret.Data)).To(HaveField("Digest()", w.status().Baseline.Digest), "the inventory stays as it was")

	w.restart()
	w.until("the end", finished, w.playEverybody)
	g.Expect(w.status().Nodes.Proven).To(HaveValue(Equal(ucv1.ProvenCount{Total: 1, Taint: 1})))
	unchanged := &corev1.Secret{}
	g.Expect(suite.client.Get(t.Context(), key, unchanged)).To(Succeed())
	g.Expect(unchanged.ResourceVersion).To(Equal(secret.ResourceVersion), "it is written when something changed")
}
