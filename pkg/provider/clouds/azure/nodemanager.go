package azure

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// nodeManager is the name of everything that belongs to it.
const nodeManager = "azure-cloud-node-manager"

// nodeAgents makes the objects of the cloud-node-manager. It runs on every Node, knows no leader election, and writes to its
// own Node only: the taint, providerID and labels of one that is not initialized, the addresses of every one, each five
// minutes. It asks the Node's own metadata service, so it has no credentials.
//
// It must not run before the CCM leads, and nothing of it waits for that: it is to be applied when the fence has been opened,
// and to be taken away before a rollback gives the loops back. Facts from cmd/cloud-node-manager and pkg/nodemanager of
// https://github.com/kubernetes-sigs/cloud-provider-azure, tags v1.24.22 to v1.36.5.
func nodeAgents(in manifest.RenderInput) (manifest.Set, error) {
	release, _, err := table().For(in.Version)
	if err != nil {
		return manifest.Set{}, fmt.Errorf("render %s: %w", nodeManager, err)
	}
	routes, err := runsRoutes(in)
	if err != nil {
		return manifest.Set{}, fmt.Errorf("render %s: %w", nodeManager, err)
	}
	objects := []manifest.Object{manifest.ServiceAccount(nodeManager)}
	// Any Node, although it needs its own only: RBAC cannot say that. https://github.com/kubernetes/kubernetes/issues/110704
	objects = append(objects, manifest.ClusterAccess(nodeManager, nodeManager, []rbacv1.PolicyRule{
		manifest.Rule("", "nodes", "get", "list", "watch", "update", "patch"),
		manifest.Rule("", "nodes/status", "patch"),
		manifest.Rule("", "events", "create", "patch"),
	})...)
	return manifest.NewSet(Name+"-ccm", release.tag, append(objects, nodeManagerDaemonSet(release, routes)))
}

func nodeManagerDaemonSet(release release, routes bool) *appsv1.DaemonSet {
	labels := map[string]string{"app.kubernetes.io/name": nodeManager}
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: manifest.Namespace, Name: nodeManager},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromInt32(1))},
			},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: nodeManagerPod(release, routes)},
		},
	}
}

// nodeManagerPod needs nothing that waits for it: no pod network, no DNS of the cluster, no Node without taints. It has no
// probe because it serves none.
func nodeManagerPod(release release, routes bool) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName: nodeManager, PriorityClassName: "system-node-critical", HostNetwork: true, DNSPolicy: corev1.DNSDefault,
		NodeSelector: map[string]string{corev1.LabelOSStable: "linux"}, Affinity: managedNodes(),
		Tolerations:     []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		SecurityContext: manifest.RunAs(65532),
		Containers: []corev1.Container{{
			Name: "cloud-node-manager", Image: manifest.ImageOf(release.registry+"kubernetes/"+nodeManager, release.tag),
			Command: []string{"cloud-node-manager"},
			Args: []string{
				"--node-name=$(NODE_NAME)",
				// It marks new Nodes as without a network, and only the CCM's route loop takes that back: true without that loop
				// keeps them unschedulable for good.
				// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.36.5/pkg/nodemanager/nodemanager.go#L420-L427
				"--wait-routes=" + strconv.FormatBool(routes),
				"--v=2",
			},
			Env:       []corev1.EnvVar{manifest.FieldEnv("NODE_NAME", "spec.nodeName")},
			Resources: manifest.Requests("50m", "50Mi"), SecurityContext: manifest.Unprivileged(),
		}},
	}
}

// managedNodes are those that are machines of Azure: others have no metadata service.
func managedNodes() *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "kubernetes.azure.com/managed", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"false"}},
			},
		}}},
	}}
}
