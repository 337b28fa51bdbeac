package controller

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/rolling"
)

// ensureNewest makes the set of the current template, or brings the one that
// exists up to date, and copies its revision to the MachineDeployment. A set that
// was only changed ends the pass, as with the real one (getNewMachineSet).
func (r *deploymentReconciler) ensureNewest(
	ctx context.Context, deployment *machines.MachineDeployment, owned *sets, limits rolling.Limits,
) (changed bool, err error) {
	var revision int64 = 1
	for _, set := range owned.old {
		revision = max(revision, machines.Revision(set)+1)
	}
	if owned.newest == nil {
		set := newSet(deployment, owned.hash, revision, limits)
		start := rolling.NewReplicas(limits, rolling.Set{}, arithmetic(owned.old))
		set.Spec.Replicas = &start
		if err := r.client.Create(ctx, set); err != nil {
			return false, fmt.Errorf("create MachineSet %s: %w", set.Name, err)
		}
		owned.newest = set
		ctrl.LoggerFrom(ctx).Info("new revision", "machineSet", set.Name, "revision", revision)
	} else if changed, err := r.refresh(ctx, deployment, owned.newest, revision); changed || err != nil {
		return changed, err
	}
	if machines.Revision(deployment) == machines.Revision(owned.newest) {
		return false, nil
	}
	// deployment has defaults that were never stored; patch nothing but this.
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`,
		machines.RevisionAnnotation, owned.newest.Annotations[machines.RevisionAnnotation])
	target := &machines.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: deployment.Namespace, Name: deployment.Name}}
	if err := r.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		return false, fmt.Errorf("write the revision of MachineDeployment %s: %w", deployment.Name, err)
	}
	return false, nil
}

func newSet(deployment *machines.MachineDeployment, hash string, revision int64, limits rolling.Limits) *machines.MachineSet {
	template := deployment.Spec.Template.DeepCopy()
	template.Labels = with(template.Labels, machines.TemplateHashLabel, hash)
	selector := deployment.Spec.Selector.DeepCopy()
	selector.MatchLabels = with(selector.MatchLabels, machines.TemplateHashLabel, hash)
	set := &machines.MachineSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   deployment.Namespace,
			Name:        deployment.Name + "-" + hash,
			Labels:      maps.Clone(template.Labels),
			Annotations: inherited(deployment.Annotations),
			Finalizers:  []string{metav1.FinalizerDeleteDependents},
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(deployment, machines.GroupVersion().WithKind("MachineDeployment")),
			},
		},
		Spec: machines.MachineSetSpec{
			MinReadySeconds: *deployment.Spec.MinReadySeconds, Selector: *selector, Template: *template,
		},
	}
	set.Annotations = with(set.Annotations, machines.RevisionAnnotation, strconv.FormatInt(revision, 10))
	noteLimits(set, limits)
	return set
}

// refresh gives a set whose template came back the newest number, and follows
// fields and annotations that are no part of the template.
func (r *deploymentReconciler) refresh(
	ctx context.Context, deployment *machines.MachineDeployment, set *machines.MachineSet, revision int64,
) (changed bool, err error) {
	before := set.DeepCopy()
	if current := machines.Revision(set); current > 0 && current < revision {
		history := append(
			strings.FieldsFunc(set.Annotations[machines.RevisionHistoryAnnotation], func(c rune) bool { return c == ',' }),
			strconv.FormatInt(current, 10),
		)
		set.Annotations[machines.RevisionHistoryAnnotation] = strings.Join(history, ",")
	}
	set.Annotations = with(
		set.Annotations,
		machines.RevisionAnnotation,
		strconv.FormatInt(max(revision, machines.Revision(set)), 10),
	)
	maps.Copy(set.Annotations, inherited(deployment.Annotations))
	set.Spec.MinReadySeconds = *deployment.Spec.MinReadySeconds
	if equality.Semantic.DeepEqual(before, set) {
		return false, nil
	}
	if err := r.client.Patch(ctx, set, client.MergeFrom(before)); err != nil {
		return false, fmt.Errorf("update MachineSet %s: %w", set.Name, err)
	}
	return true, nil
}

// forget deletes the oldest empty sets beyond the history limit.
func (r *deploymentReconciler) forget(ctx context.Context, owned *sets, limit int) error {
	var empty []*machines.MachineSet
	for _, set := range owned.old {
		if replicas(set) == 0 && set.Status.Replicas == 0 && set.Status.ObservedGeneration >= set.Generation {
			empty = append(empty, set)
		}
	}
	slices.SortFunc(empty, func(a, b *machines.MachineSet) int {
		return cmp.Compare(machines.Revision(b), machines.Revision(a))
	})
	for _, set := range empty[min(limit, len(empty)):] {
		if err := r.client.Delete(ctx, set); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete old MachineSet %s: %w", set.Name, err)
		}
	}
	return nil
}

// noteLimits of the MachineDeployment whenever a set is scaled.
func noteLimits(set *machines.MachineSet, limits rolling.Limits) {
	set.Annotations = with(set.Annotations, machines.DesiredReplicasAnnotation, strconv.Itoa(int(limits.Replicas)))
	set.Annotations[machines.MaxReplicasAnnotation] = strconv.Itoa(int(limits.Replicas + limits.MaxSurge))
}

func inherited(annotations map[string]string) map[string]string {
	out := maps.Clone(annotations)
	for _, own := range []string{
		corev1.LastAppliedConfigAnnotation, machines.RevisionAnnotation, machines.RevisionHistoryAnnotation,
		machines.DesiredReplicasAnnotation, machines.MaxReplicasAnnotation,
	} {
		delete(out, own)
	}
	return out
}

func with(in map[string]string, key, value string) map[string]string {
	out := maps.Clone(in)
	if out == nil {
		out = map[string]string{}
	}
	out[key] = value
	return out
}
