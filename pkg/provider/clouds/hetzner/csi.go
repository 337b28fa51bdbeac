package hetzner

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	driver = "csi.hetzner.cloud"
	class  = "hcloud-volumes"
)

// csi of Hetzner Cloud. Facts from deploy/kubernetes/hcloud-csi.yml, cmd/ and internal/app of
// https://github.com/hetznercloud/csi-driver, tags v2.20.2 and v2.22.1. The node plugin has no token, and asks the metadata
// service of its server who it is.
func csi(in manifest.RenderInput, release release, minor int, config config) (manifest.Set, error) {
	// A Secret of its own, so that each object is of one set.
	secret, env := config.render("hcloud-csi", csiVariable)
	plugin := manifest.Plugin{
		Container: "hcloud-csi-driver", Image: manifest.ImageOf(csiImage, release.csi),
		Liveness: corev1.Probe{InitialDelaySeconds: 10, TimeoutSeconds: 3, PeriodSeconds: 10, FailureThreshold: 5},
		Env:      []corev1.EnvVar{{Name: "CSI_ENDPOINT", Value: manifest.Endpoint}, {Name: "ENABLE_METRICS", Value: "false"}},
	}
	controller, node := plugin, plugin
	controller.Name, controller.User, controller.Arguments = "hcloud-csi-controller", 65532, []string{"-controller"}
	controller.Mounts = []string{secret.Name}
	// Without a location in its configuration it takes that of its own server, which it finds by name:
	// https://github.com/hetznercloud/csi-driver/blob/v2.22.1/internal/app/app.go#L203-L306
	controller.Env = append(append(plugin.Env[:2:2], manifest.FieldEnv("KUBE_NODE_NAME", "spec.nodeName")), env...)
	node.Name, node.Arguments = "hcloud-csi-node", []string{"-node"}
	return manifest.CSI{
		Provider: Name, Driver: csiDriver(minor), Classes: []*storagev1.StorageClass{storageClass()}, Sidecars: sidecars(),
		Secrets: []manifest.Secret{secret}, Controller: controller, Node: node, NodeAffinity: cloudServers(),
	}.Set(in, release.csi)
}

// cloudServers are all Nodes but dedicated servers: those cannot have volumes, and on them both plugins end at their start.
// The second label is the CCM's; the first one is what people set before it did.
func cloudServers() *corev1.NodeAffinity {
	return &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: "instance.hetzner.cloud/is-root-server", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"true"}},
			{Key: "instance.hetzner.cloud/provided-by", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"robot"}},
		}}},
	}}
}

func csiDriver(minor int) *storagev1.CSIDriver {
	made := &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: driver},
		Spec: storagev1.CSIDriverSpec{
			AttachRequired: new(true), PodInfoOnMount: new(true), FSGroupPolicy: new(storagev1.FileFSGroupPolicy),
			VolumeLifecycleModes: []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent},
		},
	}
	if minor >= 28 {
		// Before, it is unknown, or dropped because its gate is off by default:
		// https://github.com/kubernetes/website/blob/main/content/en/docs/reference/command-line-tools-reference/feature-gates/SELinuxMountReadWriteOncePod.md
		made.Spec.SELinuxMount = new(true)
	}
	return made
}

func storageClass() *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: driver,
		ReclaimPolicy: new(corev1.PersistentVolumeReclaimDelete), AllowVolumeExpansion: new(true),
		VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer),
	}
}

// sidecars are the same in both releases: chart/values.yaml. They run on all minors: where VolumeAttributesClass is not served
// they switch it off (https://github.com/kubernetes-csi/external-provisioner/blob/v6.2.0/CHANGELOG/CHANGELOG-6.0.md), and the
// driver has none, so they need no rule for it.
func sidecars() manifest.Sidecars {
	return manifest.Sidecars{
		Attacher: manifest.Sidecar{Tag: "v4.11.0", Arguments: []string{"--default-fstype=ext4"}},
		Provisioner: manifest.Sidecar{Tag: "v6.2.0", Arguments: []string{
			"--default-fstype=ext4", "--feature-gates=Topology=true", "--strict-topology", "--extra-create-metadata",
		}},
		Resizer:       manifest.Sidecar{Tag: "v2.1.0"},
		LivenessProbe: manifest.Sidecar{Tag: "v2.18.0"}, Registrar: manifest.Sidecar{Tag: "v2.16.0"},
	}
}
