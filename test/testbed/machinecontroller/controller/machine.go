package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/boot"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

const (
	// bootstrapRetry is how often a Machine looks for its bootstrap Secret.
	bootstrapRetry = 500 * time.Millisecond
	// joinRetry is how often the Node of a Machine is looked for that has only so long to join. Else nothing but a Node wakes it.
	joinRetry = time.Minute
	// instanceRetry is how often the cloud is asked about a Node that is not ready.
	instanceRetry = 10 * time.Second
	// evictionRetry is how often a drain is looked at, and whether an instance is gone.
	evictionRetry = 10 * time.Second
)

// Cloud makes, finds and deletes instances.
type Cloud interface {
	Instance(ctx context.Context, name string) (*cloud.Instance, error)
	Create(ctx context.Context, instance cloud.Instance) (*cloud.Instance, error)
	Delete(ctx context.Context, name string) error
}

type machineOptions struct {
	name              string
	external          bool
	bootDelay         time.Duration
	skipEvictionAfter time.Duration
	// joinTimeout is after how long a Machine of a MachineSet without a Node is deleted; zero: never.
	joinTimeout time.Duration
	// bootsStandalone lets a Machine boot that no MachineDeployment owns.
	bootsStandalone bool
	// drainsNotReady drains a Node that is not Ready.
	drainsNotReady bool
	// nodesWithoutAddress are those of kubelets without --node-ip.
	nodesWithoutAddress bool
	// oddNodes is the seed that draws which in-tree Nodes have neither labels nor annotations; zero: none.
	oddNodes uint64
}

type machineReconciler struct {
	client  client.Client
	cloud   Cloud
	clock   clock.PassiveClock
	options machineOptions
}

// Reconcile brings one Machine closer to a Node, or takes it away.
func (r *machineReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	machine := &machines.Machine{}
	if err := r.client.Get(ctx, request.NamespacedName, machine); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	_, initializing := machine.Annotations[machines.InitializersAnnotation]
	if initializing || machine.Labels[machines.ControllerLabel] != r.options.name {
		return ctrl.Result{}, nil
	}
	if machine.DeletionTimestamp != nil {
		return r.remove(ctx, machine)
	}
	if err := r.addFinalizers(ctx, machine); err != nil {
		return ctrl.Result{}, err
	}
	if machine.Status.NodeRef == nil {
		return r.boot(ctx, machine)
	}
	node, err := nodeNamed(ctx, r.client, machine.Status.NodeRef)
	switch {
	case err != nil:
		return ctrl.Result{}, err
	case node == nil:
		return ctrl.Result{}, r.change(ctx, machine, "forget the Node of", func() { machine.Status.NodeRef = nil })
	case nodeIsReady(node):
		return ctrl.Result{}, r.serve(ctx, machine, node)
	}
	_, err = r.lost(ctx, machine, node)
	return ctrl.Result{RequeueAfter: instanceRetry}, err
}

func (r *machineReconciler) addFinalizers(ctx context.Context, machine *machines.Machine) error {
	return r.change(ctx, machine, "add finalizers to", func() {
		controllerutil.AddFinalizer(machine, machines.InstanceFinalizer)
		controllerutil.AddFinalizer(machine, machines.NodeFinalizer)
	})
}

// change patches what mutate did, if it did anything. Machine has no status
// subresource, so one patch may hold spec and status.
func (r *machineReconciler) change(ctx context.Context, machine *machines.Machine, what string, mutate func()) error {
	before := machine.DeepCopy()
	mutate()
	if equality.Semantic.DeepEqual(before, machine) {
		return nil
	}
	// Locked, because a list of finalizers is replaced as a whole and the garbage
	// collector has its own among them.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.client.Patch(ctx, machine, patch); err != nil {
		return fmt.Errorf("%s Machine %s: %w", what, machine.Name, err)
	}
	return nil
}

// lost handles a Node whose instance is gone. With an external provider the
// cloud-controller-manager deletes the Node, and we only wait for that.
func (r *machineReconciler) lost(ctx context.Context, machine *machines.Machine, node *corev1.Node) (bool, error) {
	_, err := r.cloud.Instance(ctx, machine.Name)
	if !errors.Is(err, cloud.ErrNotFound) {
		return false, err
	}
	if r.options.external {
		ctrl.LoggerFrom(ctx).Info("instance is gone, waiting until its Node is deleted", "machine", machine.Name)
		return true, nil
	}
	return true, r.deleteNode(ctx, node)
}

