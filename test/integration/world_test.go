package integration_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/loadbalancers"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
	"github.com/ccm-migration/ccm-migration-controller/test/conformance"
)

// world is one Cluster with both its API servers. No controller runs but ours, and that one only when a test says so:
// the test plays everybody else, and time stands still until it steps the clock.
type world struct {
	t    *testing.T
	user *userCluster
	// kubeconfig of the user cluster with which the Cluster begins.
	kubeconfig []byte
	// namespace of the control plane; its Node in the management cluster has the same name.
	namespace string
	clock     *clocktesting.FakeClock
	requests  *requests
	manager   client.Client
	asCCM     client.Client
	asProbe   client.Client
	// probeDies keeps the probe from leading.
	probeDies bool
	// idleCCM keeps the CCM from initializing Nodes.
	idleCCM bool
	// knownProviderIDs has kubelets set their providerID themselves.
	knownProviderIDs bool
	stop             func()
	registry         *usercluster.Registry
	ledger           *controlplane.Ledger
	reconciler       *cluster.Reconciler
	checker          *conformance.Checker
	// connects says that a pass asks for a connection: the Cluster has its finalizer.
	connects bool
	// refusal is the only error that a pass may end with; empty: none.
	refusal string
	// loadBalancers are renamed by it.
	loadBalancers *loadbalancers.Cloud
}

// alpha is the name of the Cluster of every world.
const alpha = "alpha"

func newWorld(t *testing.T) *world {
	t.Helper()
	g := NewWithT(t)
	user := takeUserCluster(t)
	w := &world{
		t: t, user: user, kubeconfig: user.kubeconfig, namespace: newNamespace(t),
		clock: clocktesting.NewFakeClock(time.Now()), requests: &requests{},
	}
	var err error
	w.checker, err = conformance.New()
	g.Expect(err).NotTo(HaveOccurred())

	w.manager, w.asCCM, w.asProbe = managerClient(t, w.requests), w.ccmClient(ccm), w.ccmClient(ccm+"-probe")
	w.restart()
	return w
}

// restart puts a new controller in the place of the old one, which remembers nothing.
func (w *world) restart() {
	w.t.Helper()
	if w.stop != nil {
		w.stop()
	}
	w.registry = usercluster.NewRegistry(usercluster.Options{
		SecretReader:   w.manager,
		Management:     w.manager,
		Scheme:         suite.scheme,
		Clock:          w.clock,
		ConnectWorkers: 2,
		QPS:            1000,
		Burst:          1000,
		Log:            logr.Discard(),
		Allow:          usercluster.Allow{Addresses: []net.IPNet{{IP: net.IPv4(127, 0, 0, 0), Mask: net.CIDRMask(8, 32)}}},
	})
	w.stop = w.run(w.registry)
	metrics, err := cluster.NewMetrics(prometheus.NewRegistry())
	NewWithT(w.t).Expect(err).NotTo(HaveOccurred())
	w.ledger = controlplane.NewLedger(w.clock)
	w.reconciler = &cluster.Reconciler{
		Client: w.manager, UserClusters: w.registry, Recorder: events.NewFakeRecorder(1000), Clock: w.clock, Metrics: metrics,
	}
	w.observeBy(suite.catalogue)
}

// observeBy has the controller go by another catalogue.
func (w *world) observeBy(catalogue *provider.Catalogue) {
	w.t.Helper()
	observer, err := cluster.NewObserver(cluster.ObserverOptions{
		Client: w.manager, Live: w.manager, Catalogue: catalogue, LoadBalancers: w.loadBalancers,
		ControlPlane: &controlplane.Reader{Live: w.manager, Ledger: w.ledger, Clock: w.clock},
	})
	NewWithT(w.t).Expect(err).NotTo(HaveOccurred())
	w.reconciler.Observer, w.reconciler.LoadBalancers = observer, w.loadBalancers
	w.reconciler.Planner = cluster.NewPlanner(observer, w.manager, w.registry, w.clock)
}

