package usercluster

import (
	"context"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

// DryRun is the same way into the user cluster, on which nothing can be changed: every request that would change something, and
// every review, asks for a dry run. It watches nothing, and remembers no comparison; what preflight read it shares.
func (s *Session) DryRun() *Session {
	dry := s.parts
	dry.client, dry.watches = client.NewDryRunClient(s.client), watches.New(watches.Clients{}, func() {}, s.log)
	if s.beside.Client != nil {
		dry.beside.Client = client.NewDryRunClient(s.beside.Client)
	}
	reading := newSession(dry)
	reading.Leases.Remember(s.Leases)
	reading.preflight = s.preflight
	return reading
}

// planMemory is the plan that was made last, and of which generation of the Cluster.
type planMemory struct {
	mu         sync.Mutex
	generation int64
	plan       observation.ForeseenPlan
}

// KeptPlan is empty when none was made of this generation of the Cluster.
func (s *Session) KeptPlan(generation int64) observation.ForeseenPlan {
	s.plan.mu.Lock()
	defer s.plan.mu.Unlock()
	if s.plan.generation != generation {
		return observation.ForeseenPlan{}
	}
	return s.plan.plan
}

// KeepPlan for later passes.
func (s *Session) KeepPlan(generation int64, plan observation.ForeseenPlan) {
	s.plan.mu.Lock()
	defer s.plan.mu.Unlock()
	s.plan.generation, s.plan.plan = generation, plan
}

// Evictable are the pods that have to move when their Nodes go, and the PodDisruptionBudgets that have a say in it.
func (s *Session) Evictable(ctx context.Context) observation.Observed[plan.Pods] {
	found := plan.Pods{OnNode: map[string]int{}}
	budgets, err := s.disruptionBudgets(ctx)
	if err != nil {
		return observation.Unknown[plan.Pods](reads.Because("listing PodDisruptionBudgets", err))
	}
	guards := guardsOf(budgets)
	err = reads.Pages(ctx, s.client, "pods", func() *corev1.PodList { return &corev1.PodList{} }, func(list *corev1.PodList) {
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
