package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

// report writes the status once, then tells events and metrics what it changed. Nothing is written when nothing changed.
func (r *Reconciler) report(ctx context.Context, s *scope) error {
	if s.decision.Verb != nil && s.decision.Verb.Kind == migration.VerbRelease && s.actErr == nil {
		r.event(s, ucv1.TimelineEntry{Step: s.decision.Step}, corev1.EventTypeNormal, releasedEvent, s.decision.Verb.Why)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	key := client.ObjectKeyFromObject(s.cluster)
	s.untold = r.untold.take(key)
	before := s.cluster.Status
	after := computeStatus(s)
	r.Metrics.stands(key, after.Conditions)
	if equality.Semantic.DeepEqual(before, after) {
		return r.keepRecord(ctx, s, after.Facts)
	}
	err := r.persist(ctx, s, after)
	if isRefused(err) {
		return r.reportRefused(ctx, s, after, err)
	}
	if err != nil {
		r.untold.keep(key, verbsOf(entriesOf(s, after)))
		return client.IgnoreNotFound(err)
	}
	logStep(ctx, before, after)
	r.tell(s, before, after)
	return nil
}

// persist the facts in the record and then in the status: what rests on one finds it in both.
func (r *Reconciler) persist(ctx context.Context, s *scope, after ucv1.ClusterStatus) error {
	if err := r.keepRecord(ctx, s, after.Facts); err != nil {
		return err
	}
	return r.applyStatus(ctx, s.cluster, after)
}

// applyStatus applies the whole intent with the resourceVersion that it was computed from: a status that comes from a
// stale cache would drop rollGeneration, and Machines would roll twice. A conflict is a new pass.
func (r *Reconciler) applyStatus(ctx context.Context, cluster *ucv1.Cluster, status ucv1.ClusterStatus) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&status)
	if err != nil {
		return err
	}
	withoutEmpty(content)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": ucv1.GroupVersion().String(), "kind": "Cluster", "status": content,
	}}
	object.SetNamespace(cluster.Namespace)
	object.SetName(cluster.Name)
	object.SetUID(cluster.UID)
	object.SetResourceVersion(cluster.ResourceVersion)
	return r.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(object),
		client.FieldOwner(ucv1.FieldManager), client.ForceOwnership)
}

// withoutEmpty leaves objects out that have nothing in them: where the status had more of one before, the API server would make
// null of it, which is no object. https://github.com/kubernetes-sigs/structured-merge-diff/issues/305
func withoutEmpty(content map[string]any) {
	for key, value := range content {
		if inner, ok := value.(map[string]any); ok {
			withoutEmpty(inner)
			if len(inner) == 0 {
				delete(content, key)
			}
		}
	}
}
