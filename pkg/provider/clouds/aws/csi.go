package aws

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	driver       = "ebs.csi.aws.com"
	class        = "aws-ebs-csi"
	storageGroup = "storage.k8s.io"
)

// csi of AWS: EBS. Facts from deploy/kubernetes/base of https://github.com/kubernetes-sigs/aws-ebs-csi-driver, tags v1.52.1 and
// v1.63.1.
func csi(in manifest.RenderInput, conf config, minor int) (manifest.Set, error) {
	release := driverOf(minor)
	made := manifest.CSI{
		Provider: Name, Driver: csiDriver(), Classes: []*storagev1.StorageClass{storageClass()},
		Sidecars: sidecars(release), Controller: controller(conf, minor), Node: node(),
	}
	image := manifest.ImageOf("registry.k8s.io/provider-aws/aws-ebs-csi-driver", release.tag)
	made.Controller.Image, made.Node.Image = image, image
	keys, given := keysOf(in.CloudConfig)
	if role := conf.global("RoleARN"); given || role != "" {
		// The driver reads no cloud.conf, so the role that the in-tree plugin worked with stands in the file for the SDK. The
		// Nodes get nothing of it: the node plugin asks nothing of EC2.
		const folder = "/etc/aws"
		secret := manifest.Secret{
			Name: "ebs-csi-credentials", MountPath: folder, Data: map[string][]byte{credentialsFile: credentials(keys, role)},
		}
		made.Secrets, made.Controller.Mounts = []manifest.Secret{secret}, []string{secret.Name}
		made.Controller.Env = append(made.Controller.Env,
			corev1.EnvVar{Name: "AWS_SHARED_CREDENTIALS_FILE", Value: folder + "/" + credentialsFile})
	}
	return made.Set(in, release.tag)
}

func controller(conf config, minor int) manifest.Plugin {
	plugin := manifest.Plugin{
		Name: "ebs-csi-controller", Container: "ebs-plugin", User: 1000,
		Arguments: []string{
			"controller", "--endpoint=" + manifest.Endpoint, "--batching=true", "--logging-format=text", "--v=1",
			// New volumes get the tags that the in-tree plugin gave them, which is how others find a cluster's volumes:
			// https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/v1.63.1/docs/tagging.md
			"--k8s-tag-cluster-id=" + conf.clusterID(),
		},
		Env: []corev1.EnvVar{
			manifest.FieldEnv("CSI_NODE_NAME", "spec.nodeName"),
			// With it the controller needs no instance metadata, which its pod network mostly cannot reach.
			{Name: "AWS_REGION", Value: conf.region()},
		},
		// Its health is a request to EC2, whose answer may take long:
		// https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/v1.63.1/deploy/kubernetes/base/controller.yaml
		Liveness: corev1.Probe{InitialDelaySeconds: 10, TimeoutSeconds: 60, PeriodSeconds: 10, FailureThreshold: 10},
	}
	if endpoint := conf.endpoint("ec2"); endpoint != "" {
		plugin.Env = append(plugin.Env, corev1.EnvVar{Name: "AWS_EC2_ENDPOINT", Value: endpoint})
	}
	if minor >= attributesMinor {
		plugin.Rules = []rbacv1.PolicyRule{
			manifest.Rule(storageGroup, "volumeattributesclasses", "get", "list", "watch"),
			// Provisioner 6 keeps a snapshot by a finalizer while a volume is made of it:
			// https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/v1.63.1/deploy/kubernetes/base/clusterrole-provisioner.yaml
			manifest.Rule("snapshot.storage.k8s.io", "volumesnapshots", "watch", "update"),
		}
	}
	return plugin
}

// node finds its instance by the instance metadata, or else by what the CCM wrote into its Node.
func node() manifest.Plugin {
	return manifest.Plugin{
		Name: "ebs-csi-node", Container: "ebs-plugin",
		Arguments: []string{"node", "--endpoint=" + manifest.Endpoint, "--logging-format=text", "--v=1"},
		Env:       []corev1.EnvVar{manifest.FieldEnv("CSI_NODE_NAME", "spec.nodeName")},
		Liveness:  corev1.Probe{InitialDelaySeconds: 10, TimeoutSeconds: 3, PeriodSeconds: 10, FailureThreshold: 5},
		// On a Node that is drained and shut down it waits until the volumes are detached, or their next Node would have to wait
		// for six minutes: https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/v1.63.1/cmd/hooks/prestop.go
		PreStop: []string{"/bin/aws-ebs-csi-driver", "pre-stop-hook"},
		Rules: []rbacv1.PolicyRule{
			// To take its taint ebs.csi.aws.com/agent-not-ready away, and for the metadata. Any Node: RBAC knows no "own Node".
			manifest.Rule("", "nodes", "get", "list", "watch", "patch"),
			manifest.Rule(storageGroup, "csinodes", "get"),
			manifest.Rule(storageGroup, "volumeattachments", "get", "list", "watch"),
		},
	}
}

func csiDriver() *storagev1.CSIDriver {
	return &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: driver},
		Spec: storagev1.CSIDriverSpec{
			AttachRequired: new(true), PodInfoOnMount: new(false), FSGroupPolicy: new(storagev1.FileFSGroupPolicy),
		},
	}
}

func storageClass() *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: driver,
		Parameters:    map[string]string{"type": "gp3", "csi.storage.k8s.io/fstype": "ext4"},
		ReclaimPolicy: new(corev1.PersistentVolumeReclaimDelete), AllowVolumeExpansion: new(true),
		VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer),
	}
}

func sidecars(release driverRelease) manifest.Sidecars {
	return manifest.Sidecars{
		// All Nodes of a cluster that is drained do so at once, as in deploy/kubernetes/base/controller.yaml of its tags.
		Attacher: manifest.Sidecar{Tag: release.attacher, Timeout: "6m", Arguments: []string{"--worker-threads=100"}},
		Provisioner: manifest.Sidecar{Tag: release.provisioner, Arguments: []string{
			"--default-fstype=ext4", "--feature-gates=Topology=true", "--extra-create-metadata",
		}},
		Resizer:       manifest.Sidecar{Tag: release.resizer, Arguments: []string{"--handle-volume-inuse-error=false"}},
		Snapshotter:   manifest.Sidecar{Tag: release.snapshotter, Arguments: []string{"--extra-create-metadata"}},
		LivenessProbe: manifest.Sidecar{Tag: release.livenessprobe, Arguments: []string{"--probe-timeout=60s"}},
		Registrar:     manifest.Sidecar{Tag: release.registrar},
	}
}

// credentials is the file of the AWS SDKs with the keys, and with the role to assume by them: by those of the instance, where
// there are no keys. https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
func credentials(keys accessKeys, role string) []byte {
	var file strings.Builder
	profile := "default"
	if role != "" {
		source := "credential_source = Ec2InstanceMetadata"
		if keys != (accessKeys{}) {
			profile = "base"
			source = "source_profile = " + profile
		}
		file.WriteString("[default]\nrole_arn = " + role + "\n" + source + "\n")
	}
	if keys != (accessKeys{}) {
		file.WriteString("[" + profile + "]\naws_access_key_id = " + keys.id + "\naws_secret_access_key = " + keys.secret + "\n")
	}
	return []byte(file.String())
}
