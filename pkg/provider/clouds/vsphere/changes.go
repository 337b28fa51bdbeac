package vsphere

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/gcfg"
)

// ChangedSettings are what the CSI driver takes otherwise: the datastore for volumes of the in-tree plugin by its URL, from
// another key.
// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/csi/service/vanilla/controller.go#L359-L371
func (Profile) ChangedSettings(_ string, data map[string][]byte) []observation.ChangedSetting {
	conf, problem := parse(data)
	if problem != "" || len(conf.VCenter) > 1 || trimmed(data[datastoreKey]) != "" {
		return nil // With several vCenters the driver serves no such volumes.
	}
	entries, _ := gcfg.Read(string(data[configKey]))
	named := slices.ContainsFunc(entries, func(e gcfg.Entry) bool {
		return e.Section == "workspace" && e.Key == "default-datastore" && e.Value != ""
	})
	if !named {
		return nil
	}
	return []observation.ChangedSetting{{
		Name: "[Workspace] default-datastore",
		Effect: "has no effect on the CSI driver: new volumes of in-tree StorageClasses that name neither a datastore nor a storage " +
			"policy go to any shared datastore",
		Remedy: "Give the URL of that datastore as key " + datastoreKey + ".",
	}}
}
