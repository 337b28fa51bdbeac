package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// VersionsPath is where the webhook server answers; the generated ValidatingWebhookConfiguration names it.
const VersionsPath = "/validate-usercluster-k8c-io-v1alpha1-cluster"

// +kubebuilder:webhookconfiguration:mutating=false,name=ccm-migration-controller
// +kubebuilder:webhook:name=versions.usercluster.k8c.io,path=/validate-usercluster-k8c-io-v1alpha1-cluster,mutating=false,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=3,groups=usercluster.k8c.io,resources=clusters,verbs=create;update,versions=v1alpha1,admissionReviewVersions=v1,serviceName=ccm-migration-controller-webhook,serviceNamespace=ccm-migration-system

// Objections are why the version rules refuse a write of a Cluster, as sentences that say what to do; empty: they do not.
// Before is nil when it is created.
type Objections func(before, after *ucv1.Cluster) string

// Sharers are the other Clusters that name the same control plane, as namespace/name.
type Sharers func(ctx context.Context, cluster *ucv1.Cluster) ([]string, error)

// VersionJudge answers admission requests for Clusters by the version rules, and keeps a control plane to one Cluster.
type VersionJudge struct {
	// Objections of the version rules.
	Objections Objections
	// Sharers of a control plane.
	Sharers Sharers
}

// Handle refuses what the version rules refuse of the change that is asked for. What is bad already may stay as it is, and a
// Cluster that is being deleted is not judged at all: its finalizers have to go.
func (j *VersionJudge) Handle(ctx context.Context, req admission.Request) admission.Response {
	if req.SubResource != "" || req.Operation != admissionv1.Create && req.Operation != admissionv1.Update {
		return admission.Allowed("")
	}
	before, after := (*ucv1.Cluster)(nil), &ucv1.Cluster{}
	err := json.Unmarshal(req.Object.Raw, after)
	if req.Operation == admissionv1.Update {
		before = &ucv1.Cluster{}
		err = errors.Join(err, json.Unmarshal(req.OldObject.Raw, before))
	}
	switch {
	case err != nil:
		// As the failurePolicy has it: what cannot be judged is not refused.
		return admission.Allowed("").WithWarnings(fmt.Sprintf("the version rules were not looked at: %v", err))
	case !after.DeletionTimestamp.IsZero():
		return admission.Allowed("")
	}
	if objections := j.Objections(before, after); objections != "" {
		return admission.Denied(objections)
	}
	warnings := advice(before, after)
	shared, err := j.newlyShared(ctx, before, after)
	switch {
	case err != nil:
		warnings = append(warnings, fmt.Sprintf("whether another Cluster has this control plane was not looked at: %v", err))
	case len(shared) > 0:
		return admission.Denied("Cluster " + strings.Join(shared, ", ") +
			" has this control plane already, and two of them stop both. Name another one in spec.controlPlane, or delete that Cluster " +
			"first.")
	}
	return admission.Allowed("").WithWarnings(warnings...)
}

// newlyShared are the Clusters that the change makes the control plane be shared with.
func (j *VersionJudge) newlyShared(ctx context.Context, before, after *ucv1.Cluster) ([]string, error) {
	names, err := j.Sharers(ctx, after)
	if err != nil || len(names) == 0 || before == nil {
		return names, err
	}
	shared, err := j.Sharers(ctx, before)
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(shared, name) }), err
}
