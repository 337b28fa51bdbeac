package controller

import (
	"context"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/rolling"
)

type deploymentReconciler struct {
	client client.Client
}

// sets are the MachineSets of one MachineDeployment. newest has its template and
// is nil while no such set exists.
type sets struct {
	hash   string
	newest *machines.MachineSet
	old    []*machines.MachineSet
}

func (s *sets) all() []*machines.MachineSet {
	if s.newest == nil {
		return s.old
	}
	return append([]*machines.MachineSet{s.newest}, s.old...)
}

// Reconcile moves one MachineDeployment one step further.
func (r *deploymentReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	stored := &machines.MachineDeployment{}
	if err := r.client.Get(ctx, request.NamespacedName, stored); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if stored.DeletionTimestamp != nil {
		// The garbage collector takes the MachineSets.
		return ctrl.Result{}, nil
	}
	if added, err := deletesInOrder(ctx, r.client, stored); added || err != nil {
		return ctrl.Result{RequeueAfter: soon}, err
	}
	deployment := stored.DeepCopy()
	machines.SetDefaults(&deployment.Spec)
	owned, err := r.sets(ctx, deployment)
	if err != nil {
		return ctrl.Result{}, err
	}
	update := deployment.Spec.Strategy.RollingUpdate
	limits, err := rolling.Resolve(*deployment.Spec.Replicas, update.MaxSurge, update.MaxUnavailable)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("MachineDeployment %s: %w", deployment.Name, err)
	}
	if deployment.Spec.Paused {
		err = r.scalePaused(ctx, deployment, owned, limits)
	} else {
		err = r.roll(ctx, deployment, owned, limits)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.report(ctx, stored, owned)
}

func (r *deploymentReconciler) sets(ctx context.Context, deployment *machines.MachineDeployment) (*sets, error) {
	hash, err := machines.TemplateHash(&deployment.Spec.Template)
	if err != nil {
		return nil, fmt.Errorf("MachineDeployment %s: %w", deployment.Name, err)
	}
	list := &machines.MachineSetList{}
	if err := r.client.List(ctx, list, client.InNamespace(deployment.Namespace)); err != nil {
		return nil, fmt.Errorf("list MachineSets: %w", err)
	}
	out := &sets{hash: hash}
	for i := range list.Items {
		set := &list.Items[i]
		switch {
		case !metav1.IsControlledBy(set, deployment) || set.DeletionTimestamp != nil:
		case set.Labels[machines.TemplateHashLabel] == hash:
			out.newest = set
		default:
			out.old = append(out.old, set)
		}
	}
	return out, nil
}

func (r *deploymentReconciler) roll(
	ctx context.Context,
	deployment *machines.MachineDeployment,
	owned *sets,
	limits rolling.Limits,
) error {
	if changed, err := r.ensureNewest(ctx, deployment, owned, limits); changed || err != nil {
		return err
	}
	newest, old := arithmetic([]*machines.MachineSet{owned.newest})[0], arithmetic(owned.old)
	want := rolling.NewReplicas(limits, newest, old)
	if want != newest.Replicas {
		return r.scale(ctx, owned.all(), map[string]int32{newest.Name: want}, limits)
	}
	if err := r.scale(ctx, owned.old, rolling.OldReplicas(limits, newest, old), limits); err != nil {
		return err
	}
	if !complete(deployment, owned) {
		return nil
	}
	return r.forget(ctx, owned, int(*deployment.Spec.RevisionHistoryLimit))
}

// scalePaused leaves the newest set out of a pass that changes its minReadySeconds or an annotation of it, as the real one does.
func (r *deploymentReconciler) scalePaused(
	ctx context.Context,
	deployment *machines.MachineDeployment,
	owned *sets,
	limits rolling.Limits,
) error {
	var newest *rolling.Set
	if set := owned.newest; set != nil {
		changed, err := r.refresh(ctx, deployment, set, machines.Revision(set))
		if err != nil {
			return err
		}
		if !changed {
			newest = &arithmetic([]*machines.MachineSet{set})[0]
		}
	}
	return r.scale(ctx, owned.all(), rolling.Paused(limits, newest, arithmetic(owned.old)), limits)
}

// scale patches the sets that targets names; the sets show it afterwards.
func (r *deploymentReconciler) scale(
	ctx context.Context,
	owned []*machines.MachineSet,
	targets map[string]int32,
	limits rolling.Limits,
) error {
	for _, set := range owned {
		target, change := targets[set.Name]
		if !change {
			continue
		}
		before := set.DeepCopy()
		set.Spec.Replicas = &target
		noteLimits(set, limits)
		if err := r.client.Patch(ctx, set, client.MergeFrom(before)); err != nil {
			return fmt.Errorf("scale MachineSet %s to %d: %w", set.Name, target, err)
		}
		ctrl.LoggerFrom(ctx).Info("scaled", "machineSet", set.Name, "replicas", target)
	}
	return nil
}

// report writes the status of the MachineDeployment if it changed. Machines that
// are being deleted count nowhere, as with the real one.
func (r *deploymentReconciler) report(ctx context.Context, deployment *machines.MachineDeployment, owned *sets) error {
	status := statusOf(deployment, owned)
	if equality.Semantic.DeepEqual(status, deployment.Status) {
		return nil
	}
	before := deployment.DeepCopy()
	deployment.Status = status
	if err := r.client.Status().Patch(ctx, deployment, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("write the status of MachineDeployment %s: %w", deployment.Name, err)
	}
	return nil
}

func statusOf(deployment *machines.MachineDeployment, owned *sets) machines.MachineDeploymentStatus {
	status := machines.MachineDeploymentStatus{ObservedGeneration: deployment.Generation}
	var wanted int32
	for _, set := range owned.all() {
		wanted += replicas(set)
		status.Replicas += set.Status.Replicas
		status.ReadyReplicas += set.Status.ReadyReplicas
		status.AvailableReplicas += set.Status.AvailableReplicas
	}
	if owned.newest != nil {
		status.UpdatedReplicas = owned.newest.Status.Replicas
	}
	status.UnavailableReplicas = max(wanted-status.AvailableReplicas, 0)
	return status
}

func complete(deployment *machines.MachineDeployment, owned *sets) bool {
	status, want := statusOf(deployment, owned), *deployment.Spec.Replicas
	return status.UpdatedReplicas == want && status.Replicas == want && status.AvailableReplicas == want
}

func replicas(set *machines.MachineSet) int32 {
	if set.Spec.Replicas == nil {
		return 1
	}
	return *set.Spec.Replicas
}

func arithmetic(owned []*machines.MachineSet) []rolling.Set {
	out := make([]rolling.Set, 0, len(owned))
	for _, set := range owned {
		out = append(out, rolling.Set{
			Name:      set.Name,
			Replicas:  replicas(set),
			Available: set.Status.AvailableReplicas,
			Created:   set.CreationTimestamp.Time,
			Desired:   number(set.Annotations[machines.DesiredReplicasAnnotation]),
			Most:      number(set.Annotations[machines.MaxReplicasAnnotation]),
		})
	}
	return out
}

// number of an annotation; 0 where there is none.
func number(text string) int32 {
	value, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int32(value)
}
