package leases

import (
	"context"
	"fmt"
	"maps"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// LeaseVerbs are what is asked about: an election writes a Lease by them. Who may only read or patch one is never elected.
// https://github.com/kubernetes/client-go/blob/v0.36.1/tools/leaderelection/resourcelock/leaselock.go
func LeaseVerbs() []string { return []string{"create", "update"} }

// Fence says whether the CCM's identity may write its Lease: by our own Role and RoleBinding, and by whatever else the
// user cluster grants. The rights of a whole user cluster may not be watched, so that what someone else grants is seen only when
// what was read is too old, or a proof needs it.
func (e *Elections) Fence(ctx context.Context, id manifest.Identity) observation.Observed[observation.Fence] {
	if id != e.fenced {
		e.fence, e.fenced = &kept.Value[observation.Fence]{}, id
	}
	mark := e.watches.MarkOfUnwatched(rights()...)
	// Our own right to KCM's Lease comes and goes while KCM rolls out; it grants the CCM nothing.
	mark.Changes -= e.watches.MarkOfWritten(render.KCMLeaseObjects(observation.Ref{}, "")[0].GetName(), rights()...).Changes
	return e.fence.Read(ctx, e.clock.Now(), mark, func() observation.Observed[observation.Fence] {
		return e.readFence(ctx, id)
	})
}

// rights are what reviews rest on.
func rights() []schema.GroupVersionResource {
	var resources []schema.GroupVersionResource
	for _, resource := range []string{"roles", "rolebindings", "clusterroles", "clusterrolebindings"} {
		resources = append(resources, rbacv1.SchemeGroupVersion.WithResource(resource))
	}
	return resources
}

func (e *Elections) readFence(ctx context.Context, id manifest.Identity) observation.Observed[observation.Fence] {
	fence := observation.Fence{
		Open:     true,
		Identity: UserName(id),
		Lease:    id.LeaseNamespace + "/" + id.LeaseName,
	}
	for _, want := range render.FenceObjects(id) {
		if !fence.Open {
			break // Both are needed for it.
		}
		live, err := reads.Live(ctx, e.client, want)
		if err != nil && !apierrors.IsNotFound(err) {
			return observation.Unknown[observation.Fence](reads.Because("reading "+reads.RefOf(want).String(), err))
		}
		fence.Open = err == nil && sameContent(want, live)
	}
	for _, verb := range LeaseVerbs() {
		allowed, problem := e.mayUseLease(ctx, id, verb)
		if problem != "" {
			return observation.Unknown[observation.Fence](problem)
		}
		if allowed {
			fence.Allowed = append(fence.Allowed, verb)
		}
	}
	return observation.Known(fence)
}

// mayUseLease asks the API server's own authorizers. An answer that one of them could not give is no answer.
func (e *Elections) mayUseLease(ctx context.Context, id manifest.Identity, verb string) (allowed bool, problem string) {
	return e.subjectMayUseLease(ctx, subjectOf(id), id, verb)
}

// subject is someone as authorizers know him.
type subject struct {
	user   string
	groups []string
}

func subjectOf(id manifest.Identity) subject {
	groups := []string{"system:serviceaccounts", "system:serviceaccounts:" + id.ServiceAccountNamespace, "system:authenticated"}
	return subject{user: UserName(id), groups: groups}
}

func (e *Elections) subjectMayUseLease(
	ctx context.Context,
	who subject,
	id manifest.Identity,
	verb string,
) (allowed bool, problem string) {
	name := id.LeaseName
	if verb == "create" {
		name = "" // Creating with POST is authorized without a name.
	}
	attempt := fmt.Sprintf("asking whether %s may %s Leases", who.user, verb)
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:   who.user,
		Groups: who.groups,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Group: "coordination.k8s.io", Version: "v1", Resource: "leases",
			Namespace: id.LeaseNamespace, Name: name, Verb: verb,
		},
	}}
	if err := e.client.Create(ctx, review); err != nil {
		return false, reads.Because(attempt, err)
	}
	if !review.Status.Allowed && review.Status.EvaluationError != "" {
		return false, attempt + ": " + review.Status.EvaluationError
	}
	return review.Status.Allowed, ""
}

// UserName is the CCM's ServiceAccount as authorizers know it.
func UserName(id manifest.Identity) string {
	return fmt.Sprintf("system:serviceaccount:%s:%s", id.ServiceAccountNamespace, id.ServiceAccountName)
}

// sameContent compares all but metadata and status.
func sameContent(a, b *unstructured.Unstructured) bool {
	content := func(object *unstructured.Unstructured) map[string]any {
		fields := maps.Clone(object.Object)
		delete(fields, "metadata")
		delete(fields, "status")
		return fields
	}
	return equality.Semantic.DeepEqual(content(a), content(b))
}

// OpenFence lets the CCM's identity write its Lease.
func (e *Elections) OpenFence(ctx context.Context, id manifest.Identity) error {
	for _, object := range render.FenceObjects(id) {
		err := e.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object),
			client.FieldOwner(ucv1.FieldManager), client.ForceOwnership)
		if err != nil {
			return fmt.Errorf("open the fence of %s with %s: %w", UserName(id), reads.RefOf(object), err)
		}
	}
	return nil
}

// CloseFence takes that right away again; a CCM that leads then ends at its renew deadline. The binding goes first: it
// is what grants.
func (e *Elections) CloseFence(ctx context.Context, id manifest.Identity) error {
	objects := render.FenceObjects(id)
	for i := range objects {
		object := objects[len(objects)-1-i]
		err := e.client.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("close the fence of %s with %s: %w", UserName(id), reads.RefOf(object), err)
		}
	}
	return nil
}
