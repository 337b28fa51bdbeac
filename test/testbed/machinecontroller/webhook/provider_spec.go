package webhook

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// providerConfig has the fields of the real one: a field that is not here goes at any write, and one without a value comes.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/sdk/providerconfig/types.go#L156
type providerConfig struct {
	SSHPublicKeys        []string              `json:"sshPublicKeys"`
	CAPublicKey          string                `json:"caPublicKey"`
	CloudProvider        string                `json:"cloudProvider"`
	CloudProviderSpec    runtime.RawExtension  `json:"cloudProviderSpec"`
	OperatingSystem      string                `json:"operatingSystem"`
	OperatingSystemSpec  runtime.RawExtension  `json:"operatingSystemSpec"`
	Network              *runtime.RawExtension `json:"network,omitempty"`
	OverwriteCloudConfig *string               `json:"overwriteCloudConfig,omitempty"`
}

// marshalProviderSpec stores the providerSpec of a MachineDeployment as this webhook marshals it: the template is another one
// then, unless the same webhook has stored it before.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/admission/machinedeployments_validation.go#L140
func marshalProviderSpec(deployment *unstructured.Unstructured) error {
	path := []string{"spec", "template", "spec", "providerSpec", "value"}
	value, found, err := unstructured.NestedMap(deployment.Object, path...)
	if err != nil || !found {
		return err
	}
	config := providerConfig{}
	if err := through(value, &config); err != nil {
		return fmt.Errorf("failed to read MachineDeployment.Spec.Template.Spec.ProviderSpec: %w", err)
	}
	stored := map[string]any{}
	if err := through(config, &stored); err != nil {
		return err
	}
	return unstructured.SetNestedMap(deployment.Object, stored, path...)
}

// through JSON, as the real one does it.
func through(from, into any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
