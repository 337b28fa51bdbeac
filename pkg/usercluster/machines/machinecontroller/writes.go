package machinecontroller

import (
	"context"
	"encoding/json"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// tryWrite asks the webhooks of a MachineDeployment by a dry run that changes nothing. The machine-controller's validates against
// the cloud at every update, and writes the providerSpec in its own form.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/admission/machinedeployments.go#L62-L76
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/admission/machinedeployments_validation.go#L140
func (a *Adapter) tryWrite(ctx context.Context, stored *unstructured.Unstructured) observation.Observed[preflight.Write] {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": string(stored.GetUID())}})
	if err != nil {
		return observation.Unknown[preflight.Write](err.Error())
	}
	answer := &unstructured.Unstructured{}
	answer.SetGroupVersionKind(stored.GroupVersionKind())
	answer.SetNamespace(stored.GetNamespace())
	answer.SetName(stored.GetName())
	err = a.client.Patch(
		ctx, answer, client.RawPatch(types.MergePatchType, patch), client.DryRunAll, client.FieldOwner(ucv1.FieldManager),
	)
	switch {
	case err == nil && answer.GetUID() != stored.GetUID():
		return observation.Absent[preflight.Write]() // The answer is not the object.
	case err == nil:
		return observation.Known(preflight.Write{Rewritten: rewritten(stored, answer)})
	case isRefusal(err): // Whatever its code is.
		return observation.Known(preflight.Write{Refused: refuser(err)})
	case isGone(err) || apierrors.IsConflict(err):
		return observation.Absent[preflight.Write]() // It is changed at this moment, or not there any more.
	case saysNoDryRun(err):
		return observation.Absent[preflight.Write]()
	}
	return observation.Unknown[preflight.Write](reads.Because("trying a write that changes nothing", err))
}

// rewritten says that the template is another one. In a providerSpec the machine-controller compares each byte, so that a field
// without a value counts there, and nowhere else.
func rewritten(stored, answer *unstructured.Unstructured) bool {
	if digestOfTemplate(stored) != digestOfTemplate(answer) {
		return true
	}
	path := []string{"spec", "template", "spec", "providerSpec", "value"}
	before, _, _ := unstructured.NestedFieldNoCopy(stored.Object, path...)
	after, _, _ := unstructured.NestedFieldNoCopy(answer.Object, path...)
	return !reflect.DeepEqual(before, after)
}
