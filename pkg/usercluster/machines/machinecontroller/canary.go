package machinecontroller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/machines"
)

// controllerLabel says which machine-controller a Machine is for: one with -name ignores every other Machine, and would never
// boot a canary without it.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L376
const controllerLabel = "machine.k8s.io/controller"

// CreateCanary implements machines.API.
func (a *Adapter) CreateCanary(ctx context.Context, target observation.Ref) (taints []corev1.Taint, err error) {
	create := func(ctx context.Context, c client.Client, _ string) error {
		source := &unstructured.Unstructured{}
		source.SetGroupVersionKind(machineGroupVersion().WithKind(machineDeploymentKind))
		if err := c.Get(ctx, client.ObjectKey{Namespace: target.Namespace, Name: target.Name}, source); err != nil {
			return fmt.Errorf("read it: %w", err)
		}
		deployment, err := canaryDeployment(source)
		if err != nil {
			return err
		}
		taints = taintsOf(source)
		return machines.CreateMissing(ctx, c, deployment)
	}
	may := refusal{Refusal: observation.Refusal{Of: observation.RefusedCanary}, again: create}
	return taints, a.note(target, may, create(ctx, a.client, ""))
}

// taintsOf the Nodes of a MachineDeployment.
func taintsOf(deployment *unstructured.Unstructured) []corev1.Taint {
	entries, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "taints")
	var taints []corev1.Taint
	for _, entry := range entries {
		if taint, isMap := entry.(map[string]any); isMap {
			key, _, _ := unstructured.NestedString(taint, "key")
			taints = append(taints, corev1.Taint{Key: key})
		}
	}
	return taints
}

// canaryDeployment is a copy of the target with one replica, under a name, a selector and labels of its own: with the target's,
// its MachineSets would adopt the canary. Of the annotations it keeps those that the machine-controller and the
// operating-system-manager read; GitOps tools and autoscalers must not take it for theirs.
func canaryDeployment(source *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	template, found, err := unstructured.NestedMap(source.Object, "spec", "template")
	if err != nil || !found {
		return nil, errors.New("it has no spec.template")
	}
	annotations, _, _ := unstructured.NestedStringMap(template, "metadata", "annotations")
	template["metadata"] = map[string]any{"labels": machineLabels(template), "annotations": installersOf(annotations)}
	nodeLabels, _, _ := unstructured.NestedStringMap(template, "spec", "metadata", "labels")
	labels := map[string]any{ucv1.CanaryLabel: "true"}
	for key, value := range nodeLabels {
		labels[key] = value
	}
	taints, _, _ := unstructured.NestedSlice(template, "spec", "taints")
	// It keeps others from preferring the Node, which goes soon, and no DaemonSet away from it.
	taints = append(
		taints,
		map[string]any{"key": ucv1.CanaryLabel, "value": "true", "effect": string(corev1.TaintEffectPreferNoSchedule)},
	)
	for _, set := range []func() error{
		func() error { return unstructured.SetNestedMap(template, labels, "spec", "metadata", "labels") },
		func() error { return unstructured.SetNestedSlice(template, taints, "spec", "taints") },
	} {
		if err := set(); err != nil {
			return nil, errors.New("its spec.template.spec is not understood")
		}
	}
	unstructured.RemoveNestedField(template, "spec", "providerID")
	unstructured.RemoveNestedField(template, "spec", "metadata", "name")
	canary := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"replicas": int64(1), "paused": false, "template": template,
		"selector": map[string]any{"matchLabels": map[string]any{ucv1.CanaryLabel: "true"}},
	}}}
	canary.SetGroupVersionKind(source.GroupVersionKind())
	canary.SetNamespace(source.GetNamespace())
	canary.SetName(ucv1.CanaryName)
	canary.SetLabels(map[string]string{ucv1.CanaryLabel: "true"})
	if annotations := installersOf(source.GetAnnotations()); len(annotations) > 0 {
		if err := unstructured.SetNestedMap(canary.Object, annotations, "metadata", "annotations"); err != nil {
			return nil, err
		}
	}
	return canary, nil
}

// machineLabels are ours, and the one that names the machine-controller that the Machines of a template are for.
func machineLabels(template map[string]any) map[string]any {
	labels := map[string]any{ucv1.CanaryLabel: "true"}
	if name, found, err := unstructured.NestedString(template, "metadata", "labels", controllerLabel); found && err == nil {
		labels[controllerLabel] = name
	}
	return labels
}

// installersOf are the annotations whose domain is one of the machine-controller's, the operating-system-manager's and their
// installers': k8c.io/operating-system-profile, for example. Those of the autoscaler are in cluster.k8s.io.
func installersOf(annotations map[string]string) map[string]any {
	result := map[string]any{}
	for key, value := range annotations {
		domain, _, _ := strings.Cut(key, "/")
		for _, known := range []string{"k8c.io", "kubermatic.io"} {
			if domain == known || strings.HasSuffix(domain, "."+known) {
				result[key] = value
			}
		}
	}
	return result
}
