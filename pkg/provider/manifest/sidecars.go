package manifest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// Sidecars of a CSI driver; those without a tag are not deployed.
type Sidecars struct {
	Attacher, Provisioner, Resizer, Snapshotter Sidecar
	LivenessProbe, Registrar                    Sidecar
	// Timeout of one call to the driver; empty: 3m.
	Timeout string
}

// Sidecar is one of the containers that SIG Storage provides.
type Sidecar struct {
	// Tag of its image.
	Tag string
	// Arguments beyond those that all drivers have.
	Arguments []string
	// Timeout of a call to the driver; empty: 3m.
	Timeout string
}

// kind of a sidecar: what does not depend on the driver.
type kind struct {
	name    string
	sidecar Sidecar
	// lease is what the name of its Lease begins with; that of the driver follows.
	lease string
	rules []rbacv1.PolicyRule
}

const sidecarImages = "registry.k8s.io/sig-storage/"

// elected are the sidecars of the controller, with what each of them needs. Facts from deploy/kubernetes/rbac.yaml of
// https://github.com/kubernetes-csi/external-attacher, external-provisioner, external-resizer and external-snapshotter. The
// provisioner's snapshots are for volumes that are made from one.
func (s Sidecars) elected() []kind {
	const storage, snapshot = "storage.k8s.io", "snapshot.storage.k8s.io"
	events := Rule("", "events", "get", "list", "watch", "create", "update", "patch")
	return []kind{
		{"csi-attacher", s.Attacher, "external-attacher-leader-", []rbacv1.PolicyRule{
			Rule("", "persistentvolumes", "get", "list", "watch", "patch"),
			Rule("", "nodes", "get", "list", "watch"),
			Rule(storage, "csinodes", "get", "list", "watch"),
			Rule(storage, "volumeattachments", "get", "list", "watch", "patch"),
			Rule(storage, "volumeattachments/status", "patch"),
		}},
		{"csi-provisioner", s.Provisioner, "", []rbacv1.PolicyRule{
			Rule("", "persistentvolumes", "get", "list", "watch", "create", "patch", "delete"),
			Rule("", "persistentvolumeclaims", "get", "list", "watch", "update"),
			Rule("", "nodes", "get", "list", "watch"),
			events,
			Rule(storage, "storageclasses", "get", "list", "watch"),
			Rule(storage, "csinodes", "get", "list", "watch"),
			Rule(storage, "volumeattachments", "get", "list", "watch"),
			Rule(snapshot, "volumesnapshots", "get", "list"),
			Rule(snapshot, "volumesnapshotcontents", "get", "list"),
		}},
		{"csi-resizer", s.Resizer, "external-resizer-", slices.Concat([]rbacv1.PolicyRule{
			Rule("", "persistentvolumes", "get", "list", "watch", "patch"),
			Rule("", "persistentvolumeclaims", "get", "list", "watch"),
			Rule("", "persistentvolumeclaims/status", "patch"),
			events,
		}, s.podRules())},
		{"csi-snapshotter", s.Snapshotter, "external-snapshotter-leader-", []rbacv1.PolicyRule{
			events,
			Rule(snapshot, "volumesnapshotclasses", "get", "list", "watch"),
			Rule(snapshot, "volumesnapshotcontents", "get", "list", "watch", "create", "update", "patch", "delete"),
			Rule(snapshot, "volumesnapshotcontents/status", "update", "patch"),
		}},
	}
}

// podRules: the resizer looks for Pods that use a volume, unless it is told not to.
// https://github.com/kubernetes-csi/external-resizer/blob/v2.2.0/pkg/controller/controller.go#L134
func (s Sidecars) podRules() []rbacv1.PolicyRule {
	if slices.Contains(s.Resizer.Arguments, "--handle-volume-inuse-error=false") {
		return nil
	}
	return []rbacv1.PolicyRule{Rule("", "pods", "get", "list", "watch")}
}

func (s Sidecars) rules() []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for _, kind := range s.elected() {
		if kind.sidecar.Tag != "" {
			rules = append(rules, kind.rules...)
		}
	}
	return rules
}

// leases that they are elected by, for a driver. Facts from the main.go of each, such as
// https://github.com/kubernetes-csi/external-resizer/blob/v1.9.2/cmd/csi-resizer/main.go; what such a name may not have is
// replaced: https://github.com/kubernetes-csi/csi-lib-utils/blob/v0.14.0/leaderelection/leader_election.go
func (s Sidecars) leases(driver string) []string {
	var names []string
	for _, kind := range s.elected() {
		if kind.sidecar.Tag != "" {
			names = append(names, kind.lease+strings.ReplaceAll(driver, ".", "-"))
		}
	}
	return names
}

// controller makes those of the Deployment.
func (s Sidecars) controller(port int32, socket corev1.VolumeMount) []corev1.Container {
	var containers []corev1.Container
	for _, kind := range s.elected() {
		if kind.sidecar.Tag != "" {
			arguments := []string{"--timeout=" + cmp.Or(kind.sidecar.Timeout, s.Timeout, "3m"), "--leader-election=true"}
			containers = append(containers, kind.sidecar.container(kind.name, arguments, socket))
		}
	}
	return append(containers, s.liveness(port, socket))
}

// node makes those of the DaemonSet; the kubelet finds the driver's socket by its path on the Node.
func (s Sidecars) node(socketOnNode string, port int32, socket, registration corev1.VolumeMount) []corev1.Container {
	registrar := s.Registrar.container("csi-node-driver-registrar", []string{"--kubelet-registration-path=" +
		socketOnNode}, socket, registration)
	registrar.Name = "node-driver-registrar"
	return []corev1.Container{registrar, s.liveness(port, socket)}
}

func (s Sidecars) liveness(port int32, socket corev1.VolumeMount) corev1.Container {
	var arguments []string
	if port != defaultHealthPort {
		arguments = []string{"--health-port=" + strconv.Itoa(int(port))}
	}
	container := s.LivenessProbe.container("livenessprobe", arguments, socket)
	container.Name = "liveness-probe"
	return container
}

func (s Sidecar) container(image string, arguments []string, mounts ...corev1.VolumeMount) corev1.Container {
	arguments = append([]string{"--csi-address=" + socketDir + "/" + socketFile}, arguments...)
	return corev1.Container{
		Name: image, Image: ImageOf(sidecarImages+image, s.Tag), Args: append(arguments, s.Arguments...),
		Resources: Requests("10m", "32Mi"), SecurityContext: Unprivileged(), VolumeMounts: mounts,
	}
}
