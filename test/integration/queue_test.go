package integration_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// queue is what a fleet says of the only Cluster of a world.
type queue struct {
	turn observation.Observed[observation.Turn]
	soon bool
}

func (q *queue) Turn(context.Context, *ucv1.Cluster, time.Time) observation.Observed[observation.Turn] {
	return q.turn
}
func (q *queue) Soon(types.UID) bool              { return q.soon }
func (q *queue) Wakes() <-chan event.GenericEvent { return nil }

func waiting(reason string) observation.Observed[observation.Turn] {
	return observation.Known(observation.Turn{Reason: reason, Message: "FleetMigration fm has queued the cluster."})
}

// queuedWorld is an in-tree cluster whose feature was switched on, and whose turn has not come.
func queuedWorld(t *testing.T) (*world, *queue) {
	t.Helper()
	w, q := inTreeWorld(t), &queue{turn: waiting(ucv1.QueuedReason)}
	w.look()
	w.reconciler.Turns = q
	w.enable()
	w.passes(3) // The finalizer, the origin, and what it waits for.
	return w, q
}

// object is the Cluster.
func (w *world) object() *ucv1.Cluster {
	w.t.Helper()
	c, _ := w.cluster()
	return c
}

// enable the feature.
func (w *world) enable() {
	w.t.Helper()
	w.edit(func(c *ucv1.Cluster) { c.Spec.Features.ExternalCloudProvider = new(true) })
}

func TestAQueuedClusterWorksAndCostsNothing(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w, q := queuedWorld(t)
	g.Expect(w.condition(ucv1.ReadyCondition)).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Reason", "Queued")))
	g.Expect(w.condition(ucv1.AdmittedCondition)).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", "Queued"),
		HaveField("Message", "FleetMigration fm has queued the cluster.")))
	g.Expect(w.condition(ucv1.UserClusterReachableCondition)).To(BeZero(), "no one looked")
	g.Expect(w.condition(ucv1.ReadyToMigrateCondition)).NotTo(BeZero())
	g.Expect(w.status().LookAhead.LookedAt).NotTo(BeNil(), "what a look found before is kept")
	w.expectVerdict(kstatus.CurrentStatus)

	w.clock.Step(10 * time.Minute) // A changed spec is looked at once more.
	w.playKCM(kcm + "-r1-0")
	w.pass()
	user := w.user.markAudit(t)
	w.requests.take()
	for range 20 {
		w.clock.Step(time.Minute)
		result := w.pass()
		g.Expect(result.RequeueAfter).To(BeNumerically(">", 9*time.Minute))
	}
	g.Expect(w.requests.take()).To(BeEmpty(), "nothing is written")
	for _, event := range user.since(t) {
		g.Expect(event.Who()).NotTo(Equal(controllerIdentity), event.RequestURI)
	}

	q.turn = observation.Unknown[observation.Turn]("the FleetMigrations: timeout")
	w.pass()
	g.Expect(w.condition(ucv1.AdmittedCondition).Status).To(Equal(metav1.ConditionUnknown))
	g.Expect(w.condition(ucv1.ReadyCondition).Status).To(Equal(metav1.ConditionUnknown))
	g.Expect(w.status().StartedAt).To(BeNil())

	q.turn = observation.Absent[observation.Turn]()
	w.until("it has started", func(c *ucv1.Cluster) bool { return c.Status.StartedAt != nil }, func() { w.playKCM(kcm + "-r1-0") })
	g.Expect(w.status().LookAhead).To(BeNil())
	q.turn = waiting(ucv1.QueuedReason)
	w.pass()
	g.Expect(w.condition(ucv1.AdmittedCondition).Status).To(Equal(metav1.ConditionTrue), "what has started goes on")
}

// The next ones are looked at every hour, so that a hopeless cluster never takes the place of another.
func TestTheNextOnesAreLookedAtEveryHour(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w, q := queuedWorld(t)
	first := w.status().LookAhead
	q.soon = true
	w.clock.SetTime(first.LookedAt.Add(time.Hour))
	w.playKCM(kcm + "-r1-0")
	w.pass()
	second := w.status().LookAhead
	g.Expect(second.LookedAt.Sub(first.LookedAt.Time)).To(Equal(time.Hour))
	g.Expect(second.NextAt.Sub(second.LookedAt.Time)).To(Equal(time.Hour))
	g.Expect(w.status().Nodes.Total).To(BeEquivalentTo(1), "budgets count it")
	g.Expect(w.condition(ucv1.ReadyToMigrateCondition).ObservedGeneration).To(Equal(w.object().Generation))
}

