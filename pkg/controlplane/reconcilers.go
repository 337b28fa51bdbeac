package controlplane

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/ownership"
)

// reconcilersOf are those who write the Deployment again when we changed it: its controller, the tools that apply it, and the
// programs that own the arguments of the container. Who wrote them once, with kubectl for example, does not reconcile them.
func reconcilersOf(deployment *appsv1.Deployment, container string) []string {
	reconcilers := ownership.Tools(deployment)
	if controller := ownership.Controller(deployment); controller != "" {
		reconcilers = append(reconcilers, controller)
	}
	if deployment.Labels["gardener.cloud/role"] == "controlplane" {
		// https://github.com/gardener/gardener/blob/3099b7c0c97e/pkg/component/kubernetes/controllermanager/controllermanager.go
		reconcilers = append(reconcilers, "Gardener")
	}
	for _, entry := range argumentOwners(deployment, container) {
		if program := programOf(entry); program != "" {
			reconcilers = append(reconcilers, program)
		}
	}
	slices.Sort(reconcilers)
	return slices.Compact(reconcilers)
}

// programOf is who reconciles what the entry owns; empty: it may have been written once. An apply says what someone wants to be
// there, so its manager comes back with it; kubectl does so only when a person calls it.
func programOf(entry metav1.ManagedFieldsEntry) string {
	// The manager is the name of the binary where a program gives no other.
	// https://github.com/kubernetes/client-go/blob/v0.30.14/rest/config.go (DefaultKubernetesUserAgent)
	known := map[string]string{
		"seed-controller-manager":       "KKP",
		"gardenlet":                     "Gardener",
		"argocd-application-controller": "Argo CD",
		"argocd-controller":             "Argo CD",
		"kustomize-controller":          "Flux",
		"helm-controller":               "Flux",
		"helm":                          "Helm",
	}[entry.Manager]
	switch {
	case known != "":
		return known
	case entry.Operation == metav1.ManagedFieldsOperationApply && !strings.HasPrefix(entry.Manager, "kubectl"):
		return "field manager " + entry.Manager
	}
	return ""
}

// argumentOwners are the entries of field managers besides us that own the container's flags: args, or command when the flags
// are there. Owning the executable alone is no claim on the flags.
func argumentOwners(deployment *appsv1.Deployment, container string) []metav1.ManagedFieldsEntry {
	spec := containerNamed(deployment.Spec.Template.Spec.Containers, container)
	if spec == nil {
		return nil
	}
	inCommand, inArgs := len(spec.Command) > 1 || len(spec.Args) == 0, len(spec.Args) > 0
	return slices.DeleteFunc(slices.Clone(deployment.ManagedFields), func(entry metav1.ManagedFieldsEntry) bool {
		fields := ownedFields(entry)[container]
		ownsFlags := fields.args && inArgs || fields.command && inCommand
		return !ownsFlags || entry.Manager == ucv1.FieldManager
	})
}

// fieldOwner names the field managers besides us that own the container's flags.
func fieldOwner(deployment *appsv1.Deployment, container string) string {
	var owners []string
	for _, entry := range argumentOwners(deployment, container) {
		owners = append(owners, entry.Manager)
	}
	slices.Sort(owners)
	return strings.Join(slices.Compact(owners), ", ")
}
