package usercluster

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func contextUntil(stop chan struct{}) context.Context {
	return wait.ContextForChannel(stop)
}

func quick() Options {
	return Options{ConnectWorkers: 4, ConnectTimeout: 300 * time.Millisecond, ProbeInterval: 50 * time.Millisecond}
}

func (r *running) state(key types.NamespacedName) func() observation.Connection {
	return func() observation.Connection { return r.State(key) }
}

func (r *running) failures(key types.NamespacedName) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.entries[key].failures
}

func beReachable() gomegatypes.GomegaMatcher {
	return HaveField("Reachable", BeTrue())
}

func haveReason(reason string) gomegatypes.GomegaMatcher {
	return And(HaveField("Reachable", BeFalse()), HaveField("Reason", reason), HaveField("Message", Not(BeEmpty())))
}

func TestHangingServersDoNotDelayAHealthyOne(t *testing.T) {
	g := NewWithT(t)
	hanging, healthy := newHangingServers(t, 20), newAPIServer(t)
	r := startRegistry(t, quick())
	var keys []types.NamespacedName
	for i, address := range hanging {
		keys = append(keys, r.put(t, fmt.Sprintf("hanging-%d", i), []byte(kubeconfigWith("server: https://"+address, "token: a"))))
	}

	first := r.put(t, "healthy", healthy.kubeconfig("valid"))
	g.Eventually(r.state(first), patience, time.Millisecond).Should(beReachable())

	for _, key := range keys {
		g.Eventually(r.state(key), patience).Should(And(haveReason(ucv1.UnreachableReason),
			HaveField("Message", ContainSubstring("does not answer in time"))))
	}
	// All of them are suspects by now, and never hold more than their own slots: a new cluster finds a free worker.
	late := r.put(t, "late", healthy.kubeconfig("valid"))
	g.Eventually(r.state(late), patience, time.Millisecond).Should(beReachable())
	g.Consistently(r.state(first), "300ms").Should(beReachable())
}

func TestConnectionFollowsTheSecret(t *testing.T) {
	g := NewWithT(t)
	api, options := newAPIServer(t), quick()
	r := startRegistry(t, options)

	key := r.put(t, "a", api.kubeconfig("expired"))
	g.Eventually(r.state(key), patience).Should(And(haveReason(ucv1.UnauthorizedReason),
		HaveField("Message", And(ContainSubstring("Secret tenant/a-kubeconfig, key value"), Not(ContainSubstring("expired"))))))
	g.Eventually(r.events, patience).Should(Receive(Equal(key)))

	r.put(t, "a", api.kubeconfig("valid"))
	g.Eventually(r.state(key), patience).Should(beReachable())
	before, ok := r.Session(key)
	g.Expect(ok).To(BeTrue())

	// The credentials expire at the server, and are renewed without anybody telling the registry.
	api.token.Store("renewed")
	g.Eventually(r.state(key), patience).Should(haveReason(ucv1.UnauthorizedReason))
	secret := &corev1.Secret{}
	g.Expect(r.management.Get(t.Context(), types.NamespacedName{Namespace: "tenant", Name: "a-kubeconfig"}, secret)).To(Succeed())
	secret.Data["value"] = api.kubeconfig("renewed")
	g.Expect(r.management.Update(t.Context(), secret)).To(Succeed())
	g.Eventually(r.state(key), patience).Should(beReachable())
	after, _ := r.Session(key)
	g.Expect(after).NotTo(BeIdenticalTo(before))

	// The same content, put again, keeps the session.
	r.put(t, "a", api.kubeconfig("renewed"))
	g.Consistently(func() *Session { s, _ := r.Session(key); return s }, "1500ms").Should(BeIdenticalTo(after))
}

