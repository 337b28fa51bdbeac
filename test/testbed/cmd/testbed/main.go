// Command testbed runs real control planes on loopback addresses: the demo, a testbed for trying things by hand, and,
// called by another name, the programs that its pods run.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/csi"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/demo"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/fleet"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/handover"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/hazards"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/keeper"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command().ExecuteContext(ctx)
	stop()
	if err != nil {
		os.Exit(1)
	}
}

// command has all programs; the kubelets run them through links that are named like the program.
func command() *cobra.Command {
	root := &cobra.Command{Use: "testbed", Short: "Real Kubernetes control planes on loopback addresses.", SilenceUsage: true}
	root.AddCommand(demo.Commands()...)
	root.AddCommand(machinecontroller.Commands()...)
	root.AddCommand(fleet.Command(), csi.Command(), keeper.Command(), handover.Command(), hazards.Command(), shim())
	if name := filepath.Base(os.Args[0]); name != "testbed" {
		root.SetArgs(append([]string{name}, os.Args[1:]...))
	}
	return root
}

func shim() *cobra.Command {
	return &cobra.Command{
		Use: "shim", Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := process.RunShim(args); err != nil {
				return fmt.Errorf("shim: %w", err)
			}
			return nil
		},
	}
}
