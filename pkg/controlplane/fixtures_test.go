package controlplane

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

const testNamespace = "cluster-alpha"

// runAll runs the cases of a table, each under its sentence.
func runAll[T interface{ run(t *testing.T) }](t *testing.T, tests map[string]T) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, test.run)
	}
}

func startTime() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func testCluster(processes ...ucv1.ManagerProcess) *ucv1.Cluster {
	cluster := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "alpha"}}
	cluster.Status.Handover = &ucv1.HandoverStatus{Processes: processes}
	return cluster
}

// testDeployment is rolled out with one replica and its UID is its name.
const kubeControllerManager = "kube-controller-manager"

func testDeployment(name string, args ...string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: name, UID: types.UID(name), Generation: 2},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: "image", Command: []string{name}, Args: args}}},
			},
		},
		Status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1},
	}
}

// testSet is the ReplicaSet that the Deployment makes for its present template; its UID is its name.
func testSet(deployment *appsv1.Deployment, hash string) *appsv1.ReplicaSet {
	template := deployment.Spec.Template.DeepCopy()
	template.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
	name := deployment.Name + "-" + hash
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: deployment.Namespace,
			Name:      name,
			UID:       types.UID(name),
			Labels:    template.Labels,
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment")),
			},
		},
		Spec: appsv1.ReplicaSetSpec{Template: *template},
	}
}

// testPod runs on node-1, and its UID is its name.
func testPod(set *appsv1.ReplicaSet, suffix string) *corev1.Pod {
	name := set.Name + "-" + suffix
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: name, UID: types.UID(name), Labels: set.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
		},
		Spec: *set.Spec.Template.Spec.DeepCopy(),
	}
	pod.Spec.NodeName = "node-1"
	setState(pod, running("containerd://"+name))
	return pod
}

func setState(pod *corev1.Pod, status corev1.ContainerStatus) {
	status.Name = pod.Spec.Containers[0].Name
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
}

func running(id string) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		ContainerID: id, Ready: true,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(startTime())}},
	}
}

func terminated(id, reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		ContainerID: id, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ContainerID: id, Reason: reason}},
	}
}

func deleting(pod *corev1.Pod) *corev1.Pod {
	pod.DeletionTimestamp = new(metav1.NewTime(startTime()))
	pod.Finalizers = []string{"test/keep"} // the fake client refuses deleted objects without one
	return pod
}

func testNode(name, bootID string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	node.Status.NodeInfo.BootID = bootID
	return node
}

func testLease(node string, renewed time.Time) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: node},
		Spec:       coordinationv1.LeaseSpec{RenewTime: new(metav1.NewMicroTime(renewed))},
	}
}

func testClient(funcs interceptor.Funcs, objects ...client.Object) client.WithWatch {
	return fake.NewClientBuilder().WithReturnManagedFields().WithInterceptorFuncs(funcs).WithObjects(objects...).Build()
}

func testReader(live client.Reader) (*Reader, *clienttesting.FakePassiveClock) {
	clock := clienttesting.NewFakePassiveClock(startTime())
	return &Reader{Live: live, Ledger: NewLedger(clock), Clock: clock}, clock
}

func lookAt(ctx context.Context, reader *Reader, cluster *ucv1.Cluster) observation.Observed[observation.ControlPlane] {
	plane, _ := reader.Look(ctx, cluster)
	return plane
}
