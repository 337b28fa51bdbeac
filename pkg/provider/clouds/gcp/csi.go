package gcp

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	driver = "pd.csi.storage.gke.io"
	class  = "gce-pd-csi"
	// storageDir is where the driver's Secret is.
	storageDir = "/etc/cloud-sa"
	// storageKey is the driver's own configuration in it.
	storageKey = "pd.conf"
)

// csi of Google Cloud: persistent disks. Facts from cmd/gce-pd-csi-driver and deploy/kubernetes/base of
// https://github.com/kubernetes-sigs/gcp-compute-persistent-disk-csi-driver, tags v1.17.15 and v1.22.1.
func csi(in manifest.RenderInput, release storage, minor int, config cloudConfig) (manifest.Set, error) {
	secret := manifest.Secret{Name: "gce-pd-csi-cloud-config", MountPath: storageDir, Data: map[string][]byte{
		storageKey: config.global.disks().render(), credentialsKey: config.credentials,
	}}
	plugin := manifest.Plugin{
		Container: "gce-pd-driver", Image: manifest.ImageOf(images+"gcp-compute-persistent-disk-csi-driver", release.driver),
		// Not the image's own: that script writes to /etc/lvm for the data cache, which is off.
		Command: []string{"/gce-pd-csi-driver"},
	}
	return manifest.CSI{
		Provider: Name, Driver: csiDriver(), Classes: []*storagev1.StorageClass{storageClass()},
		Sidecars: sidecars(release), Secrets: []manifest.Secret{secret},
		Controller: controller(plugin, secret, minor), Node: node(plugin),
	}.Set(in, release.driver)
}

// controller asks no metadata server: everything is in its configuration, so it needs no network of its Node.
func controller(plugin manifest.Plugin, secret manifest.Secret, minor int) manifest.Plugin {
	plugin.Name, plugin.User = "gce-pd-csi-controller", 65532
	plugin.Arguments = []string{
		"--endpoint=" + manifest.Endpoint, "--cloud-config=" + storageDir + "/" + storageKey,
		// Without it the node service looks for the metadata server here too.
		"--run-node-service=false",
		"--supports-dynamic-iops-provisioning=hyperdisk-balanced,hyperdisk-extreme",
		"--supports-dynamic-throughput-provisioning=hyperdisk-balanced,hyperdisk-throughput,hyperdisk-ml",
		"--v=2",
	}
	plugin.Env, plugin.Mounts = []corev1.EnvVar{credentialsEnv(storageDir)}, []string{secret.Name}
	if minor >= 34 {
		// Provisioner v6 and resizer v2 wait for this cache wherever the API server has it:
		// https://github.com/kubernetes-csi/external-resizer/blob/v2.0.0/deploy/kubernetes/rbac.yaml
		plugin.Rules = []rbacv1.PolicyRule{manifest.Rule("storage.k8s.io", "volumeattributesclasses", "get", "list", "watch")}
	}
	plugin.Liveness = corev1.Probe{InitialDelaySeconds: 10, TimeoutSeconds: 10, PeriodSeconds: 60, FailureThreshold: 5}
	return plugin
}

// node needs the metadata server, on the Node's network, and no credentials.
func node(plugin manifest.Plugin) manifest.Plugin {
	plugin.Name = "gce-pd-csi-node"
	plugin.Arguments = []string{
		"--endpoint=" + manifest.Endpoint, "--run-controller-service=false", "--node-name=$(KUBE_NODE_NAME)", "--v=2",
	}
	plugin.Env = []corev1.EnvVar{manifest.FieldEnv("KUBE_NODE_NAME", "spec.nodeName")}
	// It reads its own Node: a label may lower the number of volumes, and its volumes in use fill the cache of devices.
	// https://github.com/kubernetes-sigs/gcp-compute-persistent-disk-csi-driver/blob/v1.22.1/pkg/k8sclient/node.go
	plugin.Rules = []rbacv1.PolicyRule{manifest.Rule("", "nodes", "get")}
	// It has the Node's udev make links to new disks.
	plugin.HostPaths = []manifest.HostPath{
		{Name: "udev-rules-etc", Path: "/etc/udev", Type: corev1.HostPathDirectory},
		{Name: "udev-rules-lib", Path: "/lib/udev", Type: corev1.HostPathDirectory},
		{Name: "udev-socket", Path: "/run/udev", Type: corev1.HostPathDirectory},
		{Name: "sys", Path: "/sys", Type: corev1.HostPathDirectory},
	}
	plugin.Liveness = corev1.Probe{InitialDelaySeconds: 10, TimeoutSeconds: 3, PeriodSeconds: 10, FailureThreshold: 5}
	// Next to the ports that upstream's manifests use; the default one is left to other drivers, such as that of Filestore.
	plugin.HealthPort = 22015
	return plugin
}

func csiDriver() *storagev1.CSIDriver {
	return &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: driver},
		Spec:       storagev1.CSIDriverSpec{AttachRequired: new(true), PodInfoOnMount: new(false)},
	}
}

func storageClass() *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: driver, Parameters: map[string]string{"type": "pd-balanced"},
		ReclaimPolicy: new(corev1.PersistentVolumeReclaimDelete), AllowVolumeExpansion: new(true),
		VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer),
	}
}

// sidecars have upstream's arguments but for the gate VolumeAttributesClass of v1.17.15: the API that it asks for is not
// served by default before 1.34.
func sidecars(release storage) manifest.Sidecars {
	return manifest.Sidecars{
		Timeout:  "250s",
		Attacher: manifest.Sidecar{Tag: release.attacher},
		Provisioner: manifest.Sidecar{Tag: release.provisioner, Arguments: []string{
			"--feature-gates=Topology=true", "--extra-create-metadata", "--default-fstype=ext4", "--controller-publish-readonly=true",
		}},
		Resizer:       manifest.Sidecar{Tag: release.resizer, Arguments: []string{"--handle-volume-inuse-error=false"}},
		Snapshotter:   manifest.Sidecar{Tag: release.snapshotter, Timeout: "300s"},
		LivenessProbe: manifest.Sidecar{Tag: release.livenessprobe}, Registrar: manifest.Sidecar{Tag: release.registrar},
	}
}
