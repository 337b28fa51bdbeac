package vsphere

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// group of the driver's own resources.
const group = "cns.vmware.com"

// controllerRules are those of driver and syncer beyond the sidecars'. Facts from
// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/manifests/vanilla/vsphere-csi-driver.yaml, whose rules for
// ConfigMaps of all namespaces are not needed: it reads its own.
func controllerRules() []rbacv1.PolicyRule {
	const definitions = "customresourcedefinitions"
	// The driver makes and updates its CustomResourceDefinitions itself, when it starts. Making cannot be allowed by name.
	own := manifest.Rule("apiextensions.k8s.io", definitions, "get", "update")
	for _, plural := range []string{
		"cnsvolumeinfoes", "cnsvolumeoperationrequests", "cnsvspherevolumemigrations", "csinodetopologies", "triggercsifullsyncs",
	} {
		own.ResourceNames = append(own.ResourceNames, plural+"."+group)
	}
	return []rbacv1.PolicyRule{
		manifest.Rule("", "nodes", "get", "list", "watch"),
		manifest.Rule("", "pods", "get", "list", "watch"),
		manifest.Rule("", "persistentvolumes", "get", "list", "watch", "update", "patch"),
		manifest.Rule("", "persistentvolumeclaims", "get", "list", "watch", "update"),
		manifest.Rule("", "persistentvolumeclaims/status", "patch"),
		manifest.Rule("", "events", "get", "list", "watch", "create", "update", "patch"),
		manifest.Rule("storage.k8s.io", "storageclasses", "get", "list", "watch"),
		manifest.Rule("storage.k8s.io", "csinodes", "get", "list", "watch"),
		manifest.Rule("storage.k8s.io", "volumeattachments", "get", "list", "watch"),
		own,
		manifest.Rule("apiextensions.k8s.io", definitions, "create"),
		manifest.Rule(group, "cnsvspherevolumemigrations", "get", "list", "watch", "create", "update", "delete"),
		manifest.Rule(group, "cnsvolumeoperationrequests", "get", "list", "create", "update", "delete"),
		manifest.Rule(group, "cnsvolumeinfoes", "get", "list", "watch", "create", "delete"),
		manifest.Rule(group, "csinodetopologies", "get", "list", "watch", "update"),
		manifest.Rule(group, "triggercsifullsyncs", "get", "list", "watch", "create", "update"),
	}
}

func sidecars(release release, conf configuration) manifest.Sidecars {
	// What vCenter does takes its time, and a Node that is drained has many volumes.
	busy := []string{"--kube-api-qps=100", "--kube-api-burst=100"}
	made := manifest.Sidecars{
		Timeout:       "300s",
		Attacher:      manifest.Sidecar{Tag: release.attacher, Arguments: busy},
		Provisioner:   manifest.Sidecar{Tag: release.provisioner, Arguments: append(busy[:2:2], "--default-fstype=ext4")},
		Resizer:       manifest.Sidecar{Tag: release.resizer, Arguments: append(busy[:2:2], "--handle-volume-inuse-error=false")},
		Snapshotter:   manifest.Sidecar{Tag: release.snapshotter, Arguments: busy},
		LivenessProbe: manifest.Sidecar{Tag: release.livenessprobe}, Registrar: manifest.Sidecar{Tag: release.registrar},
	}
	if release.csiMinor >= 4 {
		made.Attacher.Arguments = append(busy[:2:2], "--worker-threads=100")
	}
	if release.csiMinor >= 6 {
		made.Snapshotter.Arguments = append(busy[:2:2], "--extra-create-metadata")
	}
	if conf.Labels.Zone != "" {
		made.Provisioner.Arguments = append(made.Provisioner.Arguments, "--feature-gates=Topology=true", "--strict-topology")
	}
	return made
}
