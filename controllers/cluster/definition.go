package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=clusters.usercluster.k8c.io,verbs=get

// DefinitionName is that of the CustomResourceDefinition of Clusters.
const DefinitionName = "clusters." + ucv1.GroupName

// MissingFields are those of a Cluster that this program knows and the definition in the API server does not: a status with one
// of them is refused as a whole, and from a spec it is dropped. Below a field that is missing, nothing is named.
func MissingFields(ctx context.Context, reader client.Reader) ([]string, error) {
	definition := &unstructured.Unstructured{}
	definition.SetGroupVersionKind(
		schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
	)
	if err := reader.Get(ctx, client.ObjectKey{Name: DefinitionName}, definition); err != nil {
		return nil, fmt.Errorf("read CustomResourceDefinition %s: %w", DefinitionName, err)
	}
	properties := part(servedSchema(definition.Object), "properties")
	var missing []string
	for _, whole := range []struct {
		name string
		of   reflect.Type
	}{{"spec", reflect.TypeFor[ucv1.ClusterSpec]()}, {"status", reflect.TypeFor[ucv1.ClusterStatus]()}} {
		missing = append(missing, lackedBelow(properties, whole.name, whole.name, whole.of)...)
	}
	return missing, nil
}

// servedSchema is that of the version that is written; empty where the definition does not have it.
func servedSchema(definition map[string]any) map[string]any {
	versions, _ := part(definition, "spec")["versions"].([]any)
	for _, version := range versions {
		if version, ok := version.(map[string]any); ok && version["name"] == ucv1.GroupVersion().Version {
			return part(version, "schema", "openAPIV3Schema")
		}
	}
	return nil
}

// lackedBelow is what of a field and below it the properties lack.
func lackedBelow(properties map[string]any, name, path string, of reflect.Type) []string {
	known, ok := properties[name].(map[string]any)
	if !ok {
		return []string{path}
	}
	return lackedIn(known, path, of)
}

func lackedIn(known map[string]any, path string, of reflect.Type) (missing []string) {
	switch of.Kind() {
	case reflect.Pointer:
		return lackedIn(known, path, of.Elem())
	case reflect.Slice:
		return lackedIn(part(known, "items"), path+"[]", of.Elem())
	case reflect.Map:
		return lackedIn(part(known, "additionalProperties"), path+"{}", of.Elem())
	case reflect.Struct:
		if reflect.PointerTo(of).Implements(reflect.TypeFor[json.Marshaler]()) {
			return nil // A time, for example: its fields are not what is written.
		}
		for field := range of.Fields() {
			missing = append(missing, lackedOf(known, path, field)...)
		}
		return missing
	default:
		return nil
	}
}

func lackedOf(known map[string]any, path string, field reflect.StructField) []string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "" {
		return lackedIn(known, path, field.Type) // Its fields are written as if they were of the struct that it is in.
	}
	return lackedBelow(part(known, "properties"), name, path+"."+name, field.Type)
}

// part goes down by names; what is not there is empty.
func part(of map[string]any, names ...string) map[string]any {
	for _, name := range names {
		of, _ = of[name].(map[string]any)
	}
	return of
}
