package controlplane

import (
	"encoding/json"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// fieldTree is one level of a FieldsV1 document.
type fieldTree map[string]json.RawMessage

// owned says which of a container's two fields a manager owns.
type owned struct {
	command, args bool
}

// ownedFields are the containers of the pod template whose command or args the entry owns. An entry that cannot be
// read owns nothing.
func ownedFields(entry metav1.ManagedFieldsEntry) map[string]owned {
	if entry.FieldsV1 == nil {
		return nil
	}
	raw := json.RawMessage(entry.FieldsV1.GetRawBytes())
	for _, step := range []string{"f:spec", "f:template", "f:spec", "f:containers"} {
		raw = descend(raw)[step]
	}
	containers := map[string]owned{}
	for key, fields := range descend(raw) {
		name := struct {
			Name string `json:"name"`
		}{}
		text, isKey := strings.CutPrefix(key, "k:")
		if !isKey || json.Unmarshal([]byte(text), &name) != nil {
			continue
		}
		tree := descend(fields)
		_, command := tree["f:command"]
		_, args := tree["f:args"]
		if command || args {
			containers[name.Name] = owned{command: command, args: args}
		}
	}
	return containers
}

func descend(raw json.RawMessage) fieldTree {
	tree := fieldTree{}
	if len(raw) == 0 || json.Unmarshal(raw, &tree) != nil {
		return nil
	}
	return tree
}

// appliedByUs are the fields that we applied before: an apply that leaves one of them out deletes it.
func appliedByUs(deployment *appsv1.Deployment) map[string]owned {
	for _, entry := range deployment.ManagedFields {
		if entry.Manager == ucv1.FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" {
			return ownedFields(entry)
		}
	}
	return nil
}
