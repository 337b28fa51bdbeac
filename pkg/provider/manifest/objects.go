package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
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

func kindOf(typed Object) (schema.GroupVersionKind, bool) {
	switch typed.(type) {
	case *corev1.Secret:
		return corev1.SchemeGroupVersion.WithKind("Secret"), true
	case *corev1.ConfigMap:
		return corev1.SchemeGroupVersion.WithKind("ConfigMap"), true
	case *corev1.ServiceAccount:
		return corev1.SchemeGroupVersion.WithKind("ServiceAccount"), true
	case *rbacv1.ClusterRole:
		return rbacv1.SchemeGroupVersion.WithKind("ClusterRole"), true
	case *rbacv1.ClusterRoleBinding:
		return rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"), true
	case *rbacv1.Role:
		return rbacv1.SchemeGroupVersion.WithKind("Role"), true
	case *rbacv1.RoleBinding:
		return rbacv1.SchemeGroupVersion.WithKind("RoleBinding"), true
	case *appsv1.Deployment:
		return appsv1.SchemeGroupVersion.WithKind("Deployment"), true
	case *appsv1.DaemonSet:
		return appsv1.SchemeGroupVersion.WithKind("DaemonSet"), true
	case *policyv1.PodDisruptionBudget:
		return policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), true
	case *storagev1.CSIDriver:
		return storagev1.SchemeGroupVersion.WithKind("CSIDriver"), true
	case *storagev1.StorageClass:
		return storagev1.SchemeGroupVersion.WithKind("StorageClass"), true
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
