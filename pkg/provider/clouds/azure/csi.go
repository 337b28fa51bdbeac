package azure

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	diskDriver = "disk.csi.azure.com"
	diskClass  = "azure-disk-csi"
	fileDriver = "file.csi.azure.com"
)

// csi of Azure: both drivers in one set.
func csi(in manifest.RenderInput, settings config, release release) (manifest.Set, error) {
	// A Secret for each reader, so that each object is of one set and a Node gets no credentials that it does not need.
	files := settings.files(secretKey, in.CloudConfig)
	disk, err := disk(files, settings, release.disk).Set(in, release.disk.tag)
	if err != nil {
		return manifest.Set{}, err
	}
	file, err := file(files, release.file).Set(in, release.file.tag)
	if err != nil {
		return manifest.Set{}, err
	}
	return manifest.SetOf(Name+"-csi", drivers(release), append(disk.Objects, file.Objects...)), nil
}

func drivers(release release) string {
	return fmt.Sprintf("disk %s, file %s", release.disk.tag, release.file.tag)
}

// disk is Azure Disk. Facts from deploy, pkg/azuredisk and pkg/azureutils of
// https://github.com/kubernetes-sigs/azuredisk-csi-driver, tags v1.29.12 to v1.34.5.
func disk(files map[string][]byte, settings config, release driverRelease) manifest.CSI {
	secrets := []manifest.Secret{
		{Name: "azure-disk-csi-cloud-config", Data: files, MountPath: configDir},
		// It has no credentials: zone and size of a Node are known to its metadata service.
		{Name: "azure-disk-csi-node-config", Data: map[string][]byte{secretKey: settings.ofNode().render()}, MountPath: configDir},
	}
	controller := plugin("azuredisk", release)
	node := onNode(controller, "azure-disk-csi-node", 29603)
	controller.Name, controller.Mounts = "azure-disk-csi-controller", []string{secrets[0].Name}
	controller.Arguments = append(common(), "--allow-empty-cloud-config=false")
	controller.Rules = provisionerRules(release)
	node.Mounts = []string{secrets[1].Name}
	if release.tag != "v1.29.12" {
		// It would take a taint away that no one sets here, and need to patch all Nodes for that. 1.29 does not know the flag.
		node.Arguments = append(node.Arguments, "--remove-not-ready-taint=false")
	}
	// The labels of its Node, where the metadata service does not answer.
	node.Rules = []rbacv1.PolicyRule{manifest.Rule("", "nodes", "get")}
	node.HostPaths = []manifest.HostPath{
		{Name: "scsi-devices", Path: "/sys/bus/scsi/devices", Type: corev1.HostPathDirectory},
		{Name: "device-classes", Path: "/sys/class", Type: corev1.HostPathDirectory},
	}
	sidecars := sidecars(release)
	sidecars.Snapshotter.Timeout = "20m"
	// One attachment changes the whole machine, and so waits for others of the same Node.
	// All Nodes of a cluster that is drained do so at once:
	// https://github.com/kubernetes-sigs/azuredisk-csi-driver/blob/v1.34.5/deploy/csi-azuredisk-controller.yaml
	sidecars.Attacher = manifest.Sidecar{Tag: release.attacher, Timeout: "20m", Arguments: []string{
		"--worker-threads=1000", "--kube-api-qps=200", "--kube-api-burst=400",
	}}
	sidecars.Provisioner.Arguments = append(sidecars.Provisioner.Arguments,
		"--feature-gates=Topology=true", "--strict-topology=true", "--kube-api-qps=50", "--kube-api-burst=100")
	return manifest.CSI{
		Provider:   Name,
		Sidecars:   sidecars,
		Secrets:    secrets,
		Controller: controller,
		Node:       node,
		Driver: &storagev1.CSIDriver{
			ObjectMeta: metav1.ObjectMeta{Name: diskDriver},
			Spec: storagev1.CSIDriverSpec{
				AttachRequired: new(true), PodInfoOnMount: new(false), FSGroupPolicy: new(storagev1.FileFSGroupPolicy),
			},
		},
		Classes: []*storagev1.StorageClass{
			storageClass(diskClass, diskDriver, "StandardSSD_LRS", storagev1.VolumeBindingWaitForFirstConsumer),
		},
	}
}

