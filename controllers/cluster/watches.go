package cluster

import (
	"context"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
)

// SetupWithManager wires the watches: Clusters, the Deployments and Pods beside them, and the user clusters. The ledger
// hears every event of a Pod before the queue merges them: the end of a container may be visible for a moment only.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, ledger *controlplane.Ledger, workers int) error {
	informer, err := mgr.GetCache().GetInformer(ctx, &corev1.Pod{})
	if err != nil {
		return err
	}
	if _, err := informer.AddEventHandler(ledger); err != nil {
		return err
	}
	if err := r.Planner.setupWithManager(mgr); err != nil {
		return err
	}
	// Changes are counted where the queue is filled: a pass that they wake finds them counted.
	neighbours := handler.EnqueueRequestsFromMapFunc(r.wakes().clustersBeside)
	deployments := handler.EnqueueRequestsFromMapFunc(r.wakes().clustersOfDeployment)
	return ctrl.NewControllerManagedBy(mgr).
		WatchesRawSource(source.Channel(r.Turns.Wakes(), &handler.EnqueueRequestForObject{})).
		For(&ucv1.Cluster{}).
		Watches(&appsv1.Deployment{}, deployments, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Watches(&corev1.Pod{}, neighbours, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Watches(&ucv1.ProviderProfile{}, handler.EnqueueRequestsFromMapFunc(r.wakes().clustersOfProvider),
			builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(source.Channel(r.UserClusters.Events(), &handler.EnqueueRequestForObject{})).
		WatchesRawSource(source.Channel(r.Planner.made, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, RateLimiter: retries(), LogConstructor: logOf(mgr)}).
		Complete(r)
}

// retries come at least once a minute, as passes of a Cluster that waits do: what refused an action says nothing when it would
// not any more, and by default the next try after an outage of some minutes comes up to 17 minutes later.
func retries() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, working)
}

// wakes says which Clusters a change in the management cluster wakes.
type wakes struct {
	client  client.Reader
	changes *controlplane.Changes
}

// clustersBeside wakes the Clusters of an object's namespace that are external or on their way.
func (w wakes) clustersBeside(ctx context.Context, object client.Object) []reconcile.Request {
	return w.clustersIn(ctx, object.GetNamespace(), (*ucv1.Cluster).ExternalCloudProvider)
}

// clustersOfDeployment also wakes those whose feature is off when the Deployment is that of their KCM.
func (w wakes) clustersOfDeployment(ctx context.Context, object client.Object) []reconcile.Request {
	return w.clustersIn(ctx, object.GetNamespace(), func(cluster *ucv1.Cluster) bool {
		return cluster.ExternalCloudProvider() || cluster.KubeControllerManager().Name == object.GetName()
	})
}

func (w wakes) clustersIn(ctx context.Context, namespace string, wakes func(*ucv1.Cluster) bool) []reconcile.Request {
	w.changes.Seen(namespace)
	clusters := &ucv1.ClusterList{}
	if err := w.client.List(ctx, clusters, client.InNamespace(namespace)); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range clusters.Items {
		if wakes(&clusters.Items[i]) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&clusters.Items[i])})
		}
	}
	return requests
}

// clustersOfProvider wakes the Clusters that a profile is laid over: all of its provider, in all namespaces.
func (w wakes) clustersOfProvider(ctx context.Context, object client.Object) []reconcile.Request {
	clusters, name := &ucv1.ClusterList{}, object.GetName()
	if err := w.client.List(ctx, clusters); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range clusters.Items {
		if cluster := &clusters.Items[i]; cluster.ExternalCloudProvider() && cluster.Spec.Cloud.ProviderName == name {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(cluster)})
		}
	}
	return requests
}

// logOf names the Cluster in every line of its passes, those of client-go too, by one key that a person can search for.
func logOf(mgr ctrl.Manager) func(*reconcile.Request) logr.Logger {
	return func(request *reconcile.Request) logr.Logger {
		if request == nil {
			return mgr.GetLogger()
		}
		return mgr.GetLogger().WithValues("cluster", request.String())
	}
}
