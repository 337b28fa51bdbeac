package integration_test

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/fleetmigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
)

// fleetWorld has Clusters in a namespace of their own, as objects only, and FleetMigrations that select them by a label.
type fleetWorld struct {
	t          *testing.T
	g          Gomega
	namespace  string
	clock      *clocktesting.FakeClock
	manager    client.Client
	reconciler *fleetmigration.Reconciler
}

// newFleetWorld is for tests that do not run side by side: a pass is for all FleetMigrations that there are.
func newFleetWorld(t *testing.T) *fleetWorld {
	t.Helper()
	w := &fleetWorld{
		t: t, g: NewWithT(t), namespace: newNamespace(t), clock: clocktesting.NewFakeClock(time.Now()),
		manager: managerClient(t, &requests{}),
	}
	w.restart(w.manager)
	return w
}

// restart puts another manager in the place of the old one, which remembers nothing.
func (w *fleetWorld) restart(manager client.Client) {
	w.t.Helper()
	metrics, err := fleetmigration.NewMetrics(prometheus.NewRegistry())
	w.g.Expect(err).NotTo(HaveOccurred())
	w.reconciler = &fleetmigration.Reconciler{
		Client: manager, Live: manager, Clock: w.clock, Recorder: events.NewFakeRecorder(1000), Metrics: metrics,
		CanMigrate: suite.catalogue.CanMigrate,
		Turns:      fleetmigration.NewTurns(manager, fleet.Optional, false, &fleetmigration.Unmanaged{Most: 5}),
	}
}

