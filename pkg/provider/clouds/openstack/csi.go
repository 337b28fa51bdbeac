package openstack

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	driver = "cinder.csi.openstack.org"
	class  = "openstack-cinder-csi"
	// inTreePlugin is the volume plugin of the in-tree provider.
	inTreePlugin = "kubernetes.io/cinder"
)

// csi of OpenStack: Cinder. Facts from manifests/cinder-csi-plugin of
// https://github.com/kubernetes/cloud-provider-openstack, tags v1.24.6 to v1.36.0.
func csi(in manifest.RenderInput, conf config, release release, minor int) (manifest.Set, error) {
	// A Secret of its own, so that each object is of one set.
	secret := manifest.Secret{
		Name: "openstack-cinder-csi-cloud-config", Data: conf.volumes(minor).mounted(in.CloudConfig), MountPath: configDir,
	}
	plugin := manifest.Plugin{
		Container: "cinder-csi-plugin", Command: []string{"/bin/cinder-csi-plugin"}, Mounts: []string{secret.Name},
		Image: manifest.ImageOf("registry.k8s.io/provider-os/cinder-csi-plugin", release.tag),
	}
	common := []string{"--endpoint=" + manifest.Endpoint, "--cloud-config=" + configDir + "/" + configKey, "--v=1"}
	controller, node := plugin, plugin
	controller.Name, controller.User = "openstack-cinder-csi-controller", 65532
	controller.Arguments = append(common[:3:3], "--cluster="+manifest.Literal(volumeOwner(in)))
	controller.Liveness = corev1.Probe{InitialDelaySeconds: 10, TimeoutSeconds: 10, PeriodSeconds: 60, FailureThreshold: 5}
	node.Name = "openstack-cinder-csi-node"
	node.Arguments = common
	if minor >= 32 {
		// From 1.32 on the node service needs no client of the cloud, and every Node one login less:
		// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.32.1/manifests/cinder-csi-plugin/cinder-csi-nodeplugin.yaml
		node.Arguments = append(common[:3:3], "--provide-controller-service=false")
	}
	node.Liveness = corev1.Probe{InitialDelaySeconds: 10, TimeoutSeconds: 3, PeriodSeconds: 10, FailureThreshold: 5}
	node.Rules = []rbacv1.PolicyRule{manifest.Rule("", "events", "get", "list", "watch", "create", "update", "patch")}
	return manifest.CSI{
		Provider: Name, Driver: csiDriver(), Classes: []*storagev1.StorageClass{storageClass()},
		Sidecars: sidecars(release, minor), Secrets: []manifest.Secret{secret}, Controller: controller, Node: node,
	}.Set(in, release.tag)
}

func csiDriver() *storagev1.CSIDriver {
	return &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: driver},
		Spec: storagev1.CSIDriverSpec{
			AttachRequired: new(true), PodInfoOnMount: new(true),
			VolumeLifecycleModes: []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral},
		},
	}
}

func storageClass() *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: driver,
		ReclaimPolicy: new(corev1.PersistentVolumeReclaimDelete), AllowVolumeExpansion: new(true),
		VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer),
	}
}

func sidecars(release release, minor int) manifest.Sidecars {
	made := manifest.Sidecars{
		Attacher: manifest.Sidecar{Tag: release.attacher},
		Provisioner: manifest.Sidecar{
			Tag:       release.provisioner,
			Arguments: []string{"--default-fstype=ext4", "--feature-gates=Topology=true", "--extra-create-metadata"},
		},
		Resizer:       manifest.Sidecar{Tag: release.resizer, Arguments: []string{"--handle-volume-inuse-error=false"}},
		Snapshotter:   manifest.Sidecar{Tag: release.snapshotter, Arguments: []string{"--extra-create-metadata"}},
		LivenessProbe: manifest.Sidecar{Tag: release.livenessprobe},
		Registrar:     manifest.Sidecar{Tag: release.registrar},
	}
	if minor >= 26 {
		// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.26.4/manifests/cinder-csi-plugin/cinder-csi-controllerplugin.yaml
		made.Attacher.Arguments = []string{"--default-fstype=ext4"}
	}
	return made
}

// volumeOwner goes into the metadata of new volumes and is read by people only. The cluster name is mostly "kubernetes", in
// every cluster of a project, so the UID stands there where there is one:
// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/csi/cinder/controllerserver.go#L131
func volumeOwner(in manifest.RenderInput) string {
	if in.ClusterUID != "" {
		return in.ClusterUID
	}
	return in.Inherited.ClusterName
}