// managerIdentity is the manager's in the management cluster.
const managerIdentity = "system:serviceaccount:ccm-migration-system:ccm-migration-controller-manager"

// managerClient is what config/default gives the manager; a rule that is missing there fails a test here.
func managerClient(t *testing.T, through *requests) client.Client {
	t.Helper()
	config := suite.management.as("admin")
	config.Impersonate = rest.ImpersonationConfig{UserName: managerIdentity}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		through.next = next
		return through
	})
	c, err := client.New(config, client.Options{Scheme: suite.scheme, Mapper: suite.client.RESTMapper()})
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	// The authorizer reads the rules from a watch.
	g.Eventually(func() error { return c.List(t.Context(), &ucv1.ClusterList{}) }, deadline, interval).Should(Succeed())
	through.take()
	return c
}

// run connects until it is told to stop, or the test is over.
func (w *world) run(registry *usercluster.Registry) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- registry.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		NewWithT(w.t).Eventually(stopped, deadline).Should(Receive(BeNil()))
	})
	w.t.Cleanup(stop)
	return stop
}

func (w *world) key() client.ObjectKey { return client.ObjectKey{Namespace: w.namespace, Name: alpha} }

// create makes the Cluster with everything that it refers to but the control plane.
func (w *world) create(modifiers ...modifier) {
	w.t.Helper()
	w.secretsOfCluster()
	NewWithT(w.t).Expect(suite.client.Create(w.t.Context(), w.simcloudCluster(modifiers...))).To(Succeed())
}

func (w *world) secretsOfCluster() {
	w.t.Helper()
	w.secret(alpha+"-kubeconfig", map[string][]byte{"value": w.kubeconfig})
	w.secret("cloud-config", simcloudConfig())
}

func (w *world) simcloudCluster(modifiers ...modifier) *ucv1.Cluster {
	w.t.Helper()
	simcloud := func(c *ucv1.Cluster) {
		c.GenerateName, c.Name = "", alpha
		c.Spec.Version, c.Spec.Cloud.ProviderName = "1.30.14", "simcloud"
		// The controller's clock is stepped, the API server's is not: what both date takes any time.
		c.Spec.SLO.OnViolation = ucv1.ContinueOnViolation
		c.Spec.Preflight.Accept = []ucv1.AcceptedFinding{{ID: "ClockSkew", Reason: "the clock of the tests is stepped"}}
		c.Spec.Rollout.SoakSeconds, c.Spec.Rollout.Canary = new(int32(0)), ucv1.NoCanary
	}
	return newCluster(w.namespace, append([]modifier{simcloud}, modifiers...)...)
}

// secret creates or replaces a Secret; without data it is deleted.
func (w *world) secret(name string, data map[string][]byte) {
	w.t.Helper()
	g := NewWithT(w.t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}, Data: data}
	g.Expect(client.IgnoreNotFound(suite.client.Delete(w.t.Context(), secret.DeepCopy()))).To(Succeed())
	if data != nil {
		g.Expect(suite.client.Create(w.t.Context(), secret)).To(Succeed())
	}
}

// cluster is the Cluster as it is; gone says that it is no more.
func (w *world) cluster() (c *ucv1.Cluster, gone bool) {
	w.t.Helper()
	c = &ucv1.Cluster{}
	err := suite.client.Get(w.t.Context(), w.key(), c)
	NewWithT(w.t).Expect(client.IgnoreNotFound(err)).To(Succeed())
	return c, err != nil
}

func (w *world) status() ucv1.ClusterStatus {
	w.t.Helper()
	c, gone := w.cluster()
	NewWithT(w.t).Expect(gone).To(BeFalse(), "the Cluster is there")
	return c.Status
}

func (w *world) edit(modify modifier) {
	w.t.Helper()
	c, _ := w.cluster()
	modify(c)
	NewWithT(w.t).Expect(suite.client.Update(w.t.Context(), c)).To(Succeed())
}

