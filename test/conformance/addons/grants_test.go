package addons_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/leases"
)

// grant is one thing that someone may do.
type grant struct {
	verb, group, resource string
	// namespace is empty for the whole cluster, and name for all objects.
	namespace, name string
}

// String is such as get leases.coordination.k8s.io kube-system/a.
func (g grant) String() string {
	text := g.verb + " " + g.resource
	if g.group != "" {
		text += "." + g.group
	}
	if g.namespace != "" || g.name != "" {
		text += " " + g.namespace + "/" + g.name
	}
	return text
}

// grants are those of several verbs on one resource, everywhere.
func grants(group, resource string, verbs ...string) []grant {
	var all []grant
	for _, verb := range verbs {
		all = append(all, grant{verb: verb, group: group, resource: resource})
	}
	return all
}

// of narrows grants down to a namespace and, unless it is empty, a name.
func of(namespace, name string, all []grant) []grant {
	for i := range all {
		all[i].namespace, all[i].name = namespace, name
	}
	return all
}

// identity is a ServiceAccount as authorizers know it.
type identity struct{ user string }

func serviceAccount(namespace, name string) identity {
	return identity{leases.UserName(manifest.Identity{ServiceAccountNamespace: namespace, ServiceAccountName: name})}
}

func (identity) groups() []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + metav1.NamespaceSystem, "system:authenticated"}
}

// may asks the authorizer about each of the grants, in their order.
func (i identity) may(ctx context.Context, all []grant) ([]bool, error) {
	allowed := make([]bool, len(all))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for at, one := range all {
		group.Go(func() error {
			resource, sub, _ := strings.Cut(one.resource, "/")
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User: i.user, Groups: i.groups(), ResourceAttributes: &authorizationv1.ResourceAttributes{
					Verb: one.verb, Group: one.group, Resource: resource, Subresource: sub, Namespace: one.namespace, Name: one.name,
				},
			}}
			err := suite.admin.Create(ctx, review)
			allowed[at] = review.Status.Allowed
			return err
		})
	}
	return allowed, group.Wait()
}

// ask returns those of the grants for which the answer is as given.
func (i identity) ask(t *testing.T, all []grant, answer bool) []string {
	t.Helper()
	allowed, err := i.may(t.Context(), all)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	var found []string
	for at, one := range all {
		if allowed[at] == answer {
			found = append(found, one.String())
		}
	}
	return found
}

// rules are all that the authorizer grants an identity in a namespace.
func (i identity) rules(t *testing.T, namespace string) []grant {
	t.Helper()
	g := NewWithT(t)
	c, err := as(i.user, i.groups()...)
	g.Expect(err).NotTo(HaveOccurred())
	review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	g.Expect(c.Create(t.Context(), review)).To(Succeed())
	g.Expect(review.Status.Incomplete).To(BeFalse(), review.Status.EvaluationError)
	var all []grant
	for _, rule := range review.Status.ResourceRules {
		all = append(all, expand(rbacv1.PolicyRule{
			Verbs: rule.Verbs, APIGroups: rule.APIGroups, Resources: rule.Resources, ResourceNames: rule.ResourceNames,
		}, namespace)...)
	}
	for _, rule := range review.Status.NonResourceRules {
		for _, path := range rule.NonResourceURLs {
			for _, verb := range rule.Verbs {
				all = append(all, grant{verb: verb, resource: path, namespace: namespace})
			}
		}
	}
	return all
}

func expand(rule rbacv1.PolicyRule, namespace string) []grant {
	var all []grant
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				for _, name := range names {
					all = append(all, grant{verb, group, resource, namespace, name})
				}
			}
		}
	}
	return all
}

// surplus is what an identity has beyond the known grants and beyond what every ServiceAccount has, in the namespace of the
// catalogue and in another one.
func (i identity) surplus(t *testing.T, known []grant) (found []grant) {
	t.Helper()
	for _, namespace := range []string{metav1.NamespaceSystem, metav1.NamespaceDefault} {
		everybody := serviceAccount(metav1.NamespaceSystem, "no one").rules(t, namespace)
		for _, one := range i.rules(t, namespace) {
			isKnown := slices.ContainsFunc(known, func(k grant) bool { return k.covers(one) })
			if !isKnown && !slices.Contains(everybody, one) {
				found = append(found, one)
			}
		}
	}
	return found
}

// covers says that the other one is this grant, or a part of it.
func (g grant) covers(other grant) bool {
	if g.namespace == "" {
		other.namespace = ""
	}
	if g.name == "" {
		other.name = ""
	}
	return g == other
}

// settle waits until the authorizer has seen all rules that were written so far: it reads roles and bindings from a watch each,
// in the order in which they were written, so that it is enough to wait for one more of each.
func settle(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	mark, err := suite.audit.mark()
	g.Expect(err).NotTo(HaveOccurred())
	who := identity{fmt.Sprintf("settled-%d", mark)}
	subjects := []any{map[string]any{"apiGroup": rbacv1.GroupName, "kind": rbacv1.UserKind, "name": who.user}}
	var asked []grant
	for _, scope := range []struct{ prefix, namespace, resource string }{
		{"Cluster", "", "nodes"}, {"", metav1.NamespaceSystem, "pods"},
	} {
		rule := map[string]any{
			"apiGroups":     []any{""},
			"resources":     []any{scope.resource},
			"verbs":         []any{"get"},
			"resourceNames": []any{who.user},
		}
		ref := map[string]any{"apiGroup": rbacv1.GroupName, "kind": scope.prefix + "Role", "name": "settled"}
		for _, object := range []*unstructured.Unstructured{
			{Object: map[string]any{"kind": scope.prefix + "Role", "rules": []any{rule}}},
			{Object: map[string]any{"kind": scope.prefix + "RoleBinding", "roleRef": ref, "subjects": subjects}},
		} {
			object.SetAPIVersion(rbacv1.SchemeGroupVersion.String())
			object.SetNamespace(scope.namespace)
			object.SetName("settled")
			g.Expect(write(t.Context(), object)).To(Succeed())
		}
		asked = append(asked, grant{"get", "", scope.resource, scope.namespace, who.user})
	}
	g.Eventually(func() []string { return who.ask(t, asked, false) }, deadline, interval).Should(BeEmpty())
}

// accounts of a set, by name, with the names of the images of their pods.
func accounts(set manifest.Set) (map[string][]string, error) {
	all := map[string][]string{}
	for _, object := range set.Objects {
		if object.GetKind() == "ServiceAccount" {
			all[object.GetName()] = nil
		}
	}
	pods, err := podsOf(set)
	for _, pod := range pods {
		for _, container := range pod.Spec.Containers {
			all[pod.Spec.ServiceAccountName] = append(all[pod.Spec.ServiceAccountName], manifest.ImageName(container.Image))
		}
	}
	return all, err
}
