package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// ClusterPath is where the webhook server answers; the generated MutatingWebhookConfiguration names it.
const ClusterPath = "/mutate-usercluster-k8c-io-v1alpha1-cluster"

// +kubebuilder:webhookconfiguration:mutating=true,name=ccm-migration-controller
// +kubebuilder:webhook:name=clusters.usercluster.k8c.io,path=/mutate-usercluster-k8c-io-v1alpha1-cluster,mutating=true,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,reinvocationPolicy=Never,timeoutSeconds=3,groups=usercluster.k8c.io,resources=clusters,verbs=update,versions=v1alpha1,admissionReviewVersions=v1,serviceName=ccm-migration-controller-webhook,serviceNamespace=ccm-migration-system

// SetupWithManager registers the webhooks with the manager's webhook server. canMigrate says whether a provider has an
// in-tree implementation to migrate from.
func SetupWithManager(mgr ctrl.Manager, canMigrate func(provider string) bool, objections Objections, sharers Sharers) {
	server := mgr.GetWebhookServer()
	server.Register(ClusterPath, &webhook.Admission{Handler: &Annotator{CanMigrate: canMigrate}})
	server.Register(VersionsPath, &webhook.Admission{Handler: &VersionJudge{Objections: objections, Sharers: sharers}})
}

// Annotator answers admission requests for Clusters.
type Annotator struct {
	// CanMigrate says whether a provider has an in-tree implementation to migrate from.
	CanMigrate func(provider string) bool
}

// Handle admits every request. Its patch names single annotations, so that nothing else of the object is written back:
// a handler that marshalled the whole object would drop fields that this version of the types does not know.
func (a *Annotator) Handle(_ context.Context, req admission.Request) admission.Response {
	if req.Operation != admissionv1.Update || req.SubResource != "" {
		return admission.Allowed("")
	}
	before, after := &ucv1.Cluster{}, &ucv1.Cluster{}
	if err := errors.Join(json.Unmarshal(req.OldObject.Raw, before), json.Unmarshal(req.Object.Raw, after)); err != nil {
		// Not admission.Errored: that is a denial, which failurePolicy does not soften.
		return admission.Allowed("").WithWarnings(
			fmt.Sprintf("the migration annotations were not added, the controller will add them: %v", err))
	}
	if !a.startsMigration(before, after) {
		return admission.Allowed("")
	}
	return admission.Patched("", annotationPatch(after.Annotations)...)
}

func (a *Annotator) startsMigration(before, after *ucv1.Cluster) bool {
	return !before.ExternalCloudProvider() && after.ExternalCloudProvider() &&
		after.DeletionTimestamp.IsZero() && a.CanMigrate(after.Spec.Cloud.ProviderName)
}

// annotationPatch adds what is missing of the two annotations.
func annotationPatch(present map[string]string) []jsonpatch.Operation {
	var operations []jsonpatch.Operation
	if present == nil {
		operations = append(operations, jsonpatch.NewOperation("add", "/metadata/annotations", map[string]string{}))
	}
	for _, name := range []string{ucv1.CCMMigrationNeededAnnotation, ucv1.CSIMigrationNeededAnnotation} {
		if value, ok := present[name]; ok && value == "" {
			continue
		}
		path := "/metadata/annotations/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		operations = append(operations, jsonpatch.NewOperation("add", path, ""))
	}
	return operations
}
