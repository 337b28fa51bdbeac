package credentials

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/ccm-migration/ccm-migration-controller/config"
)

// user is who the manager is in a user cluster: the subject of the bindings in config/usercluster-rbac, and the name of the
// ServiceAccount where a token is asked for.
const user = "ccm-migration-controller"

// bootstrapNamespace has what new machines boot with, as the operating-system-manager writes it.
const bootstrapNamespace = "cloud-init-settings"

// rights of the manager in a user cluster of a provider.
func rights(provider string, bootstrap bool) ([]*unstructured.Unstructured, error) {
	files := []string{
		"usercluster-rbac/cluster_role.yaml", "usercluster-rbac/cluster_role_binding.yaml", "usercluster-rbac/role.yaml",
		"usercluster-rbac/role_binding.yaml", "usercluster-rbac/provider_" + provider + ".yaml",
	}
	if bootstrap {
		files = append(files, "usercluster-rbac-bootstrap/role.yaml", "usercluster-rbac-bootstrap/role_binding.yaml")
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		text, err := fs.ReadFile(config.UserCluster(), file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there are no rights for provider %q; 'ccm-migration-controller versions' lists those that there are",
				provider)
		}
		if err != nil {
			return nil, err
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), len(text))
		for {
			object := &unstructured.Unstructured{}
			if err := decoder.Decode(object); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			objects = append(objects, object)
		}
	}
	return objects, nil
}

// forServiceAccount binds the rights to the ServiceAccount, which is made, too.
func forServiceAccount(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	account := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": rbacv1.ServiceAccountKind}}
	account.SetNamespace(metav1.NamespaceSystem)
	account.SetName(user)
	for _, object := range objects {
		if _, binds := object.Object["subjects"]; binds {
			object.Object["subjects"] = []any{map[string]any{
				"kind": rbacv1.ServiceAccountKind, "name": user, "namespace": metav1.NamespaceSystem,
			}}
		}
	}
	return append([]*unstructured.Unstructured{account}, objects...)
}
