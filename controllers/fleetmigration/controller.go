package fleetmigration

import (
	"context"
	"reflect"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
)

// When a pass is made.
const (
	// settles is how long changes are collected before a pass.
	settles = time.Second
	// retries is the longest time until what failed is tried again.
	retries = time.Minute
	// decidesAgain is the longest time between two passes while there is a FleetMigration, so that an alert can tell a manager that
	// decides no more from a fleet in which nothing happens.
	decidesAgain = 15 * time.Minute
	// reports is the least time between two statuses of a FleetMigration that differ in counts only.
	reports = 10 * time.Second
)

// Reconciler lets Clusters start.
type Reconciler struct {
	// Client reads from the cache and writes; Live reads FleetMigrations: what is being admitted must not be a moment old.
	Client   client.Client
	Live     client.Reader
	Clock    clock.PassiveClock
	Recorder events.EventRecorder
	Metrics  *Metrics
	// CanMigrate says whether a provider was ever in-tree.
	CanMigrate func(provider string) bool
	// Problem is why no FleetMigration can be followed, whatever its spec says; empty where they can.
	Problem string
	// Turns are told what was decided.
	Turns *Turns

	placer   fleet.Placer
	reported map[types.UID]time.Time

	forecasts forecasting
}

// +kubebuilder:rbac:groups=usercluster.k8c.io,resources=fleetmigrations,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=usercluster.k8c.io,resources=fleetmigrations/status,verbs=get;update
// +kubebuilder:rbac:groups=usercluster.k8c.io,resources=fleetmigrations/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch

// SetupWithManager wires the watches. There is one request, for the whole fleet.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	all := handler.Funcs{
		CreateFunc: func(_ context.Context, _ event.CreateEvent, queue queue) { wake(queue) },
		UpdateFunc: func(_ context.Context, _ event.UpdateEvent, queue queue) { wake(queue) },
		DeleteFunc: func(_ context.Context, _ event.DeleteEvent, queue queue) { wake(queue) },
	}
	clusters, namespaces := mgr.GetCache(), metadataOf("Namespace")
	return ctrl.NewControllerManagedBy(mgr).
		Named("fleetmigration").
		WatchesRawSource(kind(clusters, &ucv1.FleetMigration{}, all, predicate.Or(
			predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, deletes()))).
		WatchesRawSource(kind(clusters, &ucv1.Cluster{}, all, r.changes())).
		WatchesRawSource(kind(clusters, namespaces, all, predicate.LabelChangedPredicate{})).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: 1,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](settles, retries),
			LogConstructor:          func(*reconcile.Request) logr.Logger { return mgr.GetLogger() },
		}).
		Complete(r)
}

// Reconcile is a pass for the whole fleet. What is being admitted stands in the status of its FleetMigration before it is: so
// neither a kill between two writes nor an old cache lets others go in its place.
func (r *Reconciler) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	began := r.Clock.Now()
	now := began.Truncate(time.Second) // A status has whole seconds; what is written has to be what is read again.
	seen, err := r.observe(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	plan := fleet.Decide(seen.Fleet, now)
	r.Metrics.Report(seen.Fleet, plan, now, r.Clock.Since(began))
	p := &pass{Reconciler: r, seen: seen, plan: plan, now: now, refused: map[string]error{}}
	p.report(ctx)
	p.admit(ctx)
	if p.again == 0 || p.again > settles { // Nothing is urgent.
		p.forecast()
	}
	if again := r.Turns.decided(seen.Fleet, plan, now); again > 0 {
		p.lookAfter(again)
	}
	return p.result(), nil
}

// seen is what a pass saw. Clusters are the cache's own, in the order of the fleet's members: they are never changed.
type seen struct {
	fleet.Fleet

	clusters   []ucv1.Cluster
	migrations map[types.UID]*ucv1.FleetMigration
}

func (r *Reconciler) observe(ctx context.Context) (seen, error) {
	s := seen{migrations: map[types.UID]*ucv1.FleetMigration{}}
	clusters := &ucv1.ClusterList{}
	migrations, err := r.readMigrations(ctx)
	if err != nil {
		return s, err
	}
	if err := r.Client.List(ctx, clusters, client.UnsafeDisableDeepCopy); err != nil {
		return s, err
	}
	namespaces, err := namespaceLabels(ctx, r.Client)
	if err != nil {
		return s, err
	}
	for i := range migrations.Items {
		fm := &migrations.Items[i]
		s.migrations[fm.UID] = fm
		compiled := fleet.Compile(fm)
		if r.Problem != "" {
			compiled.Refuse(r.Problem)
		}
		s.Migrations = append(s.Migrations, compiled)
	}
	s.clusters = clusters.Items
	for i := range s.clusters {
		of, known := namespaces[s.clusters[i].Namespace]
		m := fleet.MemberOf(&s.clusters[i], of, r.CanMigrate)
		m.NamespaceUnknown = !known
		s.Members = append(s.Members, m)
	}
	r.placer.Place(&s.Fleet)
	return s, nil
}

// readMigrations live, where the cache has any: a manager without fleets asks for nothing.
func (r *Reconciler) readMigrations(ctx context.Context) (*ucv1.FleetMigrationList, error) {
	migrations := &ucv1.FleetMigrationList{}
	if err := r.Client.List(ctx, migrations, client.UnsafeDisableDeepCopy); err != nil || len(migrations.Items) == 0 {
		return migrations, err
	}
	live := &ucv1.FleetMigrationList{}
	return live, r.Live.List(ctx, live)
}

func metadataOf(kind string) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind(kind))
	object.APIVersion = "v1"
	return object
}

func namespaceLabels(ctx context.Context, reader client.Reader) (map[string]labels.Set, error) {
	namespaces := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NamespaceList"}}
	if err := reader.List(ctx, namespaces, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	of := make(map[string]labels.Set, len(namespaces.Items))
	for _, namespace := range namespaces.Items {
		of[namespace.Name] = namespace.Labels
	}
	return of, nil
}

// changes are those of what the decision reads of a Cluster: a pass for each other one would be one every second in a large
// fleet.
func (r *Reconciler) changes() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, was := e.ObjectOld.(*ucv1.Cluster)
		after, is := e.ObjectNew.(*ucv1.Cluster)
		return !was || !is || !reflect.DeepEqual( // Semantic.DeepEqual panics at fields that are not exported.
			fleet.MemberOf(before, nil, r.CanMigrate), fleet.MemberOf(after, nil, r.CanMigrate))
	}}
}

func deletes() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectNew.GetDeletionTimestamp() != nil && e.ObjectOld.GetDeletionTimestamp() == nil
	}}
}
