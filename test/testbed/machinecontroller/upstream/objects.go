package upstream

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// ClusterInfo is where both look for the address of the API server that kubelets get. Neither is healthy without it.
func ClusterInfo(kubeconfig []byte) client.Object {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespacePublic, Name: "cluster-info"},
		Data:       map[string]string{"kubeconfig": string(kubeconfig)},
	}
}

// Webhooks are called at an address that stays; the stand-in registers its own.
func Webhooks(url string, bundle []byte) *admissionregistrationv1.MutatingWebhookConfiguration {
	const name = "machine-controller.kubermatic.io"
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, resource := range []string{"machines", "machinedeployments"} {
		group := machines.GroupVersion()
		configuration.Webhooks = append(configuration.Webhooks, admissionregistrationv1.MutatingWebhook{
			Name:                    resource + "." + name,
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: new(url + "/" + resource), CABundle: bundle},
			FailurePolicy:           new(admissionregistrationv1.Fail),
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{group.Group}, APIVersions: []string{group.Version}, Resources: []string{resource},
				},
			}},
		})
	}
	return configuration
}

// OperatingSystemManager are its definitions and the profile, which hack/machine-controller.sh left in a folder, and the token
// that machines fetch their Secret with.
func OperatingSystemManager(folder, profile string) ([]client.Object, error) {
	const getter = "cloud-init-getter"
	objects := []client.Object{
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: machines.BootstrapNamespace, Name: getter}},
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: machines.BootstrapNamespace, Name: getter + "-token",
				Annotations: map[string]string{corev1.ServiceAccountNameKey: getter},
			},
			Type: corev1.SecretTypeServiceAccountToken,
		},
	}
	paths, err := fs.Glob(os.DirFS(folder), "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("look for manifests of the operating-system-manager: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("folder %s has no manifests: run hack/machine-controller.sh again", folder)
	}
	// By name, definitions come before the profile.
	for _, path := range slices.Sorted(slices.Values(paths)) {
		content, err := os.ReadFile(filepath.Join(folder, path))
		if err != nil {
			return nil, fmt.Errorf("read a manifest of the operating-system-manager: %w", err)
		}
		for document := range bytes.SplitSeq(content, []byte("\n---\n")) {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(document, &object.Object); err != nil {
				return nil, fmt.Errorf("read %s: %w", path, err)
			}
			if object.GetKind() == "OperatingSystemProfile" {
				object.SetName(profile)
			}
			objects = append(objects, object)
		}
	}
	return objects, nil
}