// pass reconciles once, and makes the plan that the pass asked for. Every status that it leaves keeps its promises. A first
// connection to the user cluster is waited for, so that the next pass finds it as it is.
func (w *world) pass() ctrl.Result {
	w.t.Helper()
	result, _ := w.reconcile()
	return result
}

func (w *world) reconcile() (ctrl.Result, *ucv1.Cluster) {
	w.t.Helper()
	g := NewWithT(w.t)
	result, err := w.reconciler.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: w.key()})
	if w.refusal == "" || err == nil {
		g.Expect(err).NotTo(HaveOccurred())
	} else {
		g.Expect(err).To(MatchError(ContainSubstring(w.refusal)))
	}
	_, err = w.reconciler.Planner.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: w.key()})
	g.Expect(err).NotTo(HaveOccurred())
	if w.connects {
		g.Eventually(func() bool { return w.registry.State(w.key()).Connecting }, deadline, time.Millisecond).Should(BeFalse())
	}
	after, gone := w.cluster()
	if !gone && after.Status.ObservedGeneration != 0 {
		g.Expect(w.checker.Objections(after)).To(BeEmpty(), "%s", pretty(after.Status))
		g.Expect(after.Status.Conditions).NotTo(ContainElement(HaveField("Reason", ucv1.InternalErrorReason)), "the log has the stack")
	}
	w.connects = len(after.Finalizers) > 0 && !w.queues(after)
	return result, after
}

// queues says that the Cluster waits for its turn, and nothing connects.
func (w *world) queues(c *ucv1.Cluster) bool {
	return w.reconciler.Turns != nil && migration.AwaitsTurn(c) && !w.reconciler.Turns.Turn(w.t.Context(), c, w.clock.Now()).IsAbsent()
}

func (w *world) passes(count int) {
	w.t.Helper()
	for range count {
		w.pass()
	}
}

// until lets everybody play and time go on, pass after pass. A controller that only waits is late, as it may be: it asks
// for a pass every second or two. After ten seconds there is one, as whoever plays a manager renews its Lease in between.
func (w *world) until(what string, holds func(*ucv1.Cluster) bool, play ...func()) {
	w.t.Helper()
	c, _ := w.cluster()
	result := ctrl.Result{}
	for range 200 {
		if holds(c) {
			return
		}
		for _, one := range play {
			one()
		}
		step := 500 * time.Millisecond
		if result.RequeueAfter > step {
			step = min(max(result.RequeueAfter, 5*time.Second), 10*time.Second)
		}
		w.clock.Step(step)
		result, c = w.reconcile()
	}
	w.t.Fatalf("never came to be: %s\n%s", what, pretty(c.Status))
}

// reconnect lets time go on until the connection is for this reason.
func (w *world) reconnect(reason string) {
	w.t.Helper()
	NewWithT(w.t).Eventually(func() string {
		w.clock.Step(time.Second)
		w.pass()
		return w.registry.State(w.key()).Reason
	}, deadline, interval).Should(Equal(reason))
	w.pass()
}

func (w *world) expectVerdict(want kstatus.Status) {
	w.t.Helper()
	c, _ := w.cluster()
	got, err := conformance.Verdict(c)
	g := NewWithT(w.t)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(want), "%s", pretty(c.Status))
}

func (w *world) condition(kind string) metav1.Condition {
	w.t.Helper()
	if found := meta.FindStatusCondition(w.status().Conditions, kind); found != nil {
		return *found
	}
	return metav1.Condition{}
}

func at(step ucv1.Step) func(*ucv1.Cluster) bool {
	return func(c *ucv1.Cluster) bool { return c.Status.Step == step }
}

// provingSilence is the line of the hand-over at which KCM was changed and its old processes still run.
func provingSilence(c *ucv1.Cluster) bool {
	return c.Status.Handover != nil && slices.Contains([]string{"Settled", "Silent"}, c.Status.Handover.Stage)
}

func pretty(status ucv1.ClusterStatus) string {
	text, err := json.MarshalIndent(status, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}
