package reads

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// RefOf names an object.
func RefOf(object *unstructured.Unstructured) observation.Ref {
	return observation.Ref{
		Kind:      object.GetKind(),
		Namespace: object.GetNamespace(),
		Name:      object.GetName(),
		UID:       string(object.GetUID()),
	}
}

// Compare orders them by name.
func Compare(a, b observation.Ref) int {
	return strings.Compare(a.String(), b.String())
}

// Live is an object as it is now.
func Live(ctx context.Context, from client.Reader, want *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(want.GroupVersionKind())
	if err := from.Get(ctx, client.ObjectKeyFromObject(want), found); err != nil {
		return nil, err
	}
	return found, nil
}
