package integration_test

import (
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// withoutCredentials is a kubeconfig of the API server in which no one says who he is.
func (w *world) withoutCredentials() []byte {
	return []byte("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://192.0.2.1:6443'}}]\n" +
		"users: [{name: u, user: {}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n")
}

func (w *world) replaceKubeconfig(data []byte) {
	w.t.Helper()
	g, secret := NewWithT(w.t), &corev1.Secret{}
	g.Expect(suite.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: alpha +
		"-kubeconfig"}, secret)).To(Succeed())
	secret.Data = map[string][]byte{"value": data}
	g.Expect(suite.client.Update(w.t.Context(), secret)).To(Succeed())
}

// The credentials are lost when KCM's loops are off, and the manager is killed meanwhile: no one runs the cloud loops, and
// that is the first thing that is said.
func TestCredentialsThatAreLostInTheHandOverAreNoSilentOutage(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	off := func(c *ucv1.Cluster) bool { return c.Status.Handover != nil && c.Status.Handover.LoopsOffAt != nil }
	w := startedWorld(t, "KCM with its loops off", off, "pool")
	w.replaceKubeconfig(w.withoutCredentials())
	w.reconnect(ucv1.UnauthorizedReason)
	w.until("KCM's end", func(c *ucv1.Cluster) bool { return c.Status.UnattendedSince != nil }, w.playControlPlane)
	since := w.status().UnattendedSince
	g.Expect(w.condition(ucv1.CloudLoopsAttendedCondition)).To(
		And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", "CloudLoopsUnattended")),
	)
	w.expectVerdict(kstatus.FailedStatus)
	g.Expect(w.condition("Stalled").Reason).To(Equal(ucv1.UnauthorizedReason), "only a person can give credentials")

	w.restart()
	w.reconnect(ucv1.UnauthorizedReason)
	w.until("a Ready that says so", func(*ucv1.Cluster) bool { return w.condition("Ready").Reason == "CloudLoopsUnattended" })
	g.Expect(w.clock.Now().Sub(since.Time)).To(BeNumerically("~", time.Minute, 15*time.Second))
	g.Expect(w.condition("Ready").Message).To(
		And(ContainSubstring("No manager has run the cloud loops"), ContainSubstring(since.UTC().Format(time.RFC3339)),
			ContainSubstring("alpha-kubeconfig, key value has no credentials"), Not(ContainSubstring("by itself"))),
	)
	w.until("a call for a person", func(*ucv1.Cluster) bool {
		c, _ := w.cluster()
		for _, condition := range c.Status.Conditions {
			if condition.Type == ucv1.StalledCondition && condition.Reason == "CloudLoopsUnattended" {
				return true
			}
		}
		return false
	})
	w.expectVerdict(kstatus.FailedStatus)
	g.Expect(w.status().UnattendedSince).To(Equal(since), "a restart forgets nothing")

	w.replaceKubeconfig(w.kubeconfig)
	w.reconnect(ucv1.ReachableReason)
	w.until("the end", finished, w.playEverybody)
	g.Expect(w.condition(ucv1.CloudLoopsAttendedCondition).Status).To(Equal(metav1.ConditionTrue))
	g.Expect(w.status().UnattendedSince).To(BeNil())
}

