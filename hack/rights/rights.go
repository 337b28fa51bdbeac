package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
)

// rights are the rules in kube-system and those of the whole cluster.
type rights struct {
	namespace, cluster []rbacv1.PolicyRule
}

// resource is what a kind is called in a rule, and what is done with its objects.
type resource struct {
	group, name string
	verbs       []string
}

// resources of the catalogue. Those without get are watched, by rules of role.yaml and cluster_role.yaml; roles are escalated to,
// because the addons may do what we may not; drivers and classes are never deleted, because volumes depend on them, nor is what
// the cluster has once for all drivers.
func resources() map[string]resource {
	written, lasting := []string{"create", "delete", "get", "patch"}, []string{"create", "get", "patch"}
	watched, escalated := []string{"create", "delete", "patch"}, []string{"bind", "create", "delete", "escalate", "get", "patch"}
	return map[string]resource{
		"Secret":                   {"", "secrets", written},
		"ConfigMap":                {"", "configmaps", written},
		"ServiceAccount":           {"", "serviceaccounts", written},
		"Deployment":               {"apps", "deployments", watched},
		"DaemonSet":                {"apps", "daemonsets", watched},
		"PodDisruptionBudget":      {"policy", "poddisruptionbudgets", written},
		"Lease":                    {"coordination.k8s.io", "leases", watched},
		"Role":                     {rbacv1.GroupName, "roles", escalated},
		"ClusterRole":              {rbacv1.GroupName, "clusterroles", escalated},
		"RoleBinding":              {rbacv1.GroupName, "rolebindings", written},
		"ClusterRoleBinding":       {rbacv1.GroupName, "clusterrolebindings", written},
		"CSIDriver":                {"storage.k8s.io", "csidrivers", lasting},
		"StorageClass":             {"storage.k8s.io", "storageclasses", lasting},
		"CustomResourceDefinition": {"apiextensions.k8s.io", "customresourcedefinitions", lasting},
	}
}

// names of objects, by kind; those that are bound to and not ours by theirs, too.
type names struct {
	own, shared, bound map[string]map[string]bool
}

// rightsOf a provider are those for what it renders in any minor.
func rightsOf(profile provider.Profile) (rights, error) {
	found := names{own: map[string]map[string]bool{}, shared: map[string]map[string]bool{}, bound: map[string]map[string]bool{}}
	registered := ""
	for minor := versions.FirstMinor; minor <= versions.LastMinor; minor++ {
		version := fmt.Sprintf("1.%d.0", minor)
		if _, err := profile.Release(version); err != nil {
			continue
		}
		registered = profile.Facts(version).RegisteredBy
		objects, err := objectsOf(profile, version)
		if err != nil {
			return rights{}, err
		}
		for _, object := range objects {
			if err := found.add(object); err != nil {
				return rights{}, err
			}
		}
	}
	made, id := found.rights(), profile.Identity()
	if resource, group, found := strings.Cut(registered, "."); found {
		made.cluster = append(
			made.cluster,
			rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{"list"}},
		)
	}
	// Beside the control plane the CCM and its probe get in with a token.
	made.namespace = append(made.namespace, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"serviceaccounts/token"}, Verbs: []string{"create"},
		ResourceNames: []string{id.ServiceAccountName, render.ProbeIdentity(id).ServiceAccountName},
	})
	return made, nil
}

// objectsOf a version: both sets and the probe.
func objectsOf(profile provider.Profile, version string) ([]*unstructured.Unstructured, error) {
	addons, err := profile.Render(manifest.RenderInput{
		Version:     version,
		CloudConfig: profile.Example(),
		ClusterUID:  "uid",
		Inherited:   ucv1.InheritedConfiguration{ClusterName: "kubernetes"},
	})
	if err != nil {
		return nil, err
	}
	probe, err := render.Probe(addons.CCM, profile.Identity())
	if err != nil {
		return nil, err
	}
	return slices.Concat(addons.WithNodes().Objects, addons.CSI.Objects, probe.Objects), nil
}

func (n names) add(object *unstructured.Unstructured) error {
	kind := object.GetKind()
	if _, known := resources()[kind]; !known {
		return fmt.Errorf("there is no rule for %s %s: add its kind to the resources", kind, object.GetName())
	}
	if manifest.Shared(object) {
		put(n.shared, kind, object.GetName())
	} else {
		put(n.own, kind, object.GetName())
	}
	if role, found, err := unstructured.NestedStringMap(object.Object, "roleRef"); found && err == nil {
		put(n.bound, role["kind"], role["name"])
	}
	return nil
}

func put(all map[string]map[string]bool, kind, name string) {
	if all[kind] == nil {
		all[kind] = map[string]bool{}
	}
	all[kind][name] = true
}

func (n names) rights() rights {
	made := rights{}
	for _, kind := range slices.Sorted(maps.Keys(n.own)) {
		made.add(kind, resources()[kind].verbs, slices.Sorted(maps.Keys(n.own[kind])))
	}
	for _, kind := range slices.Sorted(maps.Keys(n.shared)) {
		verbs := slices.DeleteFunc(slices.Clone(resources()[kind].verbs), func(verb string) bool { return verb == "delete" })
		made.add(kind, verbs, slices.Sorted(maps.Keys(n.shared[kind])))
	}
	// Roles of Kubernetes itself are only bound to.
	for _, kind := range slices.Sorted(maps.Keys(n.bound)) {
		foreign := slices.DeleteFunc(
			slices.Sorted(maps.Keys(n.bound[kind])),
			func(name string) bool { return n.own[kind][name] || n.shared[kind][name] },
		)
		made.add(kind, []string{"bind"}, foreign)
	}
	return made
}

func (r *rights) add(kind string, verbs, names []string) {
	if len(names) == 0 {
		return
	}
	of := resources()[kind]
	rule := rbacv1.PolicyRule{APIGroups: []string{of.group}, Resources: []string{of.name}, ResourceNames: names, Verbs: verbs}
	switch kind {
	case "ClusterRole", "ClusterRoleBinding", "CSIDriver", "CustomResourceDefinition", "StorageClass":
		r.cluster = append(r.cluster, rule)
	default:
		r.namespace = append(r.namespace, rule)
	}
}