// file is Azure File. Facts from deploy and pkg/azurefile of https://github.com/kubernetes-sigs/azurefile-csi-driver, tags
// v1.30.9 to v1.35.7.
func file(files map[string][]byte, release driverRelease) manifest.CSI {
	// The Nodes get the credentials, too: in clouds other than the public one the names of the servers come from there, and so do
	// keys that no Secret has. They could read them anyway, see the rule below.
	secret := manifest.Secret{Name: "azure-file-csi-cloud-config", Data: files, MountPath: configDir}
	controller := plugin("azurefile", release)
	controller.Mounts = []string{secret.Name}
	node := onNode(controller, "azure-file-csi-node", 29613)
	controller.Name = "azure-file-csi-controller"
	controller.Arguments = append(common(), "--allow-empty-cloud-config=false")
	// It keeps the key of a storage account in a Secret beside the PersistentVolumeClaim, in whatever Namespace that is, as the
	// in-tree plugin did. The parameter storeAccountKey of a StorageClass, with the value false, avoids it.
	controller.Rules = append([]rbacv1.PolicyRule{manifest.Rule("", "secrets", "get", "create")}, provisionerRules(release)...)
	// The same keys, to mount with them: the names of the Secrets and their Namespaces are not known beforehand.
	node.Rules = []rbacv1.PolicyRule{manifest.Rule("", "secrets", "get")}
	sidecars := sidecars(release)
	// Making a storage account takes minutes.
	sidecars.Provisioner.Timeout = "20m"
	class := storageClass("azure-file-csi", fileDriver, "Standard_LRS", storagev1.VolumeBindingImmediate)
	class.MountOptions = []string{
		"dir_mode=0777",
		"file_mode=0777",
		"mfsymlinks",
		"cache=strict",
		"nosharesock",
		"actimeo=30",
		"nobrl",
	}
	return manifest.CSI{
		Provider:           Name,
		Sidecars:           sidecars,
		Secrets:            []manifest.Secret{secret},
		Controller:         controller,
		Node:               node,
		SnapshotsElsewhere: true,
		Driver: &storagev1.CSIDriver{
			ObjectMeta: metav1.ObjectMeta{Name: fileDriver},
			Spec: storagev1.CSIDriverSpec{
				AttachRequired: new(false),
				PodInfoOnMount: new(true),
				FSGroupPolicy:  new(storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy),
				VolumeLifecycleModes: []storagev1.VolumeLifecycleMode{
					storagev1.VolumeLifecyclePersistent,
					storagev1.VolumeLifecycleEphemeral,
				},
			},
		},
		Classes: []*storagev1.StorageClass{class},
	}
}

func plugin(name string, release driverRelease) manifest.Plugin {
	return manifest.Plugin{
		Container: name, Image: manifest.ImageOf(release.registry+"kubernetes-csi/"+name+"-csi", release.tag), User: 65532,
		Env:      []corev1.EnvVar{{Name: "AZURE_CREDENTIAL_FILE", Value: configDir + "/" + secretKey}},
		Liveness: corev1.Probe{InitialDelaySeconds: 30, TimeoutSeconds: 10, PeriodSeconds: 30, FailureThreshold: 5},
	}
}

// onNode is the plugin as it runs on every Node.
func onNode(plugin manifest.Plugin, name string, healthPort int32) manifest.Plugin {
	plugin.Name, plugin.HealthPort = name, healthPort
	plugin.Arguments = append(common(), "--nodeid=$(NODE_NAME)")
	// The metadata service of a scale set calls the machine by another name than its Node has, so the driver takes this one:
	// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.36.5/pkg/provider/azure_instances_v1.go#L271-L291
	plugin.Env = append(plugin.Env[:1:1], manifest.FieldEnv("NODE_NAME", "spec.nodeName"))
	return plugin
}

// common arguments of all plugins. Without a name for the Secret they read their file; the default is the Secret of the
// in-tree provider, which may still be there:
// https://github.com/kubernetes-sigs/azuredisk-csi-driver/blob/v1.34.5/pkg/azureutils/azure_disk_utils.go#L150-L200
func common() []string {
	return []string{"--endpoint=" + manifest.Endpoint, "--cloud-config-secret-name=", "--v=2"}
}

// provisionerRules are what newer sidecars need. The provisioner from 6 and the resizer from 2 on, which come together, read
// VolumeAttributesClasses where the API server has them, and the driver can change a volume, as Azure File does from 1.35 on; the
// rules of its own deployment lack it:
// https://github.com/kubernetes-csi/external-resizer/blob/v2.2.0/cmd/csi-resizer/main.go#L139-L151
// https://github.com/kubernetes-sigs/azurefile-csi-driver/blob/v1.35.7/pkg/azurefile/azurefile.go#L484
// The provisioner from 6.2 on keeps a snapshot by a finalizer while a volume is made of it:
// https://github.com/kubernetes-csi/external-provisioner/blob/v6.2.0/deploy/kubernetes/rbac.yaml
func provisionerRules(release driverRelease) []rbacv1.PolicyRule {
	provisioner := version.MustParseSemantic(release.provisioner)
	var rules []rbacv1.PolicyRule
	if provisioner.Major() >= 6 {
		rules = append(rules, manifest.Rule(storagev1.GroupName, "volumeattributesclasses", "get", "list", "watch"))
	}
	if provisioner.AtLeast(version.MustParseSemantic("6.2.0")) {
		rules = append(rules, manifest.Rule("snapshot.storage.k8s.io", "volumesnapshots", "watch", "update"))
	}
	return rules
}

func sidecars(release driverRelease) manifest.Sidecars {
	return manifest.Sidecars{
		Provisioner:   manifest.Sidecar{Tag: release.provisioner, Arguments: []string{"--extra-create-metadata"}},
		Resizer:       manifest.Sidecar{Tag: release.resizer, Arguments: []string{"--handle-volume-inuse-error=false"}, Timeout: "4m"},
		Snapshotter:   manifest.Sidecar{Tag: release.snapshotter},
		LivenessProbe: manifest.Sidecar{Tag: release.livenessprobe}, Registrar: manifest.Sidecar{Tag: release.registrar},
	}
}

func storageClass(name, driver, sku string, binding storagev1.VolumeBindingMode) *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: driver, Parameters: map[string]string{"skuName": sku},
		ReclaimPolicy: new(corev1.PersistentVolumeReclaimDelete), AllowVolumeExpansion: new(true), VolumeBindingMode: &binding,
	}
}
