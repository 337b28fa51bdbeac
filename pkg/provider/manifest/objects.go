package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// ChecksumAnnotation on a pod template makes a changed cloud configuration roll the workload.
const ChecksumAnnotation = "ccm-migration.k8c.io/cloud-config-checksum"

// Read reads the objects of an embedded manifest, in order.
func Read(files fs.FS, name string) ([]*unstructured.Unstructured, error) {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("read embedded manifest %s: %w", name, err)
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		switch err := decoder.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, fmt.Errorf("read object %d of embedded manifest %s: %w", len(objects)+1, name, err)
		case len(object.Object) > 0:
			objects = append(objects, object)
		}
	}
}

// Secret makes a Secret of the given data.
func Secret(namespace, name string, data map[string][]byte) (*unstructured.Unstructured, error) {
	secret := &corev1.Secret{Type: corev1.SecretTypeOpaque, Data: data}
	secret.APIVersion, secret.Kind = "v1", "Secret"
	secret.Namespace, secret.Name = namespace, name
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(secret)
	if err != nil {
		return nil, fmt.Errorf("render Secret %s/%s: %w", namespace, name, err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// Checksum of the data of a Secret; it does not depend on the order of the keys.
func Checksum(data map[string][]byte) string {
	hash := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(data)) {
		// The lengths keep a key's end apart from its value's beginning. A hash never returns an error.
		_, _ = fmt.Fprintf(hash, "%d:%s%d:%s", len(key), key, len(data[key]), data[key])
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// ChangePod changes the pod template of the workload of that name.
type ChangePod func(workload string, pod *corev1.PodTemplateSpec) error

// ChangePods changes the pod template of every workload among the objects.
func ChangePods(objects []*unstructured.Unstructured, change ChangePod) error {
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

func changePod(object *unstructured.Unstructured, content map[string]any, change ChangePod) error {
	pod := &corev1.PodTemplateSpec{}
	// Strict, so that a misspelt field of a manifest is an error and not left out.
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(content, pod, true); err != nil {
		return err
	}
	if err := change(object.GetName(), pod); err != nil {
		return err
	}
	changed, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		return err
	}
	return unstructured.SetNestedMap(object.Object, changed, "spec", "template")
}

// SetChecksum puts the checksum of the cloud configuration on the pod template.
func SetChecksum(pod *corev1.PodTemplateSpec, data map[string][]byte) {
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[ChecksumAnnotation] = Checksum(data)
}

// AddArguments adds arguments to the named container.
func AddArguments(pod *corev1.PodTemplateSpec, container string, arguments ...string) error {
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; c.Name == container {
			c.Args = append(c.Args, arguments...)
			return nil
		}
	}
	return fmt.Errorf("its pods have no container %q", container)
}

// PinImages puts a tag to the image of every container.
func PinImages(pod *corev1.PodTemplateSpec, tags map[string]string) error {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			tag, ok := tags[containers[i].Image]
			if !ok {
				return fmt.Errorf("container %q: the catalogue has no tag for image %s", containers[i].Name, containers[i].Image)
			}
			containers[i].Image += ":" + tag
		}
	}
	return nil
}