func TestConnectionSaysWhatIsWrong(t *testing.T) {
	api := newAPIServer(t)
	stopped := newAPIServer(t)
	stopped.Close()
	for name, tc := range map[string]struct {
		kubeconfig []byte
		reason     string
		says       string
		refused    bool
	}{
		"no Secret": {reason: ucv1.KubeconfigMissingReason, says: "Secret tenant/a-kubeconfig, key value is missing or empty"},
		"garbage": {kubeconfig: []byte("{"), reason: ucv1.KubeconfigInvalidReason, refused: true,
			says: "The kubeconfig in Secret tenant/a-kubeconfig, key value cannot be parsed"},
		"exec": {kubeconfig: []byte(kubeconfigWith("server: https://a", "exec: {command: a}")),
			reason: ucv1.KubeconfigRefusedReason, says: "uses exec", refused: true},
		"an API server that is gone": {kubeconfig: stopped.kubeconfig("valid"), reason: ucv1.UnreachableReason, says: "refuses connections"},
		"a certificate of someone else": {kubeconfig: []byte(kubeconfigWith("server: "+api.URL, "token: valid")),
			reason: ucv1.UnreachableReason, says: "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := startRegistry(t, quick())
			key := types.NamespacedName{Namespace: "tenant", Name: "a"}
			if tc.kubeconfig == nil {
				r.Ensure(&ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "a"}})
			} else {
				r.put(t, "a", tc.kubeconfig)
			}
			g.Eventually(r.state(key), patience).Should(And(haveReason(tc.reason),
				HaveField("Message", ContainSubstring(tc.says)), HaveField("Refused", tc.refused)))

			r.put(t, "a", api.kubeconfig("valid"))
			g.Eventually(r.state(key), patience).Should(beReachable())
		})
	}
}

func TestSecretReferenceIsFollowed(t *testing.T) {
	g := NewWithT(t)
	api := newAPIServer(t)
	r := startRegistry(t, quick())
	g.Expect(r.management.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "other"},
		Data: map[string][]byte{"file": api.kubeconfig("valid")}})).To(Succeed())
	r.Ensure(&ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "a"},
		Spec: ucv1.ClusterSpec{KubeconfigSecretRef: &ucv1.SecretKeyReference{Name: "other", Key: "file"}}})
	g.Eventually(r.state(types.NamespacedName{Namespace: "tenant", Name: "a"}), patience).Should(beReachable())
}

func TestUnreachableOnlyAfterSeveralFailures(t *testing.T) {
	g := NewWithT(t)
	api := newAPIServer(t)
	r := startRegistry(t, quick())
	key := r.put(t, "a", api.kubeconfig("valid"))
	g.Eventually(r.state(key), patience).Should(beReachable())
	session, _ := r.Session(key)

	api.down.Store(true)
	g.Eventually(r.state(key), patience).Should(And(haveReason(ucv1.UnreachableReason),
		HaveField("Message", ContainSubstring("status 500"))))
	g.Expect(r.failures(key)).To(BeNumerically(">=", unreachableAfter))
	kept, ok := r.Session(key)
	g.Expect(ok).To(BeTrue())
	g.Expect(kept).To(BeIdenticalTo(session), "what it remembers of leases is still true")

	api.down.Store(false)
	g.Eventually(r.state(key), patience).Should(beReachable())
}

func TestAtRestOnlyTheWorkloadsAreWatched(t *testing.T) {
	g := NewWithT(t)
	api := newAPIServer(t)
	r := startRegistry(t, quick())
	key := r.put(t, "a", api.kubeconfig("valid"))
	g.Eventually(r.state(key), patience).Should(beReachable())
	g.Eventually(api.watches.Load, patience).Should(BeNumerically("==", 2), "Deployments and DaemonSets of ours")

	r.SetMigrating(key, true)
	g.Eventually(api.watches.Load, patience).Should(BeNumerically("==", 11), "no CRDs, no watches of Machines")
	api.machines.Store(true)
	g.Eventually(api.watches.Load, patience).Should(BeNumerically("==", 14), "CRDs that appear are noticed")
	settle(g, r)

	api.changes <- "/apis/cluster.k8s.io/v1alpha1/machines"
	g.Eventually(r.events, patience, time.Millisecond).Should(Receive(Equal(key)))

	r.SetMigrating(key, false)
	g.Eventually(api.watches.Load, patience).Should(BeNumerically("==", 2))
	settle(g, r)
	api.changes <- "/apis/apps/v1/deployments"
	g.Eventually(r.events, patience, time.Millisecond).Should(Receive(Equal(key)), "a CCM that is deleted is noticed at once")
}

