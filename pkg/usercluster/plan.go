package usercluster

import (
	"context"
	"slices"
	"sync"

	"github.com/fluxcd/pkg/ssa"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

// DryRun is the same way into the user cluster, on which nothing can be changed: every request that would change something, and
// every review, asks for a dry run. It watches nothing, and remembers no comparison; what preflight read it shares.
func (s *Session) DryRun() *Session {
	dry := s.parts
	dry.client, dry.watches = client.NewDryRunClient(s.client), watches.New(watches.Clients{}, func() {}, s.log)
	if s.beside.client != nil {
		dry.beside.client = client.NewDryRunClient(s.beside.client)
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

// DryObjects is what the API server's dry run says of the objects of the sets, by their names. What would not change is not
// there.
func (s *Session) DryObjects(ctx context.Context, inventory []InventoryEntry, sets ...provider.Set) (map[string]plan.Object, error) {
	var objects []*unstructured.Unstructured
	for _, set := range sets {
		set, err := s.WithoutOthers(ctx, inventory, set)
		if err != nil {
			return nil, err
		}
		objects = append(objects, set.Objects...)
	}
	found := make([]*plan.Object, len(objects))
	if err := reads.Concurrently(ctx, len(found), func(ctx context.Context, i int) (err error) {
		found[i], err = s.dryObject(ctx, objects[i].DeepCopy())
		return err
	}); err != nil {
		return nil, err
	}
	dry := map[string]plan.Object{}
	for _, object := range found {
		if object != nil {
			dry[object.Object] = *object
		}
	}
	return dry, nil
}

func (s *Session) dryObject(ctx context.Context, want *unstructured.Unstructured) (*plan.Object, error) {
	dry := &plan.Object{Object: reads.RefOf(want).String(), Action: plan.Change}
	live, err := s.get(ctx, want)
	switch {
	case meta.IsNoMatchError(err):
		dry.Action, dry.Note = plan.Create, "a dry run cannot show it, because its definition is applied before it"
		return dry, nil
	case apierrors.IsNotFound(err):
		dry.Action = plan.Create
		return dry, s.dryCreate(ctx, want, dry)
	case err != nil:
		return nil, reads.Unseen(reads.Because("reading "+dry.Object, err))
	}
	compared := s.planOf(ctx, want, live)
	if compared.Problem != "" {
		dry.Note = compared.Problem
	}
	for _, change := range compared.Changes {
		dry.Changes = append(dry.Changes, plan.FieldChange(change))
	}
	if dry.Note == "" && len(dry.Changes) == 0 {
		return nil, nil
	}
	return dry, nil
}

// dryCreate notes what the API server says against a new object: an admission webhook, for example.
func (s *Session) dryCreate(ctx context.Context, want *unstructured.Unstructured, dry *plan.Object) error {
	switch _, _, _, err := manager(s.clientOf(want)).Diff(ctx, want, ssa.DefaultDiffOptions()); {
	case apierrors.IsNotFound(err):
		dry.Note = "a dry run cannot show it, because its namespace or its definition is not there yet"
	case err != nil && ctx.Err() != nil:
		return reads.Unseen(reads.Because("comparing "+dry.Object, err))
	case err != nil:
		dry.Note = refusal(err)
	}
	return nil
}

// Refs names the objects of a set.
func Refs(objects []*unstructured.Unstructured) []observation.Ref {
	refs := make([]observation.Ref, 0, len(objects))
	for _, object := range objects {
		refs = append(refs, reads.RefOf(object))
	}
	return refs
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