// boot makes the instance, waits for its boot and registers the Node. How the
// kubelet joins was fixed when the instance was made.
func (r *machineReconciler) boot(ctx context.Context, machine *machines.Machine) (ctrl.Result, error) {
	instance, err := r.cloud.Instance(ctx, machine.Name)
	if errors.Is(err, cloud.ErrNotFound) {
		return r.create(ctx, machine)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if machine.Status.InstanceCreatedAt == nil {
		return r.created(ctx, machine, instance)
	}
	if left := r.options.bootDelay - r.clock.Since(machine.Status.InstanceCreatedAt.Time); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	// A kubelet that cannot register itself keeps nothing of the machine-controller's from being done.
	registered := r.registerNode(ctx, machine, instance)
	result, err := r.awaitNode(ctx, machine, instance)
	return result, errors.Join(registered, err)
}

// registerNode is what the kubelet does, once.
func (r *machineReconciler) registerNode(ctx context.Context, machine *machines.Machine, instance *cloud.Instance) error {
	node := nodeOf(machine, instance, r.options.nodesWithoutAddress)
	if !instance.ExternalCloudProvider {
		if err := r.makeOdd(ctx, node); err != nil {
			return err
		}
	}
	err := r.client.Create(ctx, node, client.FieldOwner("kubelet"))
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("register Node %s: %w", node.Name, err)
	}
	ctrl.LoggerFrom(ctx).Info("registered", "node", node.Name, "externalCloudProvider", instance.ExternalCloudProvider)
	return nil
}

func (r *machineReconciler) create(ctx context.Context, machine *machines.Machine) (ctrl.Result, error) {
	external, err := r.external(ctx, machine)
	if notReady, waits := errors.AsType[*machines.NotReadyError](err); waits {
		ctrl.LoggerFrom(ctx).V(1).Info("waits", "machine", machine.Name, "reason", notReady.Reason)
		return ctrl.Result{RequeueAfter: bootstrapRetry}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	instance, err := r.cloud.Create(ctx, cloud.Instance{Name: machine.Name, ExternalCloudProvider: external})
	if err != nil {
		return ctrl.Result{}, err
	}
	ctrl.LoggerFrom(ctx).Info("instance made", "machine", machine.Name, "externalCloudProvider", external)
	return r.created(ctx, machine, instance)
}

func (r *machineReconciler) created(
	ctx context.Context,
	machine *machines.Machine,
	instance *cloud.Instance,
) (ctrl.Result, error) {
	err := r.change(ctx, machine, "note the instance of", func() {
		machine.Status.Phase = "Provisioning"
		machine.Status.InstanceCreatedAt = new(metav1.NewMicroTime(r.clock.Now()))
		machine.Status.NodeRef = nil
		machine.Status.Addresses = boot.Internal(instance.Addresses)
	})
	// At least a moment: zero would mean not to come again.
	return ctrl.Result{RequeueAfter: max(r.options.bootDelay, time.Millisecond)}, err
}

// follow links the Machine with its Node.
func (r *machineReconciler) follow(ctx context.Context, machine *machines.Machine, node *corev1.Node) error {
	if err := r.own(ctx, machine, node); err != nil {
		return err
	}
	return r.change(ctx, machine, "write the status of", func() {
		machine.Status.Phase = "Running"
		machine.Status.NodeRef = &corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}
	})
}

// serve is a look at a Machine whose Node is Ready. The first one is noted, without a time, and stays noted whatever becomes of
// the Node: that is what wakes the MachineSet. Without the flag, a Node without a providerID gets one that no CCM knows.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L448-L493
func (r *machineReconciler) serve(ctx context.Context, machine *machines.Machine, node *corev1.Node) error {
	err := r.change(ctx, machine, "note the first Ready of", func() {
		if ready := machine.Ready(); ready == nil || ready.Status != corev1.ConditionTrue {
			machine.Status.Conditions = append(
				machine.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue},
			)
		}
	})
	if err != nil {
		return err
	}
	if !r.options.external && node.Spec.ProviderID == "" {
		before := node.DeepCopy()
		node.Spec.ProviderID = "kubermatic://simcloud/" + string(machine.UID)
		if err := r.client.Patch(ctx, node, client.MergeFrom(before)); err != nil {
			return fmt.Errorf("set the providerID of Node %s: %w", node.Name, err)
		}
	}
	return r.furnish(ctx, machine, node)
}
