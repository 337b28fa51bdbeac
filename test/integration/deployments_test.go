package integration_test

import (
	"fmt"
	"slices"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// kcm is the name of kube-controller-manager's Deployment and container.
const kcm = "kube-controller-manager"

// loopsOn are the arguments of a KCM that runs cloud loops.
func loopsOn() []string {
	return []string{
		"--cloud-provider=simcloud", "--cloud-config=/etc/cloud/cloud.conf", "--controllers=*,bootstrapsigner",
		"--feature-gates=DisableCloudProviders=false", "--cluster-name=alpha-1", "--leader-elect=true",
	}
}

// managementNode makes the Node that the pods of the control plane run on.
func (w *world) managementNode() {
	w.t.Helper()
	g := NewWithT(w.t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	g.Expect(suite.client.Create(w.t.Context(), node)).To(Succeed())
	node.Status.NodeInfo.BootID = "boot-1"
	g.Expect(suite.client.Status().Update(w.t.Context(), node)).To(Succeed())
}

// deploy makes a Deployment of the control plane whose pods all run.
func (w *world) deploy(name string, replicas int32, command ...string) {
	w.t.Helper()
	labels := map[string]string{"app": name}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: new(int64(5)),
					Containers: []corev1.Container{{Name: name, Image: "registry.example/" + name +
						":v1.30.14", Command: command}},
				},
			},
		},
	}
	NewWithT(w.t).Expect(suite.client.Create(w.t.Context(), deployment)).To(Succeed())
	w.playDeployment(name)
}

// deployControlPlane is a KCM with these arguments, and the three Deployments of the machine-controller.
func (w *world) deployControlPlane(arguments ...string) {
	w.t.Helper()
	w.managementNode()
	w.deploy(kcm, 2, append([]string{kcm}, arguments...)...)
	for _, name := range machineControllers() {
		w.deploy(name, 1, name, "-logtostderr")
	}
}

func machineControllers() []string {
	return []string{"machine-controller", "machine-controller-webhook", "operating-system-manager"}
}

// playControlPlane plays all Deployments that are not settled: kube-controller-manager move by move, so that its ends can
// be seen, and the others until they are.
func (w *world) playControlPlane() {
	w.t.Helper()
	for _, name := range w.unsettled() {
		moves := 3
		if name == kcm {
			moves = 1
		}
		for range moves {
			w.playDeployment(name)
		}
	}
}

// unsettled are the Deployments that the Deployment controller or the kubelet has something to do for.
func (w *world) unsettled() (names []string) {
	w.t.Helper()
	g := NewWithT(w.t)
	deployments, pods := &appsv1.DeploymentList{}, &corev1.PodList{}
	g.Expect(suite.client.List(w.t.Context(), deployments, client.InNamespace(w.namespace))).To(Succeed())
	g.Expect(suite.client.List(w.t.Context(), pods, client.InNamespace(w.namespace))).To(Succeed())
	count := map[string]int{}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil {
			count[pod.Labels["app"]]++
		} else {
			count[pod.Labels["app"]] = -len(pods.Items)
		}
	}
	for _, deployment := range deployments.Items {
		if deployment.Labels[manifest.ClusterLabel] != "" {
			continue // playBeside has those.
		}
		replicas, status := *deployment.Spec.Replicas, deployment.Status
		if status.ObservedGeneration != deployment.Generation || status.UpdatedReplicas != replicas ||
			count[deployment.Name] != int(replicas) {
			names = append(names, deployment.Name)
		}
	}
	return names
}

// playDeployment is one move of the Deployment controller and the kubelet: pods that have ended go, those that are told to go
// end, and then new ones start and old ones are told to go.
func (w *world) playDeployment(name string) {
	w.t.Helper()
	for _, pod := range w.pods(name) {
		switch {
		case pod.DeletionTimestamp == nil:
		case pod.Status.ContainerStatuses[0].State.Terminated != nil:
			w.forceDelete(&pod)
		default:
			w.endProcess(&pod)
		}
	}
	w.rollPods(name)
}

// rollPods starts the pods of the present template, and tells those of earlier ones to go; their kubelet has not done so
// yet.
func (w *world) rollPods(name string) {
	w.t.Helper()
	deployment := w.deployment(name)
	newest := w.newest(deployment)
	w.startPods(newest)
	for _, pod := range w.pods(name) {
		if pod.DeletionTimestamp == nil && !metav1.IsControlledBy(&pod, newest) {
			NewWithT(w.t).Expect(suite.client.Delete(w.t.Context(), &pod)).To(Succeed())
		}
	}
	w.report(deployment, newest)
}

