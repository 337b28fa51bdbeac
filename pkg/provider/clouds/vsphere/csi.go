package vsphere

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	driver = "csi.vsphere.vmware.com"
	class  = "vsphere-csi"
	// features is the ConfigMap of the driver's feature switches: without it, it does not start.
	features = "internal-feature-states." + driver
	images   = "registry.k8s.io/csi-vsphere/"
)

// csi of vSphere. Facts from manifests/vanilla/vsphere-csi-driver.yaml of
// https://github.com/kubernetes-sigs/vsphere-csi-driver, tags v3.3.1 to v3.7.2. It is in kube-system and not in a namespace of
// its own, which it learns from CSI_NAMESPACE.
func csi(in manifest.RenderInput, conf configuration, release release) (manifest.Set, error) {
	id := clusterID(in)
	if id == "" {
		return manifest.Set{}, errors.New("the cluster's UID is not known, and the CSI driver marks volumes with it: give key " +
			"cluster-id")
	}
	secret := manifest.Secret{
		Name:      "vsphere-csi-config",
		MountPath: configDir,
		Data: conf.withCertificates(
			map[string][]byte{csiConfigKey: conf.csiConfig(id, trimmed(in.CloudConfig[datastoreKey]))},
			in.CloudConfig,
		),
	}
	const controllerName, nodeName = "vsphere-csi-controller", "vsphere-csi-node"
	controller := manifest.Plugin{
		Name: controllerName, Container: controllerName, Image: manifest.ImageOf(images+"driver", release.csi), User: 65532,
		Arguments: controllerArguments(release), Env: controllerEnv(), Mounts: []string{secret.Name}, Rules: controllerRules(),
		Liveness: corev1.Probe{InitialDelaySeconds: 30, TimeoutSeconds: 10, PeriodSeconds: 180, FailureThreshold: 3},
	}
	node := manifest.Plugin{
		Name: nodeName, Container: nodeName, Image: controller.Image, Arguments: featureArguments(), Env: nodeEnv(release),
		HostPaths: []manifest.HostPath{
			// Where it finds the disk of a volume, and the machine's own UUID.
			{Name: "blocks", Path: "/sys/block", Type: corev1.HostPathDirectory},
			{Name: "sys-devices", Path: "/sys/devices", Type: corev1.HostPathDirectory},
		},
		Liveness: corev1.Probe{InitialDelaySeconds: 10, TimeoutSeconds: 5, PeriodSeconds: 5, FailureThreshold: 3},
		Rules: []rbacv1.PolicyRule{
			// It asks for its own topology by making an object, which the syncer answers.
			manifest.Rule(group, "csinodetopologies", "get", "watch", "create", "patch"),
			manifest.Rule("", "nodes", "get"),
		},
	}
	// They watch the ConfigMaps of the namespace, all of them:
	// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/kubernetes/informers.go#L195
	switches := []rbacv1.PolicyRule{manifest.Rule("", "configmaps", "get", "list", "watch")}
	objects := append(manifest.NamespaceAccess(controllerName+":features", controllerName, switches),
		manifest.NamespaceAccess(nodeName+":features", nodeName, switches)...)
	return manifest.CSI{
		// The syncer is elected by a Lease of its own.
		Leases:   []string{"vsphere-syncer"},
		Provider: Name, Driver: csiDriver(), Classes: []*storagev1.StorageClass{storageClass()},
		Sidecars: sidecars(release, conf), Secrets: []manifest.Secret{secret}, Controller: controller, Node: node,
		Beside: []corev1.Container{syncer(release, secret)}, Objects: append(objects, featureStates(release)),
	}.Set(in, release.csi)
}

func csiDriver() *storagev1.CSIDriver {
	return &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: driver},
		Spec:       storagev1.CSIDriverSpec{AttachRequired: new(true), PodInfoOnMount: new(false)},
	}
}

// storageClass names no storage policy: the driver takes a datastore that all Nodes have.
func storageClass() *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: driver,
		ReclaimPolicy: new(corev1.PersistentVolumeReclaimDelete), AllowVolumeExpansion: new(true),
		VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer),
	}
}

