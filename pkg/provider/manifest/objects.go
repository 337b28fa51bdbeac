package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object is a typed object of the catalogue.
type Object interface {
	metav1.Object
	runtime.Object
}

// untyped is the object as it is applied: without a status, which is not ours to say, and with rules merged.
func untyped(typed Object) (*unstructured.Unstructured, error) {
	kind, known := kindOf(typed)
	if !known {
		return nil, fmt.Errorf("the catalogue does not know the kind of %T %s", typed, typed.GetName())
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return nil, fmt.Errorf("%s %s/%s: %w", kind.Kind, typed.GetNamespace(), typed.GetName(), err)
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(kind)
	delete(object.Object, "status")
	return object, nil
}

// kindOf looks in the packages that the catalogue takes its types from.
func kindOf(typed Object) (schema.GroupVersionKind, bool) {
	for version, samples := range map[schema.GroupVersion][]Object{
		corev1.SchemeGroupVersion: {&corev1.Secret{}, &corev1.ConfigMap{}, &corev1.ServiceAccount{}},
		rbacv1.SchemeGroupVersion: {&rbacv1.ClusterRole{}, &rbacv1.ClusterRoleBinding{}, &rbacv1.Role{},
			&rbacv1.RoleBinding{}},
		appsv1.SchemeGroupVersion:          {&appsv1.Deployment{}, &appsv1.DaemonSet{}},
		policyv1.SchemeGroupVersion:        {&policyv1.PodDisruptionBudget{}},
		storagev1.SchemeGroupVersion:       {&storagev1.CSIDriver{}, &storagev1.StorageClass{}},
		apiextensionsv1.SchemeGroupVersion: {&apiextensionsv1.CustomResourceDefinition{}},
	} {
		for _, sample := range samples {
			// A kind is called like its type.
			if kind := reflect.TypeOf(sample); kind == reflect.TypeOf(typed) {
				return version.WithKind(kind.Elem().Name()), true
			}
		}
	}
	return schema.GroupVersionKind{}, false
}

// merged has one rule for each resource, in the order in which they come first, with the verbs of all.
func merged(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var all []rbacv1.PolicyRule
	for _, rule := range rules {
		at := slices.IndexFunc(all, func(other rbacv1.PolicyRule) bool {
			return slices.Equal(other.APIGroups, rule.APIGroups) && slices.Equal(other.Resources, rule.Resources) &&
				slices.Equal(other.ResourceNames, rule.ResourceNames)
		})
		if at < 0 {
			rule.Verbs = slices.Clone(rule.Verbs)
			all = append(all, rule)
			continue
		}
		for _, verb := range rule.Verbs {
			if !slices.Contains(all[at].Verbs, verb) {
				all[at].Verbs = append(all[at].Verbs, verb)
			}
		}
	}
	return all
}

// Checksum of the data of a Secret; it does not depend on the order of the keys.
func Checksum(data map[string][]byte) string {
	hash := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(data)) {
		// The lengths keep a key's end apart from its value's beginning. A hash never returns an error.
		_, _ = fmt.Fprintf(hash, "%d:%s%d:%s", len(key), key, len(data[key]), data[key])
	}
	return hex.EncodeToString(hash.Sum(nil))
}
