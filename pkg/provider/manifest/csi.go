package manifest

import (
	"cmp"
	"path"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// CSI is what a provider says of its CSI driver. Everything else is the same for all.
type CSI struct {
	// Provider begins the names of what has no name of its own.
	Provider string
	// Driver as upstream has it: most of it is immutable, so that both can follow each other.
	Driver *storagev1.CSIDriver
	// Classes are its StorageClasses. None of them is rendered as the default: migration.Provider says which one becomes it.
	Classes []*storagev1.StorageClass
	// Sidecars that run beside the plugins.
	Sidecars Sidecars
	// Secrets that a plugin reads.
	Secrets []Secret
	// Controller is the plugin in a Deployment, Node the one in a DaemonSet.
	Controller, Node Plugin
	// Beside are further containers of the controller's pods; the driver's socket is mounted into them.
	Beside []corev1.Container
	// Leases that those are elected by; the sidecars' are known.
	Leases []string
	// Objects that only this driver needs, such as a ConfigMap.
	Objects []Object
	// SnapshotsElsewhere says that another driver of the provider brings what all drivers need for snapshots.
	SnapshotsElsewhere bool
	// NodeAffinity keeps the pods of both plugins off Nodes that the driver cannot serve; nil: there are none.
	NodeAffinity *corev1.NodeAffinity
}

// Plugin is a driver's process.
type Plugin struct {
	// Name of the workload and of its ServiceAccount.
	Name string
	// Container is its container's name.
	Container string
	// Image with its tag.
	Image string
	// Command; empty: the image's own.
	Command []string
	// Arguments, among them the one that has it listen on Endpoint.
	Arguments []string
	// Env of its container.
	Env []corev1.EnvVar
	// Rules that it needs beyond those of its sidecars.
	Rules []rbacv1.PolicyRule
	// User that it runs as; ignored for the node plugin, which is root.
	User int64
	// HostPaths that it mounts beyond those that all node plugins do.
	HostPaths []HostPath
	// Mounts are the CSI's Secrets, by name, that it reads: mounted where they have a path, else by Env.
	Mounts []string
	// Liveness is how often its health is asked, and how long.
	Liveness corev1.Probe
	// HealthPort is where: that of the sidecar livenessprobe; 0: its default. Node plugins share their Node's network, so
	// drivers that may meet on one need ports of their own.
	HealthPort int32
	// PreStop is run in the container before it is ended; empty: nothing is.
	PreStop []string
}

// HostPath is a path of the Node, mounted under the same path.
type HostPath struct {
	Name, Path string
	Type       corev1.HostPathType
	ReadOnly   bool
}

const (
	// Endpoint is where a plugin has to listen.
	Endpoint = "unix:///csi/csi.sock"

	socketDir  = "/csi"
	socketFile = "csi.sock"
	kubeletDir = "/var/lib/kubelet"
	// defaultHealthPort of the sidecar livenessprobe:
	// https://github.com/kubernetes-csi/livenessprobe/blob/v2.17.0/cmd/livenessprobe/main.go
	defaultHealthPort = 9808
)

// Set makes its objects.
func (c CSI) Set(in RenderInput, version string) (Set, error) {
	objects := objectsOf(c.Secrets)
	objects = append(objects, ServiceAccount(c.Controller.Name), ServiceAccount(c.Node.Name))
	objects = append(
		objects,
		ClusterAccess(c.Controller.Name, c.Controller.Name, append(c.Sidecars.rules(), c.Controller.Rules...))...)
	objects = append(objects, c.elections()...)
	if len(c.Node.Rules) > 0 {
		objects = append(objects, ClusterAccess(c.Node.Name, c.Node.Name, c.Node.Rules)...)
	}
	objects = append(append(objects, c.Objects...), c.Driver)
	for _, class := range c.Classes {
		objects = append(objects, class)
	}
	objects = append(objects, disruptionBudget(c.Controller.Name, c.Controller.Name, in)...)
	objects = append(objects, c.controller(), c.node())
	if c.Sidecars.Snapshotter.Tag != "" && !c.SnapshotsElsewhere {
		shared, err := snapshots(in)
		if err != nil {
			return Set{}, err
		}
		objects = append(objects, shared...)
	}
	return NewSet(c.Provider+"-csi", version, objects)
}

// elections are by Leases of a namespace that has those of KCM and of the CCM, too: whoever could write these could end the one
// and let the other begin. So they are named; that to create one cannot have a name.
func (c CSI) elections() []Object {
	const group, leases = "coordination.k8s.io", "leases"
	held := Rule(group, leases, "get", "update")
	held.ResourceNames = append(c.Sidecars.leases(c.Driver.Name), c.Leases...)
	if len(held.ResourceNames) == 0 {
		return nil
	}
	return NamespaceAccess(c.Controller.Name, c.Controller.Name, []rbacv1.PolicyRule{Rule(group, leases, "create"), held})
}

// controller has two replicas, because every Node is going to be drained: the sidecars elect a leader each, the plugin itself
// keeps no state.
func (c CSI) controller() *appsv1.Deployment {
	socket := corev1.VolumeMount{Name: "socket", MountPath: socketDir}
	pod := corev1.PodSpec{
		ServiceAccountName: c.Controller.Name,
		PriorityClassName:  ClusterCritical,
		// The CCM waits for the CSI driver, and new Nodes for the CCM: without this toleration, and with the cluster's DNS, which
		// has no such toleration, none of them would ever start in a cluster of new Nodes only.
		DNSPolicy: corev1.DNSDefault, Tolerations: bootstrapTolerations()[:3],
		Affinity: apart(c.Controller.Name), NodeSelector: linux(), SecurityContext: RunAs(c.Controller.User),
		Containers: append(c.beside(socket), c.Controller.container(Unprivileged(), socket)),
		Volumes:    []corev1.Volume{{Name: socket.Name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
	}
	pod.SecurityContext.FSGroup = &c.Controller.User
	pod.Affinity.NodeAffinity = c.NodeAffinity
	secrets := c.mounted(c.Controller)
	Mount(&pod, len(pod.Containers)-1, secrets...)
	return deployment(c.Controller.Name, c.Controller.Name, pod, secrets)
}

func (c CSI) node() *appsv1.DaemonSet {
	socket := corev1.VolumeMount{Name: "socket", MountPath: socketDir}
	registration := corev1.VolumeMount{Name: "registration", MountPath: "/registration"}
	kubelet := corev1.VolumeMount{
		Name:             "kubelet",
		MountPath:        kubeletDir,
		MountPropagation: new(corev1.MountPropagationBidirectional),
	}
	devices := corev1.VolumeMount{Name: "devices", MountPath: "/dev", MountPropagation: new(corev1.MountPropagationHostToContainer)}
	plugin := path.Join(kubeletDir, "plugins", c.Driver.Name)
	pod := corev1.PodSpec{
		ServiceAccountName: c.Node.Name, PriorityClassName: "system-node-critical", HostNetwork: true, DNSPolicy: corev1.DNSDefault,
		NodeSelector: linux(),
		Tolerations:  []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, SecurityContext: defaultSeccomp(),
		Containers: append(c.Sidecars.node(path.Join(plugin, socketFile), c.Node.healthPort(), socket, registration),
			// It mounts block devices into the directories of other pods.
			c.Node.container(&corev1.SecurityContext{Privileged: new(true)}, socket, kubelet, devices)),
		Volumes: []corev1.Volume{
			HostPath{Name: "socket", Path: plugin, Type: corev1.HostPathDirectoryOrCreate}.volume(),
			HostPath{Name: "registration", Path: path.Join(kubeletDir, "plugins_registry"), Type: corev1.HostPathDirectory}.volume(),
			HostPath{Name: "kubelet", Path: kubeletDir, Type: corev1.HostPathDirectory}.volume(),
			HostPath{Name: "devices", Path: "/dev", Type: corev1.HostPathDirectory}.volume(),
		},
	}
	if c.NodeAffinity != nil {
		pod.Affinity = &corev1.Affinity{NodeAffinity: c.NodeAffinity}
	}
	for _, extra := range c.Node.HostPaths {
		pod.Volumes = append(pod.Volumes, extra.volume())
	}
	secrets := c.mounted(c.Node)
	Mount(&pod, len(pod.Containers)-1, secrets...)
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: c.Node.Name, Annotations: Needing(Privileged)},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: named(c.Node.Name)},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromInt32(1))},
			},
			Template: template(c.Node.Name, pod, secrets),
		},
	}
}

