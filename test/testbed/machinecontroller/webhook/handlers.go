package webhook

import (
	"context"
	"encoding/json"
	"fmt"
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

// asker asks the cloud whether a Machine's spec is valid: at the creation of a Machine, and at every write of a
// MachineDeployment, because the real one compares the bytes that it marshals with those that the API server stored.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/admission/machinedeployments.go#L62
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/admission/machinedeployments_validation.go#L140
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/admission/machines.go#L97
type asker func(ctx context.Context, providerSpec string) error

func (ask asker) validate(ctx context.Context, object *unstructured.Unstructured, path ...string) error {
	spec, _, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	if err := ask(ctx, string(raw)); err != nil {
		return fmt.Errorf("validation failed: %w", err)
	}
	return nil
}

func addHandlers(mux *http.ServeMux, external bool, ask asker) {
	mux.Handle(machinesPath, &admission.Webhook{Handler: machineHandler(external, ask)})
	mux.Handle(deploymentsPath, &admission.Webhook{Handler: deploymentHandler(ask)})
}

func machineHandler(external bool, ask asker) admission.Handler {
	return mutating(func(ctx context.Context, request admission.Request, machine *unstructured.Unstructured) error {
		if request.Operation == admissionv1.Create {
			if err := ask.validate(ctx, machine, "spec", "providerSpec", "value"); err != nil {
				return err
			}
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

func deploymentHandler(ask asker) admission.Handler {
	return mutating(func(ctx context.Context, _ admission.Request, deployment *unstructured.Unstructured) error {
		if err := defaultDeployment(deployment); err != nil {
			return err
		}
		if err := marshalProviderSpec(deployment); err != nil {
			return err
		}
		return ask.validate(ctx, deployment, "spec", "template", "spec", "providerSpec", "value")
	})
}

// mutating lets everything pass that is being deleted: finalizers must be
// removable whatever the spec says.
func mutating(mutate func(context.Context, admission.Request, *unstructured.Unstructured) error) admission.Handler {
	return admission.HandlerFunc(func(ctx context.Context, request admission.Request) admission.Response {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(request.Object.Raw); err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		if object.GetDeletionTimestamp() != nil {
			return admission.Allowed("is being deleted")
		}
		if err := mutate(ctx, request, object); err != nil {
			return admission.Denied(err.Error())
		}
		raw, err := object.MarshalJSON()
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		return admission.PatchResponseFromRaw(request.Object.Raw, raw)
	})
}
