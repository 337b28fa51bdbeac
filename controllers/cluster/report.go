package cluster

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster/status"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// reporter says what a pass came to: in the status, in events and in metrics.
type reporter struct {
	writer

	recorder events.EventRecorder
	metrics  *Metrics
	pending  *pendingTimeline
}

// report writes the status once, then tells events and metrics what it changed. Nothing is written when nothing changed.
func (p reporter) report(ctx context.Context, s *scope) error {
	if s.Decision.Next() != nil && s.Decision.Next().Kind == outcome.ActionRelease && s.ActErr == nil {
		p.event(s, ucv1.TimelineEntry{Step: s.Decision.Step}, corev1.EventTypeNormal, releasedEvent, s.Decision.Next().Why)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	key := client.ObjectKeyFromObject(s.Cluster)
	s.Pending = p.pending.take(key)
	before := s.Cluster.Status
	after := status.Compute(&s.Pass)
	p.metrics.standing.stands(key, &after)
	if equality.Semantic.DeepEqual(before, after) {
		return p.keepRecord(ctx, s, after.Facts)
	}
	err := p.persist(ctx, s, after)
	if isRefused(err) {
		return p.reportRefused(ctx, s, after, err)
	}
	if err != nil {
		p.pending.keep(key, verbsOf(status.Entries(&s.Pass, after)))
		return client.IgnoreNotFound(err)
	}
	logStep(ctx, before, after)
	p.tell(s, before, after)
	return nil
}

// persist the facts in the record and then in the status: what rests on one finds it in both.
func (p reporter) persist(ctx context.Context, s *scope, after ucv1.ClusterStatus) error {
	if err := p.keepRecord(ctx, s, after.Facts); err != nil {
		return err
	}
	return p.applyStatus(ctx, s.Cluster, after)
}

// applyStatus applies the whole intent with the resourceVersion that it was computed from: a status that comes from a
// stale cache would drop rollGeneration, and Machines would roll twice. A conflict is a new pass.
func (w writer) applyStatus(ctx context.Context, cluster *ucv1.Cluster, wanted ucv1.ClusterStatus) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&wanted)
	if err != nil {
		return err
	}
	withoutEmpty(content)
	delete(content, "admission") // The fleet's own manager applies it.
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": ucv1.GroupVersion().String(), "kind": "Cluster", "status": content,
	}}
	object.SetNamespace(cluster.Namespace)
	object.SetName(cluster.Name)
	object.SetUID(cluster.UID)
	object.SetResourceVersion(cluster.ResourceVersion)
	return w.client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(object),
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

// logStep says once that a Cluster is at another step: a pass that changes nothing says nothing.
func logStep(ctx context.Context, before, after ucv1.ClusterStatus) {
	if before.Step != after.Step {
		log.FromContext(ctx).Info("Step changed", "step", after.Step, "before", before.Step)
	}
}

// isRefused says that the same status would be refused again. One that does not fit the definition of the Cluster in the API
// server is an internal error there:
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/staging/src/k8s.io/apimachinery/pkg/util/managedfields/internal/structuredmerge.go
func isRefused(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err) ||
		apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed to create typed patch object")
}

// reportRefused writes what can be written: the status without texts for people, else the last one, which no longer says that
// all is well. Otherwise that would stay, whatever happens to the cluster.
func (p reporter) reportRefused(ctx context.Context, s *scope, after ucv1.ClusterStatus, refusal error) error {
	log.FromContext(ctx).Error(refusal, "The API server refused the status", "conditions", after.Conditions)
	bare := *after.DeepCopy()
	status.WithoutMessages(&bare)
	err := p.applyStatus(ctx, s.Cluster, bare)
	if err == nil {
		p.tell(s, s.Cluster.Status, bare)
		return nil
	}
	p.pending.keep(client.ObjectKeyFromObject(s.Cluster), verbsOf(status.Entries(&s.Pass, after)))
	if !isRefused(err) {
		return client.IgnoreNotFound(err)
	}
	if err := p.interrupt(ctx, s, ucv1.StatusRefusedReason, "The API server refuses the status of this Cluster, and the "+
		"controller's log says why. "+
		"Apply the CustomResourceDefinitions of the controller's own version: an older one does not know all fields."); err != nil {
		return err
	}
	return refusal
}
