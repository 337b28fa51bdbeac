package controller

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/leader"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/program"
)

type options struct {
	kubeconfig, cloudConfig string
	manager                 *leader.Options
	machine                 machineOptions
}

// Command is the program machine-controller.
func Command() *cobra.Command {
	return program.Command("machine-controller", "Stand-in of the machine-controller.", setup)
}

func setup(flags *flag.FlagSet) program.Run {
	o := &options{manager: leader.Flags(flags, "machine-controller", ":8085")}
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the user cluster; empty means in-cluster")
	flags.StringVar(&o.cloudConfig, "cloud-config", "", "simcloud's cloud.conf")
	flags.StringVar(&o.machine.name, "name", "", "only Machines whose label machine.k8s.io/controller has this value")
	flags.BoolVar(&o.machine.external, "node-external-cloud-provider", false, "an external cloud-controller-manager looks after "+
		"Nodes")
	flags.DurationVar(&o.machine.bootDelay, "boot-delay", 2*time.Second, "time from a new instance to its Node")
	flags.DurationVar(&o.machine.skipEvictionAfter, "skip-eviction-after", 2*time.Hour, "drain no longer than this")
	flags.DurationVar(&o.machine.joinTimeout, "join-cluster-timeout", 0, "delete a Machine of a MachineSet that has no Node for "+
		"this long; zero: never")
	flags.BoolVar(&o.machine.bootsStandalone, "boots-standalone", false, "boot a Machine without MachineDeployment, too, as "+
		"releases before v1.60 did without an operating-system-manager; the real one has no such flag")
	flags.BoolVar(&o.machine.drainsNotReady, "drains-not-ready", false, "drain a Node that is not Ready, too, as releases before "+
		"v1.66.0 did; the real one has no such flag")
	flags.BoolVar(&o.machine.nodesWithoutAddress, "nodes-without-address", false, "external kubelets have no --node-ip; the real "+
		"one has no such flag")
	flags.Uint64Var(&o.machine.oddNodes, "odd-nodes", 0, "seed that draws which in-tree Nodes have no labels; zero: none. The "+
		"real one has no such flag")
	program.Ignore(flags, "master", "worker-count", "ca-bundle", "log-format", "node-port-range",
		"node-kubelet-feature-gates", "bootstrap-token-service-account-name", "override-bootstrap-kubelet-apiserver")
	program.IgnoreBool(flags, "node-csr-approver", "log-debug", "enable-profiling")
	return o.run
}

func (o *options) run(ctx context.Context) error {
	if o.cloudConfig == "" {
		return errors.New("flag -cloud-config is missing: name simcloud's cloud.conf")
	}
	instances, err := cloud.Open(o.cloudConfig)
	if err != nil {
		return err
	}
	restConfig, err := program.RESTConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	manager, err := o.manager.New(restConfig)
	if err != nil {
		return err
	}
	if err := register(manager, instances, o.machine); err != nil {
		return err
	}
	manager.GetLogger().Info("machine-controller starts", "node-external-cloud-provider", o.machine.external)
	if err := manager.Start(ctx); err != nil {
		return fmt.Errorf("run the machine-controller: %w", err)
	}
	return nil
}

// register adds the three controllers to a manager.
func register(manager ctrl.Manager, instances Cloud, o machineOptions) error {
	c := manager.GetClient()
	if err := (&deploymentReconciler{client: c}).add(manager); err != nil {
		return fmt.Errorf("add the MachineDeployment controller: %w", err)
	}
	if err := (&setReconciler{client: c, clock: clock.RealClock{}}).add(manager); err != nil {
		return fmt.Errorf("add the MachineSet controller: %w", err)
	}
	if err := (&machineReconciler{client: c, cloud: instances, clock: clock.RealClock{}, options: o}).add(manager); err != nil {
		return fmt.Errorf("add the Machine controller: %w", err)
	}
	return nil
}
