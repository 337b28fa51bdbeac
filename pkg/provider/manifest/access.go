package manifest

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Namespace of everything in the catalogue that is in one.
const Namespace = metav1.NamespaceSystem

// Rule allows verbs on one resource, such as nodes or nodes/status, of one API group.
func Rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// ServiceAccount makes one.
func ServiceAccount(name string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name}}
}

// ClusterAccess makes a ClusterRole and binds a ServiceAccount to it.
func ClusterAccess(name, account string, rules []rbacv1.PolicyRule) []Object {
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: merged(rules)}
	return []Object{role, clusterRoleBinding(name, name, account)}
}

// NamespaceAccess makes a Role and binds a ServiceAccount to it.
func NamespaceAccess(name, account string, rules []rbacv1.PolicyRule) []Object {
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name}, Rules: rules}
	return []Object{role, roleBinding(name, name, account)}
}

func clusterRoleBinding(name, role, account string) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}, Subjects: subjects(account),
	}
}

func roleBinding(name, role, account string) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role}, Subjects: subjects(account),
	}
}

func subjects(account string) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: Namespace, Name: account}}
}
