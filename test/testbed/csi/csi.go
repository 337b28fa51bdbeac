package csi

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/csi/driver"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/program"
)

const (
	modeController = "controller"
	modeNode       = "node"
	// registerEvery retries a failed registration and repairs a lost one.
	registerEvery = 5 * time.Second
	// retryEvery is the pace until the first registration.
	retryEvery = 500 * time.Millisecond
)

type options struct {
	mode, nodeName, driverName string
	health, kubeconfig         string
	endpoint, cloudConfig      string
}

// Command is the program csi-driver.
func Command() *cobra.Command {
	return program.Command("csi-driver", "simcloud's CSI driver, which stands in for itself without an endpoint.", setup)
}

func setup(flags *flag.FlagSet) program.Run {
	o := &options{}
	flags.StringVar(&o.mode, "mode", modeController, "controller or node")
	flags.StringVar(&o.nodeName, "node-name", "", "Node to register the driver on; needed in mode node")
	flags.StringVar(&o.driverName, "driver-name", "csi.simcloud.example", "name of the driver")
	flags.StringVar(&o.health, "health-address", ":9808", "address of /healthz and /readyz")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the user cluster; empty means in-cluster")
	flags.StringVar(&o.endpoint, "endpoint", "", "unix socket on which CSI is served; empty means not at all")
	flags.StringVar(&o.cloudConfig, "cloud-config", "", "how to reach simcloud; a controller with an endpoint needs it")
	return o.run
}

func (o *options) run(ctx context.Context) error {
	switch {
	case o.mode == modeController:
		return o.runController(ctx)
	case o.mode != modeNode:
		return fmt.Errorf("flag -mode is %q: use %s or %s", o.mode, modeController, modeNode)
	case o.nodeName == "":
		return errors.New("flag -node-name is missing: mode node needs it")
	}
	c, err := o.client()
	if err != nil {
		return err
	}
	ctrl.Log.Info("csi-driver starts", "mode", o.mode, "driver", o.driverName, "node", o.nodeName)
	registered := &atomic.Bool{}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return program.ServeHealth(ctx, o.health, registered.Load) })
	if o.endpoint != "" {
		d := &driver.Driver{Name: o.driverName, Node: o.nodeName}
		group.Go(func() error { return d.Serve(ctx, o.endpoint) })
	}
	group.Go(func() error {
		o.keep(ctx, c, registered)
		return nil
	})
	return group.Wait()
}

func (o *options) runController(ctx context.Context) error {
	ctrl.Log.Info("csi-driver starts", "mode", o.mode, "driver", o.driverName, "endpoint", o.endpoint)
	healthy := func() bool { return true }
	if o.endpoint == "" {
		return program.ServeHealth(ctx, o.health, healthy)
	}
	d, err := o.controller()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return program.ServeHealth(ctx, o.health, healthy) })
	group.Go(func() error { return d.Serve(ctx, o.endpoint) })
	return group.Wait()
}

func (o *options) controller() (*driver.Driver, error) {
	raw, err := os.ReadFile(o.cloudConfig)
	if err != nil {
		return nil, fmt.Errorf("read the cloud config, check -cloud-config: %w", err)
	}
	config, err := cloud.ParseConfig(raw)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("read the host name: %w", err)
	}
	return &driver.Driver{Name: o.driverName, Cloud: driver.NewCloud(config, "csi-driver", host)}, nil
}

// keep registers until ctx ends; the process is ready after the first success.
func (o *options) keep(ctx context.Context, c client.Client, registered *atomic.Bool) {
	try := func(ctx context.Context) bool {
		if err := register(ctx, c, o.nodeName, o.driverName); err != nil {
			ctrl.Log.Error(err, "not registered, trying again")
			return false
		}
		registered.Store(true)
		return true
	}
	first := func(ctx context.Context) (bool, error) { return try(ctx), nil }
	if err := wait.PollUntilContextCancel(ctx, retryEvery, true, first); err != nil {
		return
	}
	wait.UntilWithContext(ctx, func(ctx context.Context) { try(ctx) }, registerEvery)
}

func (o *options) client() (client.Client, error) {
	restConfig, err := program.RESTConfig(o.kubeconfig)
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), storagev1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("register types: %w", err)
	}
	c, err := client.New(restConfig, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client for the user cluster: %w", err)
	}
	return c, nil
}

// register enters the driver in the Node's CSINode and makes the CSINode if
// there is none, owned by the Node, as a kubelet does.
func register(ctx context.Context, c client.Client, nodeName, driverName string) error {
	node := &corev1.Node{}
	if err := c.Get(ctx, client.ObjectKey{Name: nodeName}, node); err != nil {
		return fmt.Errorf("read Node %s: %w", nodeName, err)
	}
	driver := storagev1.CSINodeDriver{Name: driverName, NodeID: nodeName}
	csiNode := &storagev1.CSINode{}
	err := c.Get(ctx, client.ObjectKey{Name: nodeName}, csiNode)
	if apierrors.IsNotFound(err) {
		csiNode = &storagev1.CSINode{
			ObjectMeta: metav1.ObjectMeta{Name: nodeName, OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "v1", Kind: "Node", Name: nodeName, UID: node.UID},
			}},
			Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{driver}},
		}
		if err := c.Create(ctx, csiNode); err != nil {
			return fmt.Errorf("create CSINode %s: %w", nodeName, err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("read CSINode %s: %w", nodeName, err)
	}
	for _, entry := range csiNode.Spec.Drivers {
		if entry.Name == driverName {
			return nil
		}
	}
	before := csiNode.DeepCopy()
	csiNode.Spec.Drivers = append(csiNode.Spec.Drivers, driver)
	// Locked, because another driver on this Node replaces the same list.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, csiNode, patch); err != nil {
		return fmt.Errorf("add driver %s to CSINode %s: %w", driverName, nodeName, err)
	}
	return nil
}
