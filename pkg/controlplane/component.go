package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// workloads are the ReplicaSets and pods that Deployments are looked for among.
type workloads struct {
	sets map[types.UID]*appsv1.ReplicaSet
	pods []corev1.Pod
}

// listWorkloads lists ReplicaSets before pods: a pod of a ReplicaSet made in between then counts as an orphan, and is
// seen; the other way round its ReplicaSet would be there without it.
func listWorkloads(ctx context.Context, reader client.Reader, options ...client.ListOption) (workloads, error) {
	sets, pods := &appsv1.ReplicaSetList{}, &corev1.PodList{}
	if err := reader.List(ctx, sets, options...); err != nil {
		return workloads{}, fmt.Errorf("list ReplicaSets of the control plane: %w", err)
	}
	if err := reader.List(ctx, pods, options...); err != nil {
		return workloads{}, fmt.Errorf("list Pods of the control plane: %w", err)
	}
	work := workloads{sets: map[types.UID]*appsv1.ReplicaSet{}, pods: pods.Items}
	for i := range sets.Items {
		work.sets[sets.Items[i].UID] = &sets.Items[i]
	}
	return work, nil
}

// membership finds a Deployment's pods, the stray ones included.
type membership struct {
	deployment *appsv1.Deployment
	container  string
	selector   labels.Selector
	sets       map[types.UID]*appsv1.ReplicaSet
}

func selectorOf(deployment *appsv1.Deployment) (labels.Selector, error) {
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("read the selector of Deployment %s/%s: %w", deployment.Namespace, deployment.Name, err)
	}
	return selector, nil
}

// newComponent is the Deployment with its pods; recorded are UIDs of pods that belong to it whatever they look like now.
func newComponent(
	deployment *appsv1.Deployment,
	container string,
	work workloads,
	recorded map[types.UID]ucv1.ManagerProcess,
) (observation.Component, error) {
	selector, err := selectorOf(deployment)
	if err != nil {
		return observation.Component{}, err
	}
	members := membership{deployment: deployment, container: container, selector: selector, sets: work.sets}
	ref := observation.Ref{
		Kind: "Deployment", Namespace: deployment.Namespace, Name: deployment.Name, UID: string(deployment.UID),
	}
	component := observation.Component{
		Ref: ref, Container: container, Replicas: replicas(deployment),
		Arguments:  argumentsOf(deployment.Spec.Template.Spec.Containers, container),
		RolledOut:  statusIsComplete(deployment),
		FieldOwner: fieldOwner(deployment, container), Reconcilers: reconcilersOf(deployment, container),
	}
	for i := range work.pods {
		pod := &work.pods[i]
		if _, known := recorded[pod.UID]; !known && !members.has(pod) {
			continue
		}
		process := newProcess(pod, container)
		component.Pods = append(component.Pods, process)
		over := hasFinished(pod) && (process.Ended || !process.Started)
		if !over && !members.isNewest(pod) {
			component.RolledOut = false
		}
	}
	slices.SortFunc(component.Pods, func(a, b observation.Process) int { return strings.Compare(a.PodName, b.PodName) })
	return component, nil
}

// has says whether the pod is one of the Deployment: of a ReplicaSet of its, or one that no one owns any more and that
// it would select, or that runs a container of that name.
func (m membership) has(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return m.selects(pod) || containerNamed(pod.Spec.Containers, m.container) != nil
	}
	if owner.Kind != "ReplicaSet" {
		return false
	}
	set, exists := m.sets[owner.UID]
	if !exists {
		return m.selects(pod)
	}
	return m.owns(set) || metav1.GetControllerOf(set) == nil && m.selects(pod)
}

// owns also says yes for a Deployment of the same name: that one was deleted and made again, and its pods are on the way
// out.
func (m membership) owns(set *appsv1.ReplicaSet) bool {
	owner := metav1.GetControllerOf(set)
	return owner != nil && owner.Kind == "Deployment" && (owner.UID == m.deployment.UID || owner.Name == m.deployment.Name)
}

func (m membership) selects(pod *corev1.Pod) bool {
	return m.selector.Matches(labels.Set(pod.Labels))
}

// isNewest says whether the pod was made from the Deployment's present template.
func (m membership) isNewest(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return false
	}
	set, exists := m.sets[owner.UID]
	if !exists || !m.owns(set) {
		return false
	}
	template := set.Spec.Template.DeepCopy()
	delete(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return equality.Semantic.DeepEqual(*template, m.deployment.Spec.Template)
}

func replicas(deployment *appsv1.Deployment) int32 {
	if deployment.Spec.Replicas == nil {
		return 1
	}
	return *deployment.Spec.Replicas
}

// statusIsComplete says what the status alone can: it knows nothing of terminating pods.
func statusIsComplete(deployment *appsv1.Deployment) bool {
	want, status := replicas(deployment), deployment.Status
	return status.ObservedGeneration >= deployment.Generation && status.UpdatedReplicas == want &&
		status.Replicas == want && status.AvailableReplicas >= want
}
