package gcp

import "github.com/ccm-migration/ccm-migration-controller/pkg/observation"

// ChangedSettings are what the CSI driver does not read from the file: it has a flag for the endpoint.
// https://github.com/kubernetes-sigs/gcp-compute-persistent-disk-csi-driver/blob/v1.22.1/cmd/gce-pd-csi-driver/main.go
func (Profile) ChangedSettings(_ string, data map[string][]byte) []observation.ChangedSetting {
	config, problem := read(data)
	if problem != "" || config.global.first("api-endpoint") == "" {
		return nil
	}
	return []observation.ChangedSetting{{
		Name:   "[global] api-endpoint",
		Effect: "has no effect on the CSI driver, which asks Google's own endpoint",
		Remedy: "Give the driver --compute-endpoint by extraArguments of a ProviderProfile.",
	}}
}
