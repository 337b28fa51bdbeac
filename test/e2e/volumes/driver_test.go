//go:build volumes

package volumes_test

import (
	"context"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/kubelet/claims"
)

const (
	driverName = "csi.simcloud.k8c.io"
	images     = "registry.example/simcloud/"
	className  = "volumes"
	// What the stories install is beside what the catalogue has, under names of its own.
	controllerName = "volumes-controller"
	nodeName       = "volumes-node"
	socketDir      = "/csi"
	kubeletDir     = "/var/lib/kubelet"
)

// serve gives a cluster the driver with its sidecars, as a cluster has it that used CSI before it migrates its CCM. There
// is no CSIDriver: the catalogue's comes later, and says what is the default without one.
func (h *volumes) serve(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	GinkgoHelper()
	objects := append(rights(), &corev1.Secret{
		ObjectMeta: inSystem(controllerName), Data: map[string][]byte{"cloud.conf": u.CloudConf()},
	}, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: className}, Provisioner: driverName,
		ReclaimPolicy: new(corev1.PersistentVolumeReclaimDelete), VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer),
	}, controller(versionOf(s, "csi-attacher"), versionOf(s, "csi-provisioner")), node())
	for _, object := range objects {
		s.Expect(u.Client.Create(ctx, object)).To(Succeed(), "%T %s", object, object.GetName())
	}
	s.Expect(h.WaitFor(ctx, "the CSI driver", suite.Patience, func(ctx context.Context) (string, error) {
		deployment, daemons := &appsv1.Deployment{ObjectMeta: inSystem(controllerName)}, &appsv1.DaemonSet{ObjectMeta: inSystem(nodeName)}
		for _, object := range []client.Object{deployment, daemons} {
			if err := u.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
				return "", err
			}
		}
		if deployment.Status.ReadyReplicas != 1 || daemons.Status.NumberReady == 0 {
			return "its pods are not ready", nil
		}
		return "", nil
	})).To(Succeed())
}

// versionOf a sidecar is the folder that it was built into.
func versionOf(s *suite.Scene, program string) string {
	GinkgoHelper()
	found, err := filepath.Glob(filepath.Join(suite.Binaries(), "v*", program))
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(found).To(HaveLen(1), "make e2e-volumes builds %s", program)
	return filepath.Base(filepath.Dir(found[0]))
}

func inSystem(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name}
}

func fromField(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

// controller is the pod of the driver's controller in the shape that drivers have: its sidecars reach it by a socket.
// https://github.com/kubernetes-csi/external-attacher/blob/v4.12.0/deploy/kubernetes/deployment.yaml
func controller(attacher, provisioner string) client.Object {
	pod := driverPod(controllerName, corev1.Toleration{
		// The sidecars are needed to drain the Nodes before the new ones are initialized.
		Key: "node.cloudprovider.kubernetes.io/uninitialized", Operator: corev1.TolerationOpExists,
	}, "--mode=controller", "--endpoint="+socketDir+"/csi.sock", "--cloud-config=/etc/cloud/cloud.conf")
	socket := corev1.VolumeMount{Name: "socket-dir", MountPath: socketDir}
	pod.Containers[0].VolumeMounts = []corev1.VolumeMount{socket, {Name: "cloud-config", MountPath: "/etc/cloud", ReadOnly: true}}
	for _, sidecar := range []struct{ name, version string }{{"csi-attacher", attacher}, {"csi-provisioner", provisioner}} {
		pod.Containers = append(pod.Containers, corev1.Container{
			Name: sidecar.name, Image: images + sidecar.name + ":" + sidecar.version,
			Args: []string{"--csi-address=" + socketDir + "/csi.sock", "--v=4"}, VolumeMounts: []corev1.VolumeMount{socket},
		})
	}
	pod.Volumes = []corev1.Volume{
		{Name: "socket-dir", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "cloud-config", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: controllerName}}},
	}
	return &appsv1.Deployment{ObjectMeta: inSystem(controllerName), Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels(controllerName)},
		Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels(controllerName)}, Spec: pod},
	}}
}

// node is the pod of the driver on each Node, which the Node's kubelet reaches by a socket.
func node() client.Object {
	pod := driverPod(nodeName, corev1.Toleration{Operator: corev1.TolerationOpExists},
		"--mode=node", "--node-name=$(NODE_NAME)", "--endpoint="+claims.Socket(driverName))
	pod.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "kubelet", MountPath: kubeletDir}}
	pod.Volumes = []corev1.Volume{{Name: "kubelet", VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: kubeletDir, Type: new(corev1.HostPathDirectoryOrCreate)},
	}}}
	return &appsv1.DaemonSet{ObjectMeta: inSystem(nodeName), Spec: appsv1.DaemonSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels(nodeName)},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels(nodeName)}, Spec: pod},
	}}
}

func labels(name string) map[string]string { return map[string]string{"app": name} }

func driverPod(account string, toleration corev1.Toleration, arguments ...string) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName: account, Tolerations: []corev1.Toleration{toleration}, TerminationGracePeriodSeconds: new(int64(5)),
		Containers: []corev1.Container{{
			Name: "csi-driver", Image: images + "csi-driver:v" + bed.KubernetesVersion,
			Args: append(arguments, "--driver-name="+driverName, "--health-address=$(POD_IP):9808"),
			Env:  []corev1.EnvVar{fromField("NODE_NAME", "spec.nodeName"), fromField("POD_IP", "status.podIP")},
			ReadinessProbe: &corev1.Probe{PeriodSeconds: 2, ProbeHandler: corev1.ProbeHandler{
				HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: intstr.FromInt32(9808)},
			}},
		}},
	}
}

// rights are those that the sidecars ask for, without those for snapshots, which there are none of:
// https://github.com/kubernetes-csi/external-attacher/blob/v4.12.0/deploy/kubernetes/rbac.yaml
// https://github.com/kubernetes-csi/external-provisioner/blob/v6.3.0/deploy/kubernetes/rbac.yaml
func rights() []client.Object {
	return append(access(controllerName,
		rule("", "get list watch create patch delete", "persistentvolumes"),
		rule("", "get list watch update", "persistentvolumeclaims"),
		rule("", "list watch create update patch", "events"),
		rule("", "get list watch", "nodes"),
		rule("storage.k8s.io", "get list watch", "storageclasses", "csinodes"),
		rule("storage.k8s.io", "get list watch patch", "volumeattachments"),
		rule("storage.k8s.io", "patch", "volumeattachments/status"),
	), access(nodeName,
		rule("", "get", "nodes"), rule("storage.k8s.io", "get create update patch", "csinodes"),
	)...)
}

func access(name string, rules ...rbacv1.PolicyRule) []client.Object {
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: inSystem(name)},
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceSystem, Name: name}},
		},
	}
}

func rule(group, verbs string, resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: strings.Fields(verbs)}
}
