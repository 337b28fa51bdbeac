package render

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	rbacGroup   = "rbac.authorization.k8s.io"
	rbacVersion = rbacGroup + "/v1"
)

// FenceObjects are the Role and the RoleBinding that let the CCM write its Lease. They are in no set: while they do not
// exist the CCM starts, but cannot be elected and runs no loop.
func FenceObjects(id manifest.Identity) []*unstructured.Unstructured {
	// The name of an object to create is not known when the request is authorized: that rule cannot have one.
	return leaseObjects(id, leaseRule("create"))
}

// KCMLeaseObjects are the Role and the RoleBinding that let a user, who is us, free KCM's Lease. They are there while KCM rolls
// out.
func KCMLeaseObjects(lease observation.Ref, user string) []*unstructured.Unstructured {
	free, name := leaseRule("patch"), handover.KCMLeaseRole
	free["resourceNames"] = []any{lease.Name}
	role := rbacObject("Role", lease.Namespace, name)
	role.Object["rules"] = []any{free}
	binding := rbacObject("RoleBinding", lease.Namespace, name)
	binding.Object["roleRef"] = map[string]any{"apiGroup": rbacGroup, "kind": "Role", "name": name}
	binding.Object["subjects"] = []any{map[string]any{"kind": "User", "apiGroup": rbacGroup, "name": user}}
	return []*unstructured.Unstructured{role, binding}
}

// leaseObjects let someone hold the Lease, and what the other rules say.
func leaseObjects(id manifest.Identity, rules ...any) []*unstructured.Unstructured {
	name := "ccm-migration:" + id.LeaseName + "-lease"
	hold := leaseRule("get", "update", "patch")
	names := []any{id.LeaseName}
	if id.WorkLease != "" {
		names = append(names, id.WorkLease)
	}
	hold["resourceNames"] = names
	role := rbacObject("Role", id.LeaseNamespace, name)
	role.Object["rules"] = append(rules, hold)
	binding := rbacObject("RoleBinding", id.LeaseNamespace, name)
	binding.Object["roleRef"] = map[string]any{"apiGroup": rbacGroup, "kind": "Role", "name": name}
	binding.Object["subjects"] = []any{map[string]any{
		"kind": "ServiceAccount", "namespace": id.ServiceAccountNamespace, "name": id.ServiceAccountName,
	}}
	return []*unstructured.Unstructured{role, binding}
}

func leaseRule(verbs ...any) map[string]any {
	return map[string]any{"apiGroups": []any{"coordination.k8s.io"}, "resources": []any{"leases"}, "verbs": verbs}
}

func rbacObject(kind, namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAPIVersion(rbacVersion)
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	object.SetLabels(map[string]string{manifest.ManagedByLabel: manifest.ManagedBy})
	return object
}
