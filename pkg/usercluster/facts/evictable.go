package facts

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// Evictable are the pods that have to move when their Nodes go, and the PodDisruptionBudgets that have a say in it.
func (r *Reader) Evictable(ctx context.Context) observation.Observed[plan.Pods] {
	found := plan.Pods{OnNode: map[string]int{}}
	budgets, err := r.disruptionBudgets(ctx)
	if err != nil {
		return observation.Unknown[plan.Pods](reads.Because("listing PodDisruptionBudgets", err))
	}
	guards := guardsOf(budgets)
	err = reads.Pages(ctx, r.client, "pods", func() *corev1.PodList { return &corev1.PodList{} }, func(list *corev1.PodList) {
		for i := range list.Items {
			pod := &list.Items[i]
			if !evictable(pod) {
				continue
			}
			found.OnNode[reads.Keep(ctx, pod.Spec.NodeName)]++
			for j := range guards {
				if guards[j].namespace == pod.Namespace && guards[j].selector.Matches(labels.Set(pod.Labels)) {
					guards[j].budget.Nodes = append(guards[j].budget.Nodes, reads.Keep(ctx, pod.Spec.NodeName))
				}
			}
		}
	})
	if err != nil {
		return observation.Unknown[plan.Pods](err.Error())
	}
	for _, guard := range guards {
		found.Budgets = append(found.Budgets, guard.budget)
	}
	return observation.Known(found)
}

// guard is a PodDisruptionBudget with its selector.
type guard struct {
	namespace string
	selector  labels.Selector
	budget    plan.PodBudget
}

func guardsOf(budgets []policyv1.PodDisruptionBudget) []guard {
	var guards []guard
	for _, budget := range budgets {
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err != nil {
			continue // The API server refuses such a one; it guards nothing.
		}
		guards = append(guards, guard{budget.Namespace, selector, plan.PodBudget{
			Name: budget.Namespace + "/" + budget.Name, Allowed: budget.Status.DisruptionsAllowed,
		}})
	}
	return guards
}

// evictable: a drain leaves mirror pods and those of DaemonSets, and what has finished is in no one's way.
func evictable(pod *corev1.Pod) bool {
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	finished := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	daemon := slices.ContainsFunc(pod.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.Kind == "DaemonSet" })
	return !mirror && !finished && !daemon && pod.Spec.NodeName != ""
}