// The fleet's own manager owns the admission: what the controller of Clusters applies neither writes it nor takes it away.
func TestTheAdmissionIsTheFleets(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w, q := queuedWorld(t)
	admission := `{"apiVersion":"usercluster.k8c.io/v1alpha1","kind":"Cluster","metadata":{"name":"alpha","namespace":"` + w.namespace +
		`"},"status":{"admission":{"fleetMigration":"fm","uid":"u","state":"Queued"}}}`
	g.Expect(w.manager.Status().Patch(t.Context(), w.object(), client.RawPatch(types.ApplyPatchType, []byte(admission)),
		client.FieldOwner(ucv1.FleetFieldManager), client.ForceOwnership)).To(Succeed())
	q.turn = waiting(ucv1.FleetMigrationGoneReason)
	w.pass()
	g.Expect(w.condition(ucv1.AdmittedCondition).Reason).To(Equal(ucv1.FleetMigrationGoneReason))
	g.Expect(w.status().Admission).To(HaveField("FleetMigration", "fm"))
	for _, entry := range w.object().ManagedFields {
		if entry.Manager == ucv1.FieldManager {
			g.Expect(string(entry.FieldsV1.GetRawBytes())).NotTo(ContainSubstring("f:admission"))
		}
	}
}

// managerCache is what a manager keeps of the world's namespace.
func (w *world) managerCache() client.Reader {
	w.t.Helper()
	g, config := NewWithT(w.t), suite.management.as("admin")
	kept, err := cache.New(config, cache.Options{
		Scheme: suite.scheme, Mapper: suite.client.RESTMapper(),
		DefaultNamespaces: map[string]cache.Config{w.namespace: {}},
		DefaultTransform:  cache.TransformStripManagedFields(),
		ByObject:          map[client.Object]cache.ByObject{&corev1.Pod{}: {Transform: controlplane.TransformPod}},
	})
	g.Expect(err).NotTo(HaveOccurred())
	go func() { _ = kept.Start(w.t.Context()) }()
	g.Expect(kept.WaitForCacheSync(w.t.Context())).To(BeTrue())
	return kept
}

// Two hundred clusters that could not connect once sent 2,888 requests a minute to the management cluster. What is read of the
// cache costs nothing: here that are the Cluster itself, and what the observer reads of a cache like the manager's.
func TestAQueuedClusterThatCannotConnectAsksLittle(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(*world)
		reason  string
	}{
		"its control plane runs":   {prepare: func(*world) {}, reason: ucv1.CouldNotLookReason},
		"its control plane sleeps": {prepare: (*world).scaleToZero, reason: ucv1.HibernatedReason},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			w, q := queuedWorld(t)
			q.soon = true
			kubeconfig(func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.Server = "https://" + closedPort(t) })(w)
			test.prepare(w)
			observer, err := cluster.NewObserver(cluster.ObserverOptions{
				Client: w.managerCache(), Live: w.manager, Catalogue: suite.catalogue, KeepReads: true,
				ControlPlane: &controlplane.Reader{Live: w.manager, Ledger: w.ledger, Clock: w.clock, Changes: controlplane.NewChanges()},
			})
			g.Expect(err).NotTo(HaveOccurred())
			w.reconciler.Observer = observer
			w.pass() // What it wrote itself is read once, whenever the manager started.
			w.requests.count()
			const days = 3
			end, passes, all := w.clock.Now().Add(days*24*time.Hour), 0, 0
			for ; w.clock.Now().Before(end); passes++ {
				w.clock.Step(max(w.pass().RequeueAfter, time.Second))
				counted := w.requests.count()
				maps.DeleteFunc(counted, func(line string, _ int) bool {
					return strings.HasPrefix(line, "GET") && strings.Contains(line, "/clusters")
				})
				requests := 0
				for _, n := range counted {
					requests += n
				}
				g.Expect(requests).To(BeNumerically("<=", 3), "in one pass: %v", counted)
				all += requests
			}
			t.Logf("in %d days: %d passes, %d requests to the management cluster", days, passes, all)
			g.Expect(all).To(BeNumerically("<=", days*24/2))
			g.Expect(w.condition(ucv1.ReadyToMigrateCondition)).To(And(HaveField("Reason", test.reason),
				HaveField("Message", Not(ContainSubstring("it was not looked at")))))
		})
	}
}