func TestAMigrationThatGoesOnIsWatchedAsSoonAsItsClusterAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		step    ucv1.Step
		watches int
	}{
		"a migration that goes on": {ucv1.StepRoll, 14},
		"one that is finished":     {ucv1.StepFinished, 2},
	} {
		t.Run(name, func(t *testing.T) {
			g, api := NewWithT(t), newAPIServer(t)
			api.machines.Store(true)
			api.down.Store(true)
			r := startRegistry(t, quick())
			key := r.put(t, "a", api.kubeconfig("valid"), func(c *ucv1.Cluster) {
				c.Spec.Features.ExternalCloudProvider = new(true)
				c.Status.Step = tc.step
			})
			g.Eventually(r.state(key), patience).Should(HaveField("Connecting", BeFalse()))
			g.Expect(api.watches.Load()).To(BeZero(), "nothing answers")
			api.down.Store(false)
			g.Eventually(r.state(key), patience).Should(beReachable())
			g.Eventually(api.watches.Load, patience).Should(BeNumerically("==", tc.watches))
		})
	}
}

// An API server tells everybody that it is ready.
func TestACallerThatTheAPIServerDoesNotKnowIsUnauthorized(t *testing.T) {
	g := NewWithT(t)
	api := newAPIServer(t)
	api.anonymous.Store(true)
	r := startRegistry(t, quick())
	key := r.put(t, "a", api.kubeconfig("valid"))
	g.Eventually(r.state(key), patience).Should(And(haveReason(ucv1.UnauthorizedReason),
		HaveField("Message", ContainSubstring("sees system:anonymous instead of the credentials in Secret tenant/a-kubeconfig"))))
	g.Consistently(r.state(key), "300ms").ShouldNot(beReachable())
	api.anonymous.Store(false)
	g.Eventually(r.state(key), patience).Should(beReachable())
}

// settle waits until no event came for a while.
func settle(g *WithT, r *running) {
	g.Eventually(func() bool {
		select {
		case <-r.events:
			return false
		case <-time.After(300 * time.Millisecond):
			return true
		}
	}, patience).Should(BeTrue())
}

func TestForgetLeavesNothingBehind(t *testing.T) {
	g := NewWithT(t)
	api := newAPIServer(t)
	api.machines.Store(true)
	r := startRegistry(t, quick())
	settle(g, r)
	before := runtime.NumGoroutine()

	for i := range 5 {
		key := r.put(t, fmt.Sprintf("a-%d", i), api.kubeconfig("valid"))
		r.SetMigrating(key, true)
		g.Eventually(r.state(key), patience).Should(beReachable())
	}
	g.Eventually(api.watches.Load, patience).Should(BeNumerically("==", 70))
	g.Expect(runtime.NumGoroutine()).To(BeNumerically(">", before))
	for i := range 5 {
		r.Forget(types.NamespacedName{Namespace: "tenant", Name: fmt.Sprintf("a-%d", i)})
	}
	g.Eventually(api.watches.Load, patience).Should(BeZero())
	api.CloseClientConnections() // The server's side of what the client closed.
	g.Eventually(runtime.NumGoroutine, patience).Should(BeNumerically("<=", before))

	r.stop()
	g.Expect(r.entries).To(BeEmpty())
	g.Expect(r.State(types.NamespacedName{Namespace: "tenant", Name: "a-0"})).To(haveReason(ucv1.UnreachableReason))
}

func TestEventsAreCoalesced(t *testing.T) {
	g := NewWithT(t)
	r := startRegistry(t, quick())
	key := types.NamespacedName{Namespace: "tenant", Name: "a"}
	for range 1000 {
		r.waker.wake(key)
	}
	g.Eventually(r.events, patience).Should(Receive(Equal(key)))
	g.Consistently(r.events, "200ms").ShouldNot(Receive())
}