// syncer writes the names of volumes, claims and pods to vCenter, and registers the in-tree volumes there.
func syncer(release release, secret manifest.Secret) corev1.Container {
	return corev1.Container{
		Name: "vsphere-syncer", Image: manifest.ImageOf(images+"syncer", release.csi),
		Args: append([]string{
			"--leader-election", "--leader-election-lease-duration=30s", "--leader-election-renew-deadline=20s",
			"--leader-election-retry-period=10s",
		}, controllerArguments(release)...),
		Env:       append(cloudEnv(), corev1.EnvVar{Name: "FULL_SYNC_INTERVAL_MINUTES", Value: "30"}),
		Resources: manifest.Requests("20m", "64Mi"), SecurityContext: manifest.Unprivileged(),
		VolumeMounts: []corev1.VolumeMount{{Name: secret.Name, MountPath: secret.MountPath, ReadOnly: true}},
	}
}

func featureArguments() []string {
	return []string{"--fss-name=" + features, "--fss-namespace=" + manifest.Namespace}
}

func controllerArguments(release release) []string {
	arguments := featureArguments()
	if release.csiMinor >= 6 {
		arguments = append(arguments, "--enable-profile-server=false")
	}
	return arguments
}

// featureStates are the features that are not on for good. CSI migration is, from v3.2 on:
// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/csi/service/common/commonco/k8sorchestrator/k8sorchestrator.go#L393
func featureStates(release release) *corev1.ConfigMap {
	states := map[string]string{"trigger-csi-fullsync": "false", "pv-to-backingdiskobjectid-mapping": "false"}
	switch release.csiMinor {
	case 6:
		states["csi-transaction-support"] = "false"
	case 7:
		states["high-pv-node-density"] = "false"
	}
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: manifest.Namespace, Name: features}, Data: states}
}

// programEnv is of all three programs. At a level other than PRODUCTION they log the configuration as it is.
func programEnv() []corev1.EnvVar {
	return []corev1.EnvVar{{Name: "LOGGER_LEVEL", Value: "PRODUCTION"}, {Name: "CSI_NAMESPACE", Value: manifest.Namespace}}
}

// cloudEnv is of the two that ask vCenter.
func cloudEnv() []corev1.EnvVar {
	return append(programEnv(), corev1.EnvVar{Name: "VSPHERE_CSI_CONFIG", Value: configDir + "/" + csiConfigKey},
		corev1.EnvVar{Name: "INCLUSTER_CLIENT_QPS", Value: "100"}, corev1.EnvVar{Name: "INCLUSTER_CLIENT_BURST", Value: "100"})
}

func pluginEnv(mode string) []corev1.EnvVar {
	return []corev1.EnvVar{
		{Name: "CSI_ENDPOINT", Value: manifest.Endpoint}, {Name: "X_CSI_MODE", Value: mode},
		// The IDs of volumes are longer than the specification allows.
		{Name: "X_CSI_SPEC_DISABLE_LEN_CHECK", Value: "true"},
	}
}

func controllerEnv() []corev1.EnvVar {
	env := append(pluginEnv("controller"), corev1.EnvVar{Name: "X_CSI_SERIAL_VOL_ACCESS_TIMEOUT", Value: "3m"})
	return append(env, cloudEnv()...)
}

func nodeEnv(release release) []corev1.EnvVar {
	env := append(append(pluginEnv("node"), programEnv()...), manifest.FieldEnv("NODE_NAME", "spec.nodeName"),
		corev1.EnvVar{Name: "X_CSI_SPEC_REQ_VALIDATION", Value: "false"},
		corev1.EnvVar{Name: "NODEGETINFO_WATCH_TIMEOUT_MINUTES", Value: "1"})
	if release.csiMinor < 7 {
		// Four SCSI adapters with 15 disks each, less the one of the system. v3.7 knows it by itself.
		env = append(env, corev1.EnvVar{Name: "MAX_VOLUMES_PER_NODE", Value: "59"})
	}
	return env
}
