package webhook

import (
	"context"
	"encoding/json"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const (
	machinesPath    = "/machines"
	deploymentsPath = "/machinedeployments"
)

func addHandlers(mux *http.ServeMux, external bool) {
	mux.Handle(machinesPath, &admission.Webhook{Handler: machineHandler(external)})
	mux.Handle(deploymentsPath, &admission.Webhook{Handler: deploymentHandler()})
}

func machineHandler(external bool) admission.Handler {
	return mutating(func(request admission.Request, machine *unstructured.Unstructured) error {
		if request.Operation == admissionv1.Create {
			ctrl.Log.Info("stamped", "machine", request.Name, "externalCloudProvider", external)
			return stamp(machine, external)
		}
		before := &unstructured.Unstructured{}
		if err := json.Unmarshal(request.OldObject.Raw, &before.Object); err != nil {
			return err
		}
		return checkUpdate(before, machine)
	})
}

func deploymentHandler() admission.Handler {
	return mutating(func(_ admission.Request, deployment *unstructured.Unstructured) error {
		return defaultDeployment(deployment)
	})
}

// mutating lets everything pass that is being deleted: finalizers must be
// removable whatever the spec says.
func mutating(mutate func(admission.Request, *unstructured.Unstructured) error) admission.Handler {
	return admission.HandlerFunc(func(_ context.Context, request admission.Request) admission.Response {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(request.Object.Raw); err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		if object.GetDeletionTimestamp() != nil {
			return admission.Allowed("is being deleted")
		}
		if err := mutate(request, object); err != nil {
			return admission.Denied(err.Error())
		}
		raw, err := object.MarshalJSON()
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		return admission.PatchResponseFromRaw(request.Object.Raw, raw)
	})
}
