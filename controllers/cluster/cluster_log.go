package cluster

import (
	"context"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// logOf names the Cluster in every line of its passes, those of client-go too, by one key that a person can search for.
func logOf(mgr ctrl.Manager) func(*reconcile.Request) logr.Logger {
	return func(request *reconcile.Request) logr.Logger {
		if request == nil {
			return mgr.GetLogger()
		}
		return mgr.GetLogger().WithValues("cluster", request.String())
	}
}

// logAction says what was done. What could not be done is the error of the pass, which is logged where it ends.
func logAction(ctx context.Context, s *scope) {
	verb := s.decision.Verb
	objects := make([]string, 0, len(verb.Objects))
	for _, object := range verb.Objects {
		objects = append(objects, object.String())
	}
	log.FromContext(ctx).Info("Acted", "step", s.decision.Step, "action", verb.Kind, "objects", objects, "why", verb.Why)
}

// logStep says once that a Cluster is at another step: a pass that changes nothing says nothing.
func logStep(ctx context.Context, before, after ucv1.ClusterStatus) {
	if before.Step != after.Step {
		log.FromContext(ctx).Info("Step changed", "step", after.Step, "before", before.Step)
	}
}
