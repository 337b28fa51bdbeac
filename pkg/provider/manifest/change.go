package manifest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// ChangePods changes the pod template of every workload among the objects.
func ChangePods(objects []*unstructured.Unstructured, change func(pod *corev1.PodTemplateSpec)) error {
	for _, object := range objects {
		content, found, err := unstructured.NestedMap(object.Object, "spec", "template")
		if err != nil || !found {
			continue
		}
		if err := changePod(object, content, change); err != nil {
			return fmt.Errorf("render %s %s/%s: %w", object.GetKind(), object.GetNamespace(), object.GetName(), err)
		}
	}
	return nil
}

func changePod(object *unstructured.Unstructured, content map[string]any, change func(pod *corev1.PodTemplateSpec)) error {
	pod := &corev1.PodTemplateSpec{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, pod); err != nil {
		return err
	}
	change(pod)
	changed, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		return err
	}
	return unstructured.SetNestedMap(object.Object, changed, "spec", "template")
}
