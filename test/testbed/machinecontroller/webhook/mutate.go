package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// stamp says on a new Machine what the webhook believes of its kubelet; a value
// that the creator set is overridden, as by the real one.
func stamp(machine *unstructured.Unstructured, external bool) error {
	annotations := machine.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[machines.ExternalCloudProviderAnnotation] = strconv.FormatBool(external)
	machine.SetAnnotations(annotations)
	name, _, err := unstructured.NestedString(machine.Object, "spec", "metadata", "name")
	if err != nil {
		return fmt.Errorf("read spec.metadata.name: %w", err)
	}
	if name != "" || machine.GetName() == "" {
		return nil
	}
	return unstructured.SetNestedField(machine.Object, machine.GetName(), "spec", "metadata", "name")
}

// checkUpdate refuses a changed spec. Set once are the providerID and the name;
// one annotation lets one change pass and is used up by it.
func checkUpdate(before, after *unstructured.Unstructured) error {
	annotations := after.GetAnnotations()
	if annotations[machines.BypassSpecAnnotation] == "true" {
		delete(annotations, machines.BypassSpecAnnotation)
		after.SetAnnotations(annotations)
		return nil
	}
	was, is := specOf(before), specOf(after)
	for _, once := range [][]string{{"providerID"}, {"metadata", "name"}} {
		value, found, err := unstructured.NestedString(was, once...)
		if err == nil && found && value != "" {
			continue
		}
		unstructured.RemoveNestedField(was, once...)
		unstructured.RemoveNestedField(is, once...)
	}
	dropEmptyMetadata(was)
	dropEmptyMetadata(is)
	if !equality.Semantic.DeepEqual(was, is) {
		return errors.New("machine.spec is immutable: delete the Machine and create a new one")
	}
	return nil
}

func specOf(machine *unstructured.Unstructured) map[string]any {
	spec, ok := machine.DeepCopy().Object["spec"].(map[string]any)
	if !ok {
		return map[string]any{}
	}
	return spec
}

// dropEmptyMetadata makes a missing metadata equal to one with nothing in it.
func dropEmptyMetadata(spec map[string]any) {
	metadata, _, err := unstructured.NestedMap(spec, "metadata")
	if err != nil {
		return
	}
	if value, exists := metadata["creationTimestamp"]; exists && value == nil {
		delete(metadata, "creationTimestamp")
	}
	delete(spec, "metadata")
	if len(metadata) > 0 {
		spec["metadata"] = metadata
	}
}

// defaultDeployment fills a MachineDeployment's defaults and refuses what the
// controller could never roll. Fields it does not know stay as they are.
func defaultDeployment(deployment *unstructured.Unstructured) error {
	raw, err := json.Marshal(deployment.Object["spec"])
	if err != nil {
		return fmt.Errorf("encode the spec: %w", err)
	}
	spec := &machines.MachineDeploymentSpec{}
	if err := json.Unmarshal(raw, spec); err != nil {
		return fmt.Errorf("decode the spec: %w", err)
	}
	machines.SetDefaults(spec)
	if err := validate(spec); err != nil {
		return err
	}
	strategy, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec.Strategy)
	if err != nil {
		return fmt.Errorf("convert the strategy: %w", err)
	}
	defaults := map[string]any{
		"replicas":                int64(*spec.Replicas),
		"minReadySeconds":         int64(*spec.MinReadySeconds),
		"revisionHistoryLimit":    int64(*spec.RevisionHistoryLimit),
		"progressDeadlineSeconds": int64(*spec.ProgressDeadlineSeconds),
		"strategy":                strategy,
	}
	for field, value := range defaults {
		if err := unstructured.SetNestedField(deployment.Object, value, "spec", field); err != nil {
			return fmt.Errorf("default spec.%s: %w", field, err)
		}
	}
	return nil
}

func validate(spec *machines.MachineDeploymentSpec) error {
	if spec.Strategy.Type != machines.StrategyRollingUpdate {
		return fmt.Errorf("spec.strategy.type %q is unknown: use %s", spec.Strategy.Type, machines.StrategyRollingUpdate)
	}
	rolling := spec.Strategy.RollingUpdate
	if isZero(rolling.MaxSurge) && isZero(rolling.MaxUnavailable) {
		return errors.New("spec.strategy.rollingUpdate: maxSurge and maxUnavailable may not both be zero")
	}
	if *spec.Replicas < 0 {
		return errors.New("spec.replicas may not be negative")
	}
	selector, err := metav1.LabelSelectorAsSelector(&spec.Selector)
	if err != nil {
		return fmt.Errorf("spec.selector: %w", err)
	}
	if selector.Empty() || !selector.Matches(labels.Set(spec.Template.Labels)) {
		return errors.New("spec.selector must select the labels of spec.template")
	}
	return nil
}

func isZero(value *intstr.IntOrString) bool {
	return value.String() == "0" || value.String() == "0%"
}
