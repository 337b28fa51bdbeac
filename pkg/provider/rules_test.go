package provider_test

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
)

// grants are the rules that the objects give to an identity, and the roles it is bound to that are not among them.
type grants struct {
	rules    []rbacv1.PolicyRule
	external []string
}

func decode(g Gomega, object *unstructured.Unstructured, into any) {
	err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, into, true)
	g.Expect(err).NotTo(HaveOccurred(), object.GetKind()+" "+object.GetName())
}

func grantsOf(g Gomega, objects []*unstructured.Unstructured, id manifest.Identity) grants {
	roles := map[string][]rbacv1.PolicyRule{}
	var bound []string
	for _, object := range objects {
		switch object.GetKind() {
		case "Role", "ClusterRole":
			role := &rbacv1.Role{} // The fields that matter are the same.
			decode(g, object, role)
			roles[object.GetKind()+" "+object.GetName()] = role.Rules
		case "RoleBinding", "ClusterRoleBinding":
			binding := &rbacv1.RoleBinding{}
			decode(g, object, binding)
			if slices.ContainsFunc(binding.Subjects, func(s rbacv1.Subject) bool { return isIdentity(s, id) }) {
				bound = append(bound, binding.RoleRef.Kind+" "+binding.RoleRef.Name)
			}
		}
	}
	var all grants
	for _, name := range bound {
		if rules, ok := roles[name]; ok {
			all.rules = append(all.rules, rules...)
		} else {
			all.external = append(all.external, name)
		}
	}
	return all
}

// isIdentity says whether the subject is the ServiceAccount or a group that it is in.
func isIdentity(subject rbacv1.Subject, id manifest.Identity) bool {
	switch subject.Kind {
	case rbacv1.ServiceAccountKind:
		return subject.Name == id.ServiceAccountName && subject.Namespace == id.ServiceAccountNamespace
	case rbacv1.UserKind:
		return subject.Name == "system:serviceaccount:"+id.ServiceAccountNamespace+":"+id.ServiceAccountName
	default:
		return true
	}
}

func matches(list []string, wanted ...string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return s == "*" || slices.Contains(wanted, s) })
}

// writesLeases takes a rule for writing whatever its resourceNames say.
func writesLeases(rule rbacv1.PolicyRule) bool {
	return matches(rule.APIGroups, "coordination.k8s.io") && matches(rule.Resources, "leases", "*/*") &&
		matches(rule.Verbs, "create", "update", "patch", "delete", "deletecollection")
}

// borrowsPower says whether a rule lets its holder act as someone else, who may write Leases.
func borrowsPower(rule rbacv1.PolicyRule) bool {
	return matches(rule.Verbs, "impersonate", "escalate", "bind") ||
		matches(rule.APIGroups, "rbac.authorization.k8s.io") ||
		matches(rule.Resources, "serviceaccounts/token", "secrets", "pods", "pods/exec", "deployments", "daemonsets")
}

func TestWithoutTheFenceTheCCMMayWriteNoLease(t *testing.T) {
	forEach(t, func(g Gomega, name string, profile provider.Profile, minor int) {
		addons, err := profile.Render(input(name, minor))
		g.Expect(err).NotTo(HaveOccurred())
		objects := append(slices.Clone(addons.CCM.Objects), addons.CSI.Objects...)
		granted := grantsOf(g, objects, profile.Identity())
		g.Expect(granted.rules).NotTo(BeEmpty())
		for _, rule := range granted.rules {
			g.Expect(writesLeases(rule)).To(BeFalse(), rule.String())
			g.Expect(borrowsPower(rule)).To(BeFalse(), rule.String())
		}
		// Roles of Kubernetes: reading one ConfigMap, and asking who may do what. Neither has Leases.
		g.Expect(granted.external).To(ConsistOf(
			"ClusterRole system:auth-delegator", "Role extension-apiserver-authentication-reader"))
	})
}

func TestTheFenceIsWhatLetsTheCCMWriteItsLease(t *testing.T) {
	forEach(t, func(g Gomega, _ string, profile provider.Profile, _ int) {
		granted := grantsOf(g, render.FenceObjects(profile.Identity()), profile.Identity())
		g.Expect(granted.external).To(BeEmpty())
		g.Expect(granted.rules).To(HaveLen(2))
		g.Expect(granted.rules).To(HaveEach(Satisfy(writesLeases)))
	})
}

func TestRuleChecks(t *testing.T) {
	rule := func(group, resource, verb string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}}
	}
	tests := map[string]struct {
		rule            rbacv1.PolicyRule
		writes, borrows bool
	}{
		"reading Leases is harmless":    {rule("coordination.k8s.io", "leases", "get"), false, false},
		"updating Leases is found":      {rule("coordination.k8s.io", "leases", "update"), true, false},
		"all verbs on Leases are found": {rule("coordination.k8s.io", "leases", "*"), true, true},
		"all resources are found":       {rule("coordination.k8s.io", "*", "patch"), true, true},
		"everything is found":           {rule("*", "*", "*"), true, true},
		"minting tokens is found":       {rule("", "serviceaccounts/token", "create"), false, true},
		"binding roles is found":        {rule("rbac.authorization.k8s.io", "clusterroles", "bind"), false, true},
		"writing Nodes is harmless":     {rule("", "nodes", "patch"), false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(writesLeases(test.rule)).To(Equal(test.writes))
			g.Expect(borrowsPower(test.rule)).To(Equal(test.borrows))
		})
	}
}
