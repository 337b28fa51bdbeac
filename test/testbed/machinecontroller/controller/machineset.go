package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

type setReconciler struct {
	client client.Client
	clock  clock.PassiveClock
}

// Reconcile makes or deletes Machines of one MachineSet and counts them.
func (r *setReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	set := &machines.MachineSet{}
	if err := r.client.Get(ctx, request.NamespacedName, set); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if set.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	list := &machines.MachineList{}
	if err := r.client.List(ctx, list, client.InNamespace(set.Namespace)); err != nil {
		return ctrl.Result{}, fmt.Errorf("list Machines: %w", err)
	}
	var active []*machines.Machine
	for i := range list.Items {
		machine := &list.Items[i]
		if metav1.IsControlledBy(machine, set) && machine.DeletionTimestamp == nil {
			active = append(active, machine)
		}
	}
	failed := r.manage(ctx, set, active)
	wait, err := r.count(ctx, set, active)
	if failed != nil {
		return ctrl.Result{}, failed
	}
	return ctrl.Result{RequeueAfter: wait}, err
}

func (r *setReconciler) manage(ctx context.Context, set *machines.MachineSet, active []*machines.Machine) error {
	want := int(replicas(set))
	for range want - len(active) {
		machine := newMachine(set)
		if err := r.client.Create(ctx, machine); err != nil {
			return fmt.Errorf("create Machine %s: %w", machine.Name, err)
		}
		ctrl.LoggerFrom(ctx).Info("created", "machine", machine.Name)
	}
	if len(active) <= want {
		return nil
	}
	expendable(active)
	for _, machine := range active[:len(active)-want] {
		if err := r.client.Delete(ctx, machine); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete Machine %s: %w", machine.Name, err)
		}
		ctrl.LoggerFrom(ctx).Info("deleted", "machine", machine.Name)
	}
	return nil
}

// expendable puts the Machines first that are marked or have an error; of the
// others the real one takes any, ready or not.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machineset/delete_policy.go
func expendable(active []*machines.Machine) {
	shuffled := make([]*machines.Machine, 0, len(active))
	for _, at := range rand.Perm(len(active)) {
		shuffled = append(shuffled, active[at])
	}
	copy(active, shuffled)
	slices.SortStableFunc(active, func(a, b *machines.Machine) int { return cmp.Compare(worth(a), worth(b)) })
}

func worth(machine *machines.Machine) int {
	if machine.Annotations[machines.DeleteMachineAnnotation] != "" || machine.Status.ErrorReason != nil ||
		machine.Status.ErrorMessage != nil {
		return 0
	}
	return 1
}

func newMachine(set *machines.MachineSet) *machines.Machine {
	template := set.Spec.Template.DeepCopy()
	return &machines.Machine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: set.Name + "-" + rand.String(5),
			Labels: template.Labels, Annotations: template.Annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, machines.GroupVersion().WithKind("MachineSet"))},
		},
		Spec: template.Spec,
	}
}

// count writes the status and says when the next Machine may become available.
func (r *setReconciler) count(ctx context.Context, set *machines.MachineSet, active []*machines.Machine) (time.Duration, error) {
	status := machines.MachineSetStatus{
		Replicas: int32(len(active)), FullyLabeledReplicas: int32(len(active)), ObservedGeneration: set.Generation,
	}
	var next time.Duration
	for _, machine := range active {
		ready := machine.Ready()
		if ready == nil || ready.Status != corev1.ConditionTrue {
			continue
		}
		status.ReadyReplicas++
		left := time.Duration(set.Spec.MinReadySeconds)*time.Second - r.clock.Since(ready.LastTransitionTime.Time)
		if set.Spec.MinReadySeconds == 0 || left <= 0 {
			status.AvailableReplicas++
		} else if next == 0 || left < next {
			next = left
		}
	}
	if equality.Semantic.DeepEqual(status, set.Status) {
		return next, nil
	}
	before := set.DeepCopy()
	set.Status = status
	if err := r.client.Status().Patch(ctx, set, client.MergeFrom(before)); err != nil {
		return 0, fmt.Errorf("write the status of MachineSet %s: %w", set.Name, err)
	}
	return next, nil
}