// migration selects the Clusters of this world, all in one wave of which one may migrate at once.
func (w *fleetWorld) migration(name string, change func(*ucv1.FleetMigration)) *ucv1.FleetMigration {
	w.t.Helper()
	fm := &ucv1.FleetMigration{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-" + name},
		Spec: ucv1.FleetMigrationSpec{
			Mode: ucv1.FleetRun, ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"world": w.namespace}},
			Waves: []ucv1.Wave{{Name: "all", ClusterSelector: &metav1.LabelSelector{}, SoakSeconds: new(int32(0))}},
		},
	}
	change(fm)
	w.g.Expect(suite.client.Create(w.t.Context(), fm)).To(Succeed())
	w.t.Cleanup(func() {
		left := &ucv1.FleetMigration{ObjectMeta: metav1.ObjectMeta{Name: fm.Name}}
		_ = suite.client.Patch(context.Background(), left, client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{"finalizers":null}}`)))
		_ = suite.client.Delete(context.Background(), left)
	})
	return fm
}

func plainFleet(*ucv1.FleetMigration) {}

// cluster that was looked at and that nothing blocks.
func (w *fleetWorld) cluster(name string, change func(*ucv1.Cluster)) {
	w.t.Helper()
	c := &ucv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name, Labels: map[string]string{"world": w.namespace}},
		Spec: ucv1.ClusterSpec{
			Version: "1.25.16", Features: ucv1.FeaturesSpec{ExternalCloudProvider: new(true)},
			Cloud: ucv1.CloudSpec{ProviderName: "openstack", ConfigSecretRef: ucv1.SecretReference{Name: "cloud"}},
		},
	}
	change(c)
	w.g.Expect(suite.client.Create(w.t.Context(), c)).To(Succeed())
	now := metav1.NewTime(w.clock.Now())
	c.Status.Origin = ucv1.OriginInTree
	c.Status.LookAhead = &ucv1.LookAheadStatus{LookedAt: &now, NextAt: &now, Generation: c.Generation}
	c.Status.Nodes = &ucv1.NodeCount{Total: 3}
	meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
		Type: ucv1.ReadyToMigrateCondition, Status: metav1.ConditionTrue, Reason: ucv1.NothingBlocksReason, ObservedGeneration: c.Generation,
	})
	w.g.Expect(suite.client.Status().Update(w.t.Context(), c)).To(Succeed())
}

func asItIs(*ucv1.Cluster) {}

func (w *fleetWorld) pass() ctrl.Result {
	w.t.Helper()
	result, err := w.reconciler.Reconcile(w.t.Context(), ctrl.Request{})
	w.g.Expect(err).NotTo(HaveOccurred())
	return result
}

func (w *fleetWorld) get(name string) *ucv1.Cluster {
	w.t.Helper()
	c := &ucv1.Cluster{}
	w.g.Expect(suite.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, c)).To(Succeed())
	return c
}

// status edits what the controller of Clusters says.
func (w *fleetWorld) says(name string, change func(*ucv1.Cluster)) {
	w.t.Helper()
	c := w.get(name)
	change(c)
	w.g.Expect(suite.client.Status().Update(w.t.Context(), c)).To(Succeed())
}

func (w *fleetWorld) admission(name string) ucv1.AdmissionStatus {
	w.t.Helper()
	if a := w.get(name).Status.Admission; a != nil {
		return *a
	}
	return ucv1.AdmissionStatus{}
}

func (w *fleetWorld) fm(of *ucv1.FleetMigration) *ucv1.FleetMigration {
	w.t.Helper()
	fm := &ucv1.FleetMigration{}
	w.g.Expect(suite.client.Get(w.t.Context(), client.ObjectKeyFromObject(of), fm)).To(Succeed())
	return fm
}

func (w *fleetWorld) turn(name string) string {
	w.t.Helper()
	turn := w.reconciler.Turns.Turn(w.t.Context(), w.get(name), w.clock.Now())
	switch {
	case turn.IsAbsent():
		return "may start"
	case turn.IsUnknown():
		return "unknown: " + turn.Why()
	}
	return turn.Value().Reason + ": " + turn.Value().Message
}

func TestAFleetAdmitsOneAfterTheOther(t *testing.T) {
	w := newFleetWorld(t)
	w.cluster("a", asItIs)
	w.cluster("b", asItIs)
	w.g.Expect(w.turn("a")).To(ContainSubstring("Settling"), "no FleetMigration selects it yet")
	of := w.migration("fm", plainFleet)
	w.g.Expect(w.turn("a")).To(ContainSubstring("is about to queue it"))

	w.pass()
	w.g.Expect(w.fm(of).Finalizers).To(ConsistOf(ucv1.FleetFinalizer))
	w.g.Expect(w.admission("a")).To(And(HaveField("State", ucv1.AdmissionAdmitted), HaveField("Wave", "all"),
		HaveField("FleetMigration", of.Name), HaveField("AdmittedAt", Not(BeNil())), HaveField("Directive", ucv1.DirectiveProceed)))
	w.g.Expect(w.admission("b").State).To(Equal(ucv1.AdmissionQueued))
	w.g.Expect(w.turn("a")).To(Equal("may start"))
	w.g.Expect(w.turn("b")).To(ContainSubstring("Queued: FleetMigration " + of.Name + " has queued the cluster in wave all."))
	w.g.Expect(w.fm(of).Status.Admitting).To(HaveLen(1))

	w.pass()
	w.g.Expect(w.fm(of).Status.Admitting).To(BeEmpty())
	before := w.fm(of)
	w.pass()
	w.g.Expect(w.fm(of).ResourceVersion).To(Equal(before.ResourceVersion), "nothing changed, so nothing is written")

	w.clock.Step(time.Hour)
	now := metav1.NewTime(w.clock.Now())
	w.says("a", func(c *ucv1.Cluster) {
		c.Status.StartedAt, c.Status.CompletedAt = &now, &now
		meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
			Type: ucv1.ReadyCondition, Status: metav1.ConditionTrue, Reason: ucv1.MigratedReason, LastTransitionTime: now,
		})
	})
	w.pass()
	w.g.Expect(w.admission("b").State).To(Equal(ucv1.AdmissionAdmitted))
	w.g.Expect(w.fm(of).Status.Summary).To(Equal("1/2"))
}

func TestTheFeatureIsSetOnAdmission(t *testing.T) {
	w := newFleetWorld(t)
	w.cluster("a", func(c *ucv1.Cluster) { c.Spec.Features = ucv1.FeaturesSpec{} })
	w.cluster("b", func(c *ucv1.Cluster) { c.Spec.Features.ExternalCloudProvider = new(false) })
	of := w.migration("fm", func(fm *ucv1.FleetMigration) {
		fm.Spec.Enablement, fm.Spec.Waves[0].MaxConcurrency = ucv1.EnablementOnAdmission, nil
		fm.Spec.Waves[0].Name = "on"
	})
	w.pass()
	w.g.Expect(w.admission("a").State).To(Equal(ucv1.AdmissionAdmitted))
	w.g.Expect(w.get("a").ExternalCloudProvider()).To(BeTrue())
	owner := ""
	for _, entry := range w.get("a").ManagedFields {
		if entry.Manager == ucv1.FleetFieldManager && entry.Subresource == "" {
			owner = string(entry.FieldsV1.GetRawBytes())
		}
	}
	w.g.Expect(owner).To(Equal(`{"f:spec":{"f:features":{"f:externalCloudProvider":{}}}}`), "and nothing else")
	w.g.Expect(w.get("b").ExternalCloudProvider()).To(BeFalse())
	w.g.Expect(w.admission("b").State).To(Equal(ucv1.AdmissionQueued))
	w.g.Expect(w.fm(of).Status.Queue).To(ContainElement(And(HaveField("Reason", ucv1.ConcurrencyReachedReason), HaveField("Count", int32(1)))))
	w.pass()
	w.clock.Step(time.Minute)
	w.says("a", func(c *ucv1.Cluster) { c.Status.CompletedAt = stampOf(w.clock.Now()) })
	w.pass()
	w.g.Expect(w.fm(of).Status.Queue).To(ContainElement(And(
		HaveField("Reason", ucv1.FeatureOwnedElsewhereReason), HaveField("Examples", ConsistOf(w.namespace+"/b")))))
}

func stampOf(at time.Time) *metav1.Time { return new(metav1.NewTime(at)) }

// A new leader, or one with an old cache, admits what the last one was admitting, and nothing in its place.
func TestAManagerThatIsKilledWhileAdmitting(t *testing.T) {
	w := newFleetWorld(t)
	w.cluster("a", asItIs)
	w.cluster("b", asItIs)
	of := w.migration("fm", plainFleet)
	killed := errors.New("killed")
	base, err := client.NewWithWatch(suite.management.as("admin"), client.Options{Scheme: suite.scheme})
	w.g.Expect(err).NotTo(HaveOccurred())
	w.restart(interceptor.NewClient(base, interceptor.Funcs{
		SubResourceApply: func(context.Context, client.Client, string, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
			return killed
		},
	}))
	w.pass()
	w.g.Expect(w.fm(of).Status.Admitting).To(ConsistOf(HaveField("Name", "a")))
	w.g.Expect(w.admission("a").State).To(BeEmpty())

	w.restart(w.manager)
	w.says("a", func(c *ucv1.Cluster) { c.Status.Nodes.Total = 99 }) // Now b would be the smaller one.
	w.pass()
	w.g.Expect(w.admission("a").State).To(Equal(ucv1.AdmissionAdmitted))
	w.g.Expect(w.admission("b").State).To(Equal(ucv1.AdmissionQueued))
}

// What Git applies, and what people do to objects, takes no admission away and lets no Cluster start.
func TestWhatGitOpsDoesToAQueue(t *testing.T) {
	w := newFleetWorld(t)
	w.cluster("a", asItIs)
	w.cluster("b", asItIs)
	of := w.migration("fm", func(fm *ucv1.FleetMigration) { fm.Spec.Mode = ucv1.FleetHold })
	w.pass()
	w.g.Expect(w.admission("a").State).To(Equal(ucv1.AdmissionQueued))

	replaced := w.get("a")
	replaced.Status, replaced.ManagedFields = ucv1.ClusterStatus{}, nil
	replaced.Labels = map[string]string{"team": "other"}
	w.g.Expect(suite.client.Update(w.t.Context(), replaced)).To(Succeed())
	w.pass()
	w.pass()
	w.g.Expect(w.turn("a")).To(ContainSubstring("NotSelected"), "its labels are gone, and it does not start because of that")

	w.g.Expect(suite.client.Delete(w.t.Context(), of)).To(Succeed())
	w.pass()
	w.g.Expect(meta.FindStatusCondition(w.fm(of).Status.Conditions, ucv1.StalledCondition)).To(
		HaveField("Message", ContainSubstring("with fleet.usercluster.k8c.io/release=true to let it go")))
	w.g.Expect(w.turn("b")).To(ContainSubstring("Queued"))
	left := w.fm(of)
	left.Annotations = map[string]string{ucv1.FleetReleaseAnnotation: "true"}
	w.g.Expect(suite.client.Update(w.t.Context(), left)).To(Succeed())
	w.pass()
	w.pass()
	w.g.Expect(client.IgnoreNotFound(suite.client.Get(w.t.Context(), client.ObjectKeyFromObject(of), left))).To(Succeed())
	w.g.Expect(w.turn("b")).To(ContainSubstring("FleetMigrationGone"))
	w.clock.Step(24 * time.Hour)
	w.g.Expect(w.turn("b")).To(ContainSubstring("FleetMigrationGone"), "it goes on waiting")

	second := w.migration("second", plainFleet)
	w.pass()
	w.pass()
	w.g.Expect(w.admission("b")).To(And(HaveField("FleetMigration", second.Name), HaveField("UID", string(second.UID))))
	w.says("b", func(c *ucv1.Cluster) { c.Status.LookAhead.LookedAt = stampOf(w.clock.Now()) })
	w.pass()
	w.g.Expect(w.turn("b")).To(Equal("may start"))
}

func TestTheClaimOfTwoFleetMigrationsOnOneCluster(t *testing.T) {
	w := newFleetWorld(t)
	w.cluster("a", asItIs)
	first := w.migration("first", func(fm *ucv1.FleetMigration) { fm.Spec.Mode = ucv1.FleetHold })
	w.pass()
	second := w.migration("second", func(fm *ucv1.FleetMigration) { fm.Spec.Priority = new(int32(1000)) })
	w.clock.Step(time.Minute)
	w.pass()
	w.g.Expect(w.admission("a").FleetMigration).To(Equal(first.Name), "the claim wins, whatever priority the other one has")
	w.g.Expect(w.fm(second).Status.OutOfScope).To(ContainElement(HaveField("Reason", ucv1.ClaimedElsewhereReason)))
}

// What was decided of an older view is not written.
func TestAClusterThatChangedMeanwhileIsNotAdmitted(t *testing.T) {
	w := newFleetWorld(t)
	w.cluster("a", asItIs)
	of := w.migration("fm", plainFleet)
	base, err := client.NewWithWatch(suite.management.as("admin"), client.Options{Scheme: suite.scheme})
	w.g.Expect(err).NotTo(HaveOccurred())
	w.restart(interceptor.NewClient(base, interceptor.Funcs{
		SubResourceUpdate: func(
			ctx context.Context, c client.Client, sub string, object client.Object, options ...client.SubResourceUpdateOption,
		) error {
			changed := &ucv1.Cluster{}
			w.g.Expect(suite.client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: "a"}, changed)).To(Succeed())
			changed.Status.Nodes.Total++
			w.g.Expect(suite.client.Status().Update(ctx, changed)).To(Succeed())
			return c.SubResource(sub).Update(ctx, object, options...)
		},
	}))
	w.g.Expect(w.pass().RequeueAfter).To(BeNumerically("<=", time.Second))
	w.g.Expect(w.admission("a").State).To(BeEmpty())
	w.g.Expect(w.fm(of).Status.Admitting).To(HaveLen(1))
	w.restart(w.manager)
	w.pass()
	w.g.Expect(w.admission("a").State).To(Equal(ucv1.AdmissionAdmitted))
}

// startedByOthers are Clusters of earlier tests, which count, too.
func (w *fleetWorld) startedByOthers() (n int) {
	w.t.Helper()
	clusters := &ucv1.ClusterList{}
	w.g.Expect(suite.client.List(w.t.Context(), clusters)).To(Succeed())
	for _, c := range clusters.Items {
		if started := c.Status.StartedAt; started != nil && c.Status.Admission == nil && w.clock.Now().Sub(started.Time) < time.Hour-time.Minute {
			n++
		}
	}
	return n
}

func TestClustersWithoutFleetMigrationStartFewAtATime(t *testing.T) {
	w := newFleetWorld(t)
	w.reconciler.Turns.Unmanaged.Most = 5 + w.startedByOthers()
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	for _, name := range names {
		w.cluster(name, asItIs)
		w.g.Expect(w.turn(name)).To(ContainSubstring("Settling"))
	}
	w.clock.Step(11 * time.Second)
	started := 0
	for _, name := range names {
		if w.turn(name) == "may start" {
			started++
		}
	}
	w.g.Expect(started).To(Equal(5))
	w.g.Expect(w.turn("g")).To(ContainSubstring("raise the manager's flag --max-unmanaged-starts"))
	w.g.Expect(w.turn("a")).To(Equal("may start"), "what was let go stays so")
	w.clock.Step(time.Hour)
	w.g.Expect(w.turn("g")).To(Equal("may start"))

	w.reconciler.Turns.Policy = fleet.Required
	w.cluster("h", asItIs)
	w.g.Expect(w.turn("h")).To(ContainSubstring("NoFleetMigration"))
	w.cluster("i", func(c *ucv1.Cluster) { c.Spec.Admission = ucv1.ImmediateClusterAdmission })
	w.g.Expect(w.turn("i")).To(Equal("may start"))
}

// A selector that cannot be read may be for any Cluster.
func TestASelectorThatCannotBeReadHoldsClustersBack(t *testing.T) {
	w := newFleetWorld(t)
	w.cluster("a", asItIs)
	of := w.migration("fm", func(fm *ucv1.FleetMigration) {
		fm.Spec.ClusterSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "world", Operator: "Is"}}}
	})
	w.pass()
	w.g.Expect(w.turn("a")).To(And(ContainSubstring("unknown"), ContainSubstring("spec.clusterSelector of FleetMigration "+of.Name)))
	w.g.Expect(meta.IsStatusConditionFalse(w.fm(of).Status.Conditions, ucv1.AcceptedCondition)).To(BeTrue())
}