// The second story: the API server refuses connections, and then the Secret is gone, too. Each of them is another reason for the
// same outage, which goes on meanwhile.
func TestAServerAndASecretThatAreLostInTheHandOverAreNoSilentOutage(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	off := func(c *ucv1.Cluster) bool { return c.Status.Handover != nil && c.Status.Handover.LoopsOffAt != nil }
	w := startedWorld(t, "KCM with its loops off", off, "pool")
	kubeconfig(func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.Server = "https://" + closedPort(t) })(w)
	w.reconnect(ucv1.UnreachableReason)
	w.until("KCM's end", func(c *ucv1.Cluster) bool { return c.Status.UnattendedSince != nil }, w.playControlPlane)
	since := w.status().UnattendedSince
	g.Expect(w.condition(ucv1.CloudLoopsAttendedCondition)).To(
		And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", "CloudLoopsUnattended")),
	)
	w.until("a Ready that says so", func(*ucv1.Cluster) bool { return w.condition("Ready").Reason == "CloudLoopsUnattended" })
	g.Expect(w.clock.Now().Sub(since.Time)).To(BeNumerically("~", time.Minute, 15*time.Second))
	w.expectOutage("refuses connections")
	w.expectVerdict(kstatus.InProgressStatus)

	w.secret(alpha+"-kubeconfig", nil)
	w.reconnect(ucv1.KubeconfigMissingReason)
	w.until(
		"a call for a person",
		func(*ucv1.Cluster) bool { return w.condition(ucv1.StalledCondition).Reason == "CloudLoopsUnattended" },
	)
	g.Expect(w.clock.Now().Sub(since.Time)).To(BeNumerically("~", 2*time.Minute, 15*time.Second))
	w.expectOutage("alpha-kubeconfig, key value is missing or empty")
	w.expectVerdict(kstatus.FailedStatus)
	g.Expect(w.status().UnattendedSince).To(Equal(since), "it is the same outage")

	w.secret(alpha+"-kubeconfig", map[string][]byte{"value": w.kubeconfig})
	w.reconnect(ucv1.ReachableReason)
	w.until("the end", finished, w.playEverybody)
	g.Expect(w.condition(ucv1.CloudLoopsAttendedCondition).Status).To(Equal(metav1.ConditionTrue))

	kubeconfig(func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.Server = "https://" + closedPort(t) })(w)
	w.reconnect(ucv1.UnreachableReason)
	for range 30 {
		w.clock.Step(10 * time.Second)
		w.pass()
	}
	g.Expect(w.condition(ucv1.CloudLoopsAttendedCondition)).To(HaveField("Status", metav1.ConditionUnknown), "they were attended "+
		"when it was last looked at")
	g.Expect(w.condition(ucv1.StalledCondition)).To(BeZero())
}

// expectOutage: Ready says since when, which loops, and why; it never says that no one has to act.
func (w *world) expectOutage(why string) {
	w.t.Helper()
	NewWithT(w.t).Expect(w.condition("Ready")).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Message", And(
		ContainSubstring(
			"No manager has run the cloud loops (",
		),
		ContainSubstring("since "+w.status().UnattendedSince.UTC().Format(time.RFC3339)),
		ContainSubstring(why),
		Not(ContainSubstring("by itself")),
		Not(ContainSubstring("goes on as it is")),
	))))
}

// The most important Deployment of a finished cluster is watched for ever.
func TestACCMThatIsDeletedInAFinishedClusterIsAppliedOnTheEvent(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := startedWorld(t, "the end", finished, "pool")
	w.expectIdle()
	for quiet := 0; quiet < 10; quiet++ {
		w.clock.Step(time.Second)
		select {
		case <-w.registry.Events():
			quiet = 0
		case <-time.After(interval):
		}
	}
	g.Expect(
		w.user.client.Delete(
			t.Context(),
			&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: ccm}},
		),
	).To(Succeed())
	deleted := w.clock.Now()
	g.Eventually(func() <-chan event.GenericEvent {
		w.clock.Step(time.Second) // Events are held back for a moment, to come together.
		return w.registry.Events()
	}, 5*time.Second, interval).Should(Receive())
	g.Expect(w.clock.Now().Sub(deleted)).To(BeNumerically("<=", time.Minute), "no look that comes by itself is due so soon")
	g.Eventually(func() bool { w.pass(); return w.ccmDeployed() }, 5*time.Second, interval).Should(BeTrue(), "no clock was stepped")
}

func TestACCMThatIsLeftToAnotherToolIsNotAppliedAgain(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := startedWorld(t, "the end", finished, "pool")
	w.edit(func(c *ucv1.Cluster) { c.Spec.Addons.Management = ucv1.ReleasedAddons })
	g.Expect(
		w.user.client.Delete(
			t.Context(),
			&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: ccm}},
		),
	).To(Succeed())
	w.until("a condition that says so", func(*ucv1.Cluster) bool {
		return w.condition(ucv1.CloudControllerManagerReadyCondition).Reason == ucv1.AddonsReleasedReason
	})
	for range 10 {
		w.pass()
		w.clock.Step(time.Minute)
	}
	g.Expect(w.ccmDeployed()).To(BeFalse())

	w.edit(func(c *ucv1.Cluster) { c.Spec.Addons.Management = ucv1.ManagedAddons })
	w.until("the CCM", func(*ucv1.Cluster) bool { return w.ccmDeployed() })
}
