package fleetmigration

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// wholeFleet is the only request.
func wholeFleet() reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: "fleet"}}
}

// wake asks for a pass. Of several requests within the time, one is left.
func wake(queue queue) { queue.AddAfter(wholeFleet(), settles) }

func kind(of cache.Cache, object client.Object, wakes handler.EventHandler, when predicate.Predicate) source.Source {
	return source.Kind(of, object, wakes, when)
}
