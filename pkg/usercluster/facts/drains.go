package facts

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// maxDrains is how many Machines are looked at: messages name fewer.
const maxDrains = 5

// Drains says what Machines that are being deleted wait for.
func (r *Reader) Drains(ctx context.Context, machines []observation.Machine) observation.Observed[[]observation.Drain] {
	if len(machines) == 0 {
		return observation.Known[[]observation.Drain](nil)
	}
	attachments, err := r.readAttachments(ctx)
	if err != nil {
		return observation.Unknown[[]observation.Drain](reads.Because("listing VolumeAttachments", err))
	}
	budgets, err := r.disruptionBudgets(ctx)
	if err != nil {
		return observation.Unknown[[]observation.Drain](reads.Because("listing PodDisruptionBudgets", err))
	}
	var drains []observation.Drain
	for _, machine := range machines[:min(len(machines), maxDrains)] {
		drain := observation.Drain{Machine: machine.Ref, Node: machine.NodeName, Finalizers: machine.Finalizers}
		if machine.NodeName != "" {
			err := reads.List(ctx, r.client, func() *corev1.PodList { return &corev1.PodList{} }, func(page *corev1.PodList) {
				drain.Pods = append(drain.Pods, reads.Keep(ctx, drainedPods(page.Items, budgets))...)
			}, client.MatchingFields{"spec.nodeName": machine.NodeName})
			if err != nil {
				return observation.Unknown[[]observation.Drain](reads.Because("listing the Pods of Node "+machine.NodeName, err))
			}
			drain.Attachments = attachedTo(machine.NodeName, attachments)
		}
		drains = append(drains, drain)
	}
	return observation.Known(drains)
}

// disruptionBudgets has what is known of a PodDisruptionBudget when a pod is judged.
func (r *Reader) disruptionBudgets(ctx context.Context) ([]policyv1.PodDisruptionBudget, error) {
	var budgets []policyv1.PodDisruptionBudget
	empty := func() *policyv1.PodDisruptionBudgetList { return &policyv1.PodDisruptionBudgetList{} }
	err := reads.List(ctx, r.client, empty, func(page *policyv1.PodDisruptionBudgetList) {
		for _, budget := range page.Items {
			budgets = append(budgets, reads.Keep(ctx, policyv1.PodDisruptionBudget{
				ObjectMeta: metav1.ObjectMeta{Namespace: budget.Namespace, Name: budget.Name},
				Spec:       policyv1.PodDisruptionBudgetSpec{Selector: budget.Spec.Selector},
				Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: budget.Status.DisruptionsAllowed},
			}))
		}
	})
	return budgets, err
}

func attachedTo(node string, attachments []observation.Attachment) []string {
	var names []string
	for _, attachment := range attachments {
		if attachment.Node == node {
			names = append(names, attachment.Name)
		}
	}
	return names
}

// drainedPods are those that an eviction takes: no pod of a DaemonSet, no mirror pod, none that ended.
func drainedPods(pods []corev1.Pod, budgets []policyv1.PodDisruptionBudget) []observation.DrainedPod {
	var drained []observation.DrainedPod
	for i := range pods {
		pod := &pods[i]
		_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
		owner := metav1.GetControllerOf(pod)
		if mirror || owner != nil && owner.Kind == "DaemonSet" || pod.Status.Phase == corev1.PodSucceeded ||
			pod.Status.Phase == corev1.PodFailed {
			continue
		}
		drained = append(drained, observation.DrainedPod{
			Namespace:  pod.Namespace,
			Name:       pod.Name,
			Budget:     blockingBudget(pod, budgets),
			Going:      pod.DeletionTimestamp != nil,
			Finalizers: pod.Finalizers,
		})
	}
	return drained
}

// blockingBudget is one that allows no eviction of the pod now, as namespace/name. More than one of them allow none at all: the
// eviction API refuses such a pod. https://kubernetes.io/docs/tasks/run-application/configure-pdb/
func blockingBudget(pod *corev1.Pod, budgets []policyv1.PodDisruptionBudget) observation.Ref {
	matching, blocking := 0, observation.Ref{}
	for _, budget := range budgets {
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err != nil || budget.Namespace != pod.Namespace || !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		matching++
		if budget.Status.DisruptionsAllowed == 0 || matching > 1 {
			blocking = observation.Ref{Kind: "PodDisruptionBudget", Namespace: budget.Namespace, Name: budget.Name}
		}
	}
	return blocking
}
