package machines

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// CreateMissing applies an object that is not there: the request of an apply has its name, so that the right can be bound to it.
func CreateMissing(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	_, err := reads.Live(ctx, c, object)
	if apierrors.IsNotFound(err) {
		err = c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(ucv1.FieldManager))
	}
	if err != nil {
		return fmt.Errorf("make the canary's %s %s/%s: %w", object.GetKind(), object.GetNamespace(), object.GetName(), err)
	}
	return nil
}

// DeleteSeen deletes an object if it still is the one that was seen.
func DeleteSeen(ctx context.Context, c client.Client, kind schema.GroupVersionKind, ref observation.Ref) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	object.SetNamespace(ref.Namespace)
	object.SetName(ref.Name)
	err := c.Delete(ctx, object, client.Preconditions{UID: new(types.UID(ref.UID))},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	return client.IgnoreNotFound(err)
}
