package osm

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/leader"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/program"
)

type options struct {
	kubeconfig, workerKubeconfig string
	external                     bool
	manager                      *leader.Options
}

// Command is the program operating-system-manager.
func Command() *cobra.Command {
	return program.Command("operating-system-manager", "Stand-in of the operating-system-manager.", setup)
}

func setup(flags *flag.FlagSet) program.Run {
	o := &options{manager: leader.Flags(flags, "operating-system-manager", ":8085")}
	flags.StringVar(&o.workerKubeconfig, "worker-cluster-kubeconfig", "", "kubeconfig of the user cluster")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "the same, if -worker-cluster-kubeconfig is not given; neither means "+
		"in-cluster")
	flags.BoolVar(&o.external, "external-cloud-provider", false, "kubelets of new revisions get --cloud-provider=external")
	program.Ignore(flags, "namespace", "cluster-dns", "container-runtime", "worker-count", "ca-bundle", "log-format", "pause-image",
		"initial-taints", "node-kubelet-feature-gates", "bootstrap-token-service-account-name", "override-bootstrap-kubelet-apiserver")
	program.IgnoreBool(flags, "log-debug")
	return o.run
}

func (o *options) run(ctx context.Context) error {
	path := o.workerKubeconfig
	if path == "" {
		path = o.kubeconfig
	}
	restConfig, err := program.RESTConfig(path)
	if err != nil {
		return err
	}
	manager, err := o.manager.New(restConfig)
	if err != nil {
		return err
	}
	r := NewReconciler(manager.GetClient(), o.external)
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](50*time.Millisecond, 2*time.Second)
	err = ctrl.NewControllerManagedBy(manager).Named("bootstrap").WithOptions(controller.Options{RateLimiter: limiter}).
		For(&machines.MachineDeployment{}).Complete(r)
	if err != nil {
		return fmt.Errorf("add the bootstrap controller: %w", err)
	}
	manager.GetLogger().Info("operating-system-manager starts", "external-cloud-provider", o.external)
	if err := manager.Start(ctx); err != nil {
		return fmt.Errorf("run the operating-system-manager: %w", err)
	}
	return nil
}

type reconciler struct {
	client   client.Client
	external bool
}

// NewReconciler makes the reconciler, which reads and writes through c.
func NewReconciler(c client.Client, external bool) reconcile.Reconciler {
	return &reconciler{client: c, external: external}
}

// Reconcile writes the bootstrap Secrets if there are none for this revision and these annotations. They are immutable, so
// others go first. A finalizer keeps a MachineDeployment until its Secrets are gone.
// https://github.com/kubermatic/operating-system-manager/blob/v1.11.3/pkg/controllers/osc/osc_controller.go
// (handleOSCAndSecretsRotation).
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	deployment := &machines.MachineDeployment{}
	err := r.client.Get(ctx, request.NamespacedName, deployment)
	switch {
	case apierrors.IsNotFound(err):
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("read MachineDeployment %s: %w", request.NamespacedName, err)
	case deployment.DeletionTimestamp != nil:
		return ctrl.Result{}, r.cleanUp(ctx, deployment)
	}
	if err := r.change(ctx, deployment, controllerutil.AddFinalizer); err != nil || machines.Revision(deployment) == 0 {
		return ctrl.Result{}, err
	}
	for _, secret := range machines.RenderBootstrap(deployment, r.external).Secrets() {
		if err := r.write(ctx, deployment, secret); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, nil
}

func (r *reconciler) cleanUp(ctx context.Context, deployment *machines.MachineDeployment) error {
	if !controllerutil.ContainsFinalizer(deployment, machines.ConfigFinalizer) {
		return nil
	}
	if err := r.remove(ctx, machines.RenderBootstrap(deployment, false).Secrets()); err != nil {
		return err
	}
	return r.change(ctx, deployment, controllerutil.RemoveFinalizer)
}

// change adds or removes the finalizer, and leaves alone what our types do not know.
func (r *reconciler) change(
	ctx context.Context, deployment *machines.MachineDeployment, change func(client.Object, string) bool,
) error {
	before := deployment.DeepCopy()
	if !change(deployment, machines.ConfigFinalizer) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := client.IgnoreNotFound(r.client.Patch(ctx, deployment, patch)); err != nil {
		return fmt.Errorf("change the finalizers of MachineDeployment %s: %w", deployment.Name, err)
	}
	return nil
}

func (r *reconciler) remove(ctx context.Context, secrets []*corev1.Secret) error {
	for _, secret := range secrets {
		if err := client.IgnoreNotFound(r.client.Delete(ctx, secret)); err != nil {
			return fmt.Errorf("delete bootstrap Secret %s: %w", secret.Name, err)
		}
	}
	return nil
}

func (r *reconciler) write(ctx context.Context, deployment *machines.MachineDeployment, wanted *corev1.Secret) error {
	secret := &corev1.Secret{}
	err := r.client.Get(ctx, client.ObjectKeyFromObject(wanted), secret)
	switch {
	case err == nil && machines.BootstrapIsToStay(deployment, secret):
		return nil
	case err == nil:
		if err := r.remove(ctx, []*corev1.Secret{secret}); err != nil {
			return err
		}
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("read bootstrap Secret %s: %w", wanted.Name, err)
	}
	if err := r.create(ctx, wanted); err != nil {
		return fmt.Errorf("create bootstrap Secret %s: %w", wanted.Name, err)
	}
	ctrl.LoggerFrom(ctx).Info("bootstrap written", "machineDeployment", deployment.Name, "secret", wanted.Name,
		"revision", machines.Revision(deployment), "external", r.external)
	return nil
}

// create makes the namespace where it is missing.
func (r *reconciler) create(ctx context.Context, secret *corev1.Secret) error {
	err := r.client.Create(ctx, secret)
	if !apierrors.IsNotFound(err) {
		return err
	}
	created := r.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: machines.BootstrapNamespace}})
	if apierrors.IsAlreadyExists(created) {
		created = nil
	}
	return errors.Join(created, r.client.Create(ctx, secret))
}
