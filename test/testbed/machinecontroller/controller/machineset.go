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
	if added, err := deletesInOrder(ctx, r.client, set); added || err != nil {
		return ctrl.Result{RequeueAfter: soon}, err
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

// count writes the status and says when to look again: once, after minReadySeconds, and only where all are Ready. Of a Node that
// turns NotReady, or Ready again, nothing tells.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machineset/controller.go#L235-L238
func (r *setReconciler) count(ctx context.Context, set *machines.MachineSet, active []*machines.Machine) (time.Duration, error) {
	status := machines.MachineSetStatus{
		Replicas: int32(len(active)), FullyLabeledReplicas: int32(len(active)), ObservedGeneration: set.Generation,
	}
	for _, machine := range active {
		node, err := nodeNamed(ctx, r.client, machine.Status.NodeRef)
		if err != nil {
			return 0, err
		}
		if node == nil || !nodeIsReady(node) {
			continue
		}
		status.ReadyReplicas++
		if r.available(node, time.Duration(set.Spec.MinReadySeconds)*time.Second) {
			status.AvailableReplicas++
		}
	}
	again, wanted := time.Duration(0), replicas(set)
	if status.ReadyReplicas == wanted && status.AvailableReplicas != wanted {
		again = time.Duration(set.Spec.MinReadySeconds) * time.Second
	}
	if equality.Semantic.DeepEqual(status, set.Status) {
		return again, nil
	}
	before := set.DeepCopy()
	set.Status = status
	if err := r.client.Status().Patch(ctx, set, client.MergeFrom(before)); err != nil {
		return 0, fmt.Errorf("write the status of MachineSet %s: %w", set.Name, err)
	}
	return again, nil
}

// available asks the Node since when it is Ready, and no one for how long it has been: without minReadySeconds, Ready is all.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machineset/status.go#L173 (isNodeAvailable)
func (r *setReconciler) available(node *corev1.Node, minReady time.Duration) bool {
	since := readyOf(node).LastTransitionTime
	return minReady == 0 || !since.IsZero() && since.Add(minReady).Before(r.clock.Now())
}