// beside are the containers before the controller's own.
func (c CSI) beside(socket corev1.VolumeMount) []corev1.Container {
	containers := c.Sidecars.controller(c.Controller.healthPort(), socket)
	for _, container := range c.Beside {
		container.VolumeMounts = append(slices.Clone(container.VolumeMounts), socket)
		containers = append(containers, container)
	}
	return containers
}

func (p Plugin) healthPort() int32 { return cmp.Or(p.HealthPort, defaultHealthPort) }

// mounted are the Secrets that a plugin reads, so that a change of them rolls it, and it alone.
func (c CSI) mounted(plugin Plugin) []Secret {
	var secrets []Secret
	for _, secret := range c.Secrets {
		if slices.Contains(plugin.Mounts, secret.Name) {
			secrets = append(secrets, secret)
		}
	}
	return secrets
}

func (p Plugin) container(security *corev1.SecurityContext, mounts ...corev1.VolumeMount) corev1.Container {
	for _, extra := range p.HostPaths {
		mounts = append(mounts, corev1.VolumeMount{Name: extra.Name, MountPath: extra.Path, ReadOnly: extra.ReadOnly})
	}
	liveness := p.Liveness
	liveness.HTTPGet = &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("healthz")}
	made := corev1.Container{
		Name: p.Container, Image: p.Image, Command: p.Command, Args: p.Arguments, Env: p.Env,
		Ports:         []corev1.ContainerPort{{Name: "healthz", ContainerPort: p.healthPort(), Protocol: corev1.ProtocolTCP}},
		LivenessProbe: &liveness, Resources: Requests("20m", "64Mi"), SecurityContext: security, VolumeMounts: mounts,
	}
	if len(p.PreStop) > 0 {
		made.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: p.PreStop}}}
	}
	return made
}

func (h HostPath) volume() corev1.Volume {
	return corev1.Volume{
		Name:         h.Name,
		VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: h.Path, Type: &h.Type}},
	}
}