func (w *world) deployment(name string) *appsv1.Deployment {
	w.t.Helper()
	deployment := &appsv1.Deployment{}
	NewWithT(w.t).Expect(
		suite.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, deployment),
	).To(Succeed())
	return deployment
}

// arguments of the Deployment's template.
func (w *world) arguments(name string) []string {
	w.t.Helper()
	container := w.deployment(name).Spec.Template.Spec.Containers[0]
	return slices.Concat(container.Command, container.Args)
}

func (w *world) pods(name string) []corev1.Pod {
	w.t.Helper()
	pods := &corev1.PodList{}
	NewWithT(w.t).Expect(
		suite.client.List(w.t.Context(), pods, client.InNamespace(w.namespace), client.MatchingLabels{"app": name}),
	).To(Succeed())
	return pods.Items
}

// newest is the ReplicaSet of the present template; it is made when it is missing.
func (w *world) newest(deployment *appsv1.Deployment) *appsv1.ReplicaSet {
	w.t.Helper()
	g, name := NewWithT(w.t), deployment.Name
	sets := &appsv1.ReplicaSetList{}
	g.Expect(suite.client.List(w.t.Context(), sets, client.InNamespace(w.namespace), client.MatchingLabels{"app": name})).To(
		Succeed(),
	)
	for i := range sets.Items {
		template := sets.Items[i].Spec.Template.DeepCopy()
		delete(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
		if equality.Semantic.DeepEqual(*template, deployment.Spec.Template) {
			return &sets.Items[i]
		}
	}
	hash := fmt.Sprintf("r%d", len(sets.Items)+1)
	template := *deployment.Spec.Template.DeepCopy()
	template.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace,
			Name:      name + "-" + hash,
			Labels:    template.Labels,
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment")),
			},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: deployment.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: template.Labels},
			Template: template,
		},
	}
	g.Expect(suite.client.Create(w.t.Context(), set)).To(Succeed())
	return set
}

func (w *world) startPods(set *appsv1.ReplicaSet) {
	w.t.Helper()
	for i := range *set.Spec.Replicas {
		w.startPod(set, fmt.Sprintf("%s-%d", set.Name, i))
	}
}

func (w *world) startPod(set *appsv1.ReplicaSet, name string) {
	w.t.Helper()
	g := NewWithT(w.t)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: name, Labels: set.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
		},
		Spec: *set.Spec.Template.Spec.DeepCopy(),
	}
	pod.Spec.NodeName = w.namespace
	if err := suite.client.Create(w.t.Context(), pod); apierrors.IsAlreadyExists(err) {
		return
	} else if err != nil {
		w.t.Fatal(err)
	}
	pod.Status = corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: pod.Spec.Containers[0].Name, ContainerID: "containerd://" + name, Ready: true,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(w.clock.Now())}},
		}},
	}
	g.Expect(suite.client.Status().Update(w.t.Context(), pod)).To(Succeed())
}

// endTerminating has the kubelet end the containers of pods that were told to go.
func (w *world) endTerminating(name string) {
	w.t.Helper()
	for _, pod := range w.pods(name) {
		if pod.DeletionTimestamp != nil && pod.Status.ContainerStatuses[0].State.Running != nil {
			w.endProcess(&pod)
		}
	}
}

func (w *world) endProcess(pod *corev1.Pod) {
	w.t.Helper()
	container := &pod.Status.ContainerStatuses[0]
	pod.Status.Phase, container.Ready = corev1.PodSucceeded, false
	container.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ContainerID: container.ContainerID, Reason: "Completed",
		StartedAt: container.State.Running.StartedAt, FinishedAt: metav1.NewTime(w.clock.Now()),
	}}
	NewWithT(w.t).Expect(suite.client.Status().Update(w.t.Context(), pod)).To(Succeed())
}

func (w *world) forceDelete(pod *corev1.Pod) {
	w.t.Helper()
	NewWithT(w.t).Expect(suite.client.Delete(w.t.Context(), pod, client.GracePeriodSeconds(0))).To(Succeed())
}

// report writes the status as the Deployment controller does; terminating pods do not count.
func (w *world) report(deployment *appsv1.Deployment, newest *appsv1.ReplicaSet) {
	w.t.Helper()
	status := appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation}
	for _, pod := range w.pods(deployment.Name) {
		if pod.DeletionTimestamp != nil {
			continue
		}
		status.Replicas++
		status.AvailableReplicas++
		status.ReadyReplicas++
		if metav1.IsControlledBy(&pod, newest) {
			status.UpdatedReplicas++
		}
	}
	if equality.Semantic.DeepEqual(deployment.Status, status) {
		return
	}
	deployment.Status = status
	NewWithT(w.t).Expect(suite.client.Status().Update(w.t.Context(), deployment)).To(Succeed())
}
