package kubelet

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// sources reads what a Pod's environment and volumes refer to.
type sources struct {
	client     kubernetes.Interface
	pod        *corev1.Pod
	ip, hostIP string
}

// secret returns a Secret's data; an absent optional one is empty.
func (s sources) secret(ctx context.Context, name string, optional *bool) (map[string][]byte, error) {
	secret, err := s.client.CoreV1().Secrets(s.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && ptr.Deref(optional, false) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read secret %s: %w", name, err)
	}
	return secret.Data, nil
}

// configMap returns a ConfigMap's data; an absent optional one is empty.
func (s sources) configMap(ctx context.Context, name string, optional *bool) (map[string][]byte, error) {
	found, err := s.client.CoreV1().ConfigMaps(s.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && ptr.Deref(optional, false) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read config map %s: %w", name, err)
	}
	data := maps.Clone(found.BinaryData)
	if data == nil {
		data = map[string][]byte{}
	}
	for key, value := range found.Data {
		data[key] = []byte(value)
	}
	return data, nil
}

// token asks for a token of the Pod's service account that is bound to the Pod.
func (s sources) token(ctx context.Context, projection *corev1.ServiceAccountTokenProjection) ([]byte, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: projection.ExpirationSeconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: s.pod.Name, UID: s.pod.UID},
	}}
	if projection.Audience != "" {
		request.Spec.Audiences = []string{projection.Audience}
	}
	account := s.pod.Spec.ServiceAccountName
	answer, err := s.client.CoreV1().ServiceAccounts(s.pod.Namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("token of service account %s: %w", account, err)
	}
	return []byte(answer.Status.Token), nil
}

// field is the value of a downward API field.
func (s sources) field(path string) (string, error) {
	fixed := map[string]string{
		"metadata.name":           s.pod.Name,
		"metadata.namespace":      s.pod.Namespace,
		"metadata.uid":            string(s.pod.UID),
		"spec.nodeName":           s.pod.Spec.NodeName,
		"spec.serviceAccountName": s.pod.Spec.ServiceAccountName,
		"status.podIP":            s.ip,
		"status.podIPs":           s.ip,
		"status.hostIP":           s.hostIP,
		"status.hostIPs":          s.hostIP,
		"metadata.labels":         pairs(s.pod.Labels),
		"metadata.annotations":    pairs(s.pod.Annotations),
	}
	if value, ok := fixed[path]; ok {
		return value, nil
	}
	for prefix, from := range map[string]map[string]string{
		"metadata.labels['": s.pod.Labels, "metadata.annotations['": s.pod.Annotations,
	} {
		if key, ok := strings.CutPrefix(path, prefix); ok {
			return from[strings.TrimSuffix(key, "']")], nil
		}
	}
	return "", fmt.Errorf("field %s is not supported", path)
}

// pairs renders labels as the downward API does in files.
func pairs(from map[string]string) string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(from)) {
		lines = append(lines, fmt.Sprintf("%s=%q", key, from[key]))
	}
	return strings.Join(lines, "\n")
}

// env resolves the environment of a container to plain values; base comes first.
func (s sources) env(ctx context.Context, container *corev1.Container, base []corev1.EnvVar) ([]corev1.EnvVar, error) {
	resolved := slices.Clone(base)
	for _, from := range container.EnvFrom {
		variables, err := s.envFrom(ctx, from)
		if err != nil {
			return nil, fmt.Errorf("environment of container %s: %w", container.Name, err)
		}
		resolved = append(resolved, variables...)
	}
	values := map[string]string{}
	for _, variable := range resolved {
		values[variable.Name] = variable.Value
	}
	for _, variable := range container.Env {
		value, present, err := s.value(ctx, variable, values)
		if err != nil {
			return nil, fmt.Errorf("variable %s of container %s: %w", variable.Name, container.Name, err)
		}
		if present {
			values[variable.Name] = value
			resolved = append(resolved, corev1.EnvVar{Name: variable.Name, Value: value})
		}
	}
	return resolved, nil
}

func (s sources) envFrom(ctx context.Context, from corev1.EnvFromSource) ([]corev1.EnvVar, error) {
	var data map[string][]byte
	var err error
	switch {
	case from.SecretRef != nil:
		data, err = s.secret(ctx, from.SecretRef.Name, from.SecretRef.Optional)
	case from.ConfigMapRef != nil:
		data, err = s.configMap(ctx, from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
	}
	if err != nil {
		return nil, err
	}
	var variables []corev1.EnvVar
	for _, key := range slices.Sorted(maps.Keys(data)) {
		variables = append(variables, corev1.EnvVar{Name: from.Prefix + key, Value: string(data[key])})
	}
	return variables, nil
}

// value resolves one variable; an optional one may be absent.
func (s sources) value(
	ctx context.Context,
	variable corev1.EnvVar,
	known map[string]string,
) (value string, present bool, err error) {
	from := variable.ValueFrom
	switch {
	case from == nil:
		return expand(variable.Value, known), true, nil
	case from.FieldRef != nil:
		value, err = s.field(from.FieldRef.FieldPath)
		return value, true, err
	case from.SecretKeyRef != nil:
		data, err := s.secret(ctx, from.SecretKeyRef.Name, from.SecretKeyRef.Optional)
		return pick(data, from.SecretKeyRef.Key, from.SecretKeyRef.Optional, err)
	case from.ConfigMapKeyRef != nil:
		data, err := s.configMap(ctx, from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Optional)
		return pick(data, from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Optional, err)
	}
	return "", false, fmt.Errorf("its source is not supported")
}

func pick(data map[string][]byte, key string, optional *bool, err error) (string, bool, error) {
	if err != nil {
		return "", false, err
	}
	value, ok := data[key]
	if !ok && !ptr.Deref(optional, false) {
		return "", false, fmt.Errorf("key %s is missing", key)
	}
	return string(value), ok, nil
}
