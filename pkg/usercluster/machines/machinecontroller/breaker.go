package machinecontroller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// roll makes the action's fields the whole of what is ours of a MachineDeployment: forceRestart in its template
// and an endless minReadySeconds, in one write, or one of them. What was ours and is not among them is gone afterwards, unless
// another owner wants it, too: that is how minReadySeconds is given back. The UID goes along, because server-side apply would
// make a deleted object again, and the version, because what a person changed meanwhile is looked at first.
func (a *Adapter) roll(ctx context.Context, ref observation.Ref, action outcome.Action) error {
	version := action.VersionOf(ref)
	if ref.UID == "" || version == "" {
		return errors.New("roll " + ref.String() + ": its UID and resourceVersion are needed")
	}
	apply := func(ctx context.Context, c client.Client, version string) error {
		return c.Apply(ctx, oursOf(ref, version, action), client.FieldOwner(ucv1.FieldManager), client.ForceOwnership)
	}
	may := refusal{Refusal: observation.Refusal{Of: observation.RefusedChange, Asked: action.Asks()}, again: apply, version: version}
	return changing("roll", ref, a.note(ref, may, apply(ctx, a.client, version)))
}

// oursOf a MachineDeployment are the fields of it that the action has.
func oursOf(ref observation.Ref, version string, action outcome.Action) runtime.ApplyConfiguration {
	object := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": ref.Namespace, "name": ref.Name, "uid": ref.UID, "resourceVersion": version},
	}}
	object.SetGroupVersionKind(machineGroupVersion().WithKind(machineDeploymentKind))
	spec := map[string]any{}
	if action.Endless {
		spec["minReadySeconds"] = int64(rollout.EndlessMinReadySeconds)
	}
	if action.RestartValue != "" {
		annotations := map[string]any{ucv1.ForceRestartAnnotation: action.RestartValue}
		spec["template"] = map[string]any{"metadata": map[string]any{"annotations": annotations}}
	}
	if len(spec) > 0 {
		object.Object["spec"] = spec
	}
	return client.ApplyConfigurationFromUnstructured(object)
}

// mark has the machine-controller take these Machines first when their MachineSet is scaled down. Of those that are refused, the
// first is asked about again: there may be many, and the next write itself tells of the others.
func (a *Adapter) mark(ctx context.Context, action outcome.Action) error {
	var again write
	err := each(action.Objects, func(ref observation.Ref) error {
		mark := func(ctx context.Context, c client.Client, _ string) error {
			return patch(ctx, c, "mark", ref, map[string]any{
				"metadata": map[string]any{"uid": ref.UID, "annotations": map[string]any{ucv1.DeleteMachineAnnotation: "true"}},
			})
		}
		err := mark(ctx, a.client, "")
		if again == nil && isRefusal(err) {
			again = mark
		}
		return err
	})
	return a.note(action.Step.Deployment, refusalOfStep(action, again), err)
}

func refusalOfStep(action outcome.Action, again write) refusal {
	return refusal{Refusal: observation.Refusal{Of: observation.RefusedStep, Asked: action.Asks()}, again: again}
}

// step lowers a MachineSet that is as it was seen, if its MachineDeployment is, too: while that is paused, the
// machine-controller would bring the MachineSet back to what it was, with a Machine that can never boot.
func (a *Adapter) step(ctx context.Context, action outcome.Action) error {
	set, step := action.Objects[0], *action.Step
	deployment := &unstructured.Unstructured{}
	deployment.SetGroupVersionKind(machineGroupVersion().WithKind(machineDeploymentKind))
	key := types.NamespacedName{Namespace: step.Deployment.Namespace, Name: step.Deployment.Name}
	if err := a.client.Get(ctx, key, deployment); err != nil {
		return fmt.Errorf("lower %s: look at %s: %w", set, step.Deployment, err)
	}
	if string(deployment.GetUID()) != step.Deployment.UID || deployment.GetGeneration() != step.Generation {
		return fmt.Errorf("lower %s: %s was changed meanwhile, look again", set, step.Deployment)
	}
	lower := func(metadata map[string]any) write {
		return func(ctx context.Context, c client.Client, _ string) error {
			return patch(ctx, c, "lower", set, map[string]any{"metadata": metadata, "spec": map[string]any{"replicas": step.Replicas}})
		}
	}
	asSeen := lower(map[string]any{"uid": set.UID, "resourceVersion": step.Version})
	again := lower(map[string]any{"uid": set.UID})
	return a.note(step.Deployment, refusalOfStep(action, again), asSeen(ctx, a.client, ""))
}

func patch(ctx context.Context, c client.Client, what string, ref observation.Ref, change map[string]any) error {
	data, err := json.Marshal(change)
	if err != nil {
		return fmt.Errorf("%s %s: %w", what, ref, err)
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(machineGroupVersion().WithKind(ref.Kind))
	object.SetNamespace(ref.Namespace)
	object.SetName(ref.Name)
	return changing(
		what,
		ref,
		c.Patch(ctx, object, client.RawPatch(types.MergePatchType, data), client.FieldOwner(ucv1.FieldManager)),
	)
}

// guardOf reads from the managed fields whose minReadySeconds it is. The API server keeps them, so that no mark of ours is
// needed: an annotation would have the operating-system-manager make its configuration again.
func guardOf(object *unstructured.Unstructured) observation.Guard {
	seconds := integerOr(object, 0, "spec", "minReadySeconds")
	guard := observation.Guard{MinReadySeconds: int32(seconds), Canary: object.GetLabels()[ucv1.CanaryLabel] != ""}
	for _, entry := range object.GetManagedFields() {
		switch {
		case !owns(entry, "minReadySeconds"):
		case entry.Manager == ucv1.FieldManager:
			guard.MinReadyOurs = seconds == rollout.EndlessMinReadySeconds
		case seconds != 0 || entry.Operation == metav1.ManagedFieldsOperationApply:
			// An Update that left 0 behind wanted nothing: it is the default, which clients fill in.
			guard.MinReadyOwner = entry.Manager
		}
	}
	if seconds != 0 && !guard.MinReadyOurs && guard.MinReadyOwner == "" {
		guard.MinReadyOwner = "an admission webhook"
	}
	return guard
}

// owns says that a manager owns a field of the spec.
func owns(entry metav1.ManagedFieldsEntry, field string) bool {
	fields := struct {
		Spec map[string]json.RawMessage `json:"f:spec"`
	}{}
	if entry.FieldsV1 == nil || entry.Subresource != "" || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
		return false
	}
	_, owned := fields.Spec["f:"+field]
	return owned
}
