package bed

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/apiserver"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/boot"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/upstream"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// bootDelay is the stand-in's.
const bootDelay = 2 * time.Second

// beforeMachineController does what the stand-ins do by themselves, and installers and clouds do for the real ones.
func (u *UserCluster) beforeMachineController() error {
	if u.Options.WithoutMachineController {
		return nil
	}
	var objects []client.Object
	if u.bed.IsReal(machineController) {
		objects = append(objects, upstream.ClusterInfo(u.Kubeconfig(u.AdminConfig())))
		machines := &boot.Machines{
			Client: u.Client, Instances: u.instances, Version: KubernetesVersion, Delay: bootDelay, Clock: clock.RealClock{},
			Log: u.bed.options.Log.WithName("machines-" + u.Options.Name),
		}
		u.run("machines of "+u.Options.Name, machines.Run)
	}
	if u.bed.IsReal(machineControllerWebhook) {
		address, err := u.serveWebhook()
		if err != nil {
			return err
		}
		objects = append(objects, upstream.Webhooks("https://"+address, u.CA()))
	}
	if u.bed.IsReal(operatingSystemManager) {
		more, err := upstream.OperatingSystemManager(filepath.Join(u.bed.options.BinDir, operatingSystemManager+"-manifests"), profile)
		if err != nil {
			return err
		}
		objects = append(objects, more...)
	}
	return u.apply(objects)
}

// apply waits for namespaces and definitions, which API servers make a moment later.
func (u *UserCluster) apply(objects []client.Object) error {
	for _, object := range objects {
		what := fmt.Sprintf("%T %s in %s", object, object.GetName(), u.Options.Name)
		if err := u.bed.WaitFor(u.bed.ctx, what, patience, func(ctx context.Context) (string, error) {
			return "", client.IgnoreAlreadyExists(u.Client.Create(ctx, object))
		}); err != nil {
			return err
		}
	}
	return nil
}

// serveWebhook at one address, whatever Pod has it.
func (u *UserCluster) serveWebhook() (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(u.bed.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	u.run("Service of the webhook of "+u.Options.Name, func(ctx context.Context) error {
		return apiserver.Forward(ctx, listener, func(ctx context.Context) ([]string, error) {
			return u.addresses(ctx, machineControllerWebhook, webhookPort)
		})
	})
	return listener.Addr().String(), nil
}

// run a part of the user cluster until it is removed.
func (u *UserCluster) run(name string, run func(context.Context) error) {
	u.bed.goRun(name, func(ctx context.Context) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		go func() {
			select {
			case <-u.removed:
				stop()
			case <-ctx.Done():
			}
		}()
		if err := run(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		return nil
	})
}

// instances that the cloud has, whatever is wrong with its API.
func (u *UserCluster) instances() []cloud.Instance {
	var all []cloud.Instance
	for _, instance := range u.bed.Cloud.Snapshot(u.Options.Name).Instances {
		if instance.State != simcloud.Running {
			continue
		}
		all = append(all, cloud.Instance{
			Name: instance.Name, ID: instance.ID, ProviderID: instance.ProviderID, Addresses: instance.Addresses,
			Zone: instance.Zone, Region: instance.Region, Type: instance.Type, UserData: instance.UserData,
		})
	}
	return all
}

// AddStandalone makes a Machine of no MachineDeployment, which releases before v1.60 booted. The real machine-controller is
// newer: it finds an instance and a Node that are from before.
func (u *UserCluster) AddStandalone(ctx context.Context, name string) error {
	if u.bed.IsReal(machineController) {
		if err := u.AddNode(ctx, name, false); err != nil {
			return err
		}
	}
	return u.Client.Create(ctx, Machine(name))
}
