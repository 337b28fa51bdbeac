package ownership

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Tools are the GitOps and package tools that apply the object, each with the name that it knows it by:
// "Argo CD application web", "Flux Kustomization apps", "Helm release web". None: no tool left its mark.
//
// https://argo-cd.readthedocs.io/en/stable/user-guide/resource_tracking/
// https://fluxcd.io/flux/components/kustomize/kustomizations/#controlling-the-apply-behavior-of-resources
// https://helm.sh/docs/chart_best_practices/labels/#standard-labels
func Tools(object metav1.Object) []string {
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	var tools []string
	note := func(tool, name string) {
		if name != "" {
			tools = append(tools, tool+" "+name)
		}
	}
	release := annotations["meta.helm.sh/release-name"]
	note("Helm release", release)
	if release == "" && labels["app.kubernetes.io/managed-by"] == "Helm" {
		tools = append(tools, "Helm")
	}
	application, _, _ := strings.Cut(annotations["argocd.argoproj.io/tracking-id"], ":")
	if application == "" {
		application = labels["argocd.argoproj.io/instance"]
	}
	note("Argo CD application", application)
	note("Flux Kustomization", labels["kustomize.toolkit.fluxcd.io/name"])
	note("Flux HelmRelease", labels["helm.toolkit.fluxcd.io/name"])
	return tools
}

// Controller is the object that controls this one, "TenantControlPlane alpha" for example; empty: there is none.
func Controller(object metav1.Object) string {
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return ""
	}
	return owner.Kind + " " + owner.Name
}

// Hints say in a sentence's part who seems to manage an object; empty when nothing tells.
func Hints(object metav1.Object) string {
	hints := Tools(object)
	if controller := Controller(object); controller != "" {
		hints = append(hints, "owned by "+controller)
	}
	if names := fieldManagers(object); len(names) > 0 {
		hints = append(hints, "managed by "+strings.Join(names, ", "))
	}
	return strings.Join(hints, "; ")
}

// fieldManagers are those who wrote more than the status.
func fieldManagers(object metav1.Object) []string {
	var names []string
	for _, field := range object.GetManagedFields() {
		if field.Subresource == "" && field.Manager != "" {
			names = append(names, field.Manager)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
