package simcloud

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	driver = "csi.simcloud.k8c.io"
	class  = "simcloud-csi"
)

// csi is a stand-in that registers in CSINode and answers health. Who wants volumes has their controller and its sidecars run
// beside it.
func csi(tag string) (manifest.Set, error) {
	const controller, node = "simcloud-csi-controller", "simcloud-csi-node"
	objects := []manifest.Object{manifest.ServiceAccount(controller), manifest.ServiceAccount(node)}
	objects = append(objects, manifest.ClusterAccess(node, node, []rbacv1.PolicyRule{
		manifest.Rule("", "nodes", "get"),
		manifest.Rule("storage.k8s.io", "csinodes", "get", "create", "update", "patch"),
	})...)
	return manifest.NewSet(Name+"-csi", tag, append(objects, csiDriver(), storageClass(),
		&appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: manifest.Namespace, Name: controller},
			Spec: appsv1.DeploymentSpec{
				Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels(controller)},
				Template: template(controller, tag, "system-cluster-critical",
					// The CCM waits for the CSI driver, and new Nodes for the CCM: without this none of them would ever start.
					corev1.Toleration{Key: "node.cloudprovider.kubernetes.io/uninitialized", Operator: corev1.TolerationOpExists},
					"--mode=controller"),
			},
		},
		&appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: manifest.Namespace, Name: node},
			Spec: appsv1.DaemonSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels(node)},
				UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
					Type:          appsv1.RollingUpdateDaemonSetStrategyType,
					RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromInt32(1))},
				},
				Template: template(node, tag, "system-node-critical", corev1.Toleration{Operator: corev1.TolerationOpExists},
					"--mode=node", "--node-name=$(NODE_NAME)"),
			},
		},
	))
}

func csiDriver() *storagev1.CSIDriver {
	return &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: driver},
		Spec: storagev1.CSIDriverSpec{
			AttachRequired: new(true), PodInfoOnMount: new(false),
			VolumeLifecycleModes: []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent},
		},
	}
}

func storageClass() *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: driver,
		ReclaimPolicy: new(corev1.PersistentVolumeReclaimDelete), VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer),
	}
}

func template(name, tag, priority string, toleration corev1.Toleration, arguments ...string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels(name)},
		Spec: corev1.PodSpec{
			ServiceAccountName: name, PriorityClassName: priority, Tolerations: []corev1.Toleration{toleration},
			SecurityContext: manifest.RunAs(65532),
			Containers: []corev1.Container{{
				Name: "csi-driver", Image: manifest.ImageOf(images+"csi-driver", tag),
				Args: slices.Concat(arguments, []string{"--driver-name=" + driver, "--health-address=$(POD_IP):9808"}),
				Env:  []corev1.EnvVar{manifest.FieldEnv("NODE_NAME", "spec.nodeName"), manifest.FieldEnv("POD_IP", "status.podIP")},
				ReadinessProbe: &corev1.Probe{
					ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: intstr.FromInt32(9808)}},
					PeriodSeconds: 2,
				},
				Resources: manifest.Requests("10m", "32Mi"), SecurityContext: manifest.Unprivileged(),
			}},
		},
	}
}

func labels(name string) map[string]string { return map[string]string{"app.kubernetes.io/name": name} }
