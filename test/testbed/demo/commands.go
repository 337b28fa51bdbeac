package demo

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// Commands are demo and up.
func Commands() []*cobra.Command {
	var root, helm string
	var seed uint64
	story := &cobra.Command{
		Use: "demo", Short: "Migrates four user clusters and shows how.", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runDemo(command.Context(), root, helm, seed, command.OutOrStdout())
		},
	}
	up := &cobra.Command{
		Use: "up", Short: "Starts the demo's clusters and leaves them running until Ctrl-C.", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runUp(command.Context(), root, seed, command.OutOrStdout())
		},
	}
	for _, command := range []*cobra.Command{story, up} {
		command.Flags().StringVar(&root, "root", ".", "The project's folder.")
		command.Flags().Uint64Var(&seed, "seed", 0, "Seed of what the user clusters run besides; 0 takes one from the clock.")
	}
	story.Flags().StringVar(&helm, "helm", "", "Helm, to install the manager from the chart; empty applies config/.")
	return []*cobra.Command{story, up}
}

// leaseDuration of the demo is the default of kube-controller-manager.
const leaseDuration = 15 * time.Second

// BedOptions are those of a testbed in the project's folder, in a fresh folder of its own. It runs the programs that were
// built beside its own.
func BedOptions(root, folder string, lease time.Duration, progress func(string)) (bed.Options, error) {
	// What the libraries log about the testbed's own watches would stand between the lines of the story.
	ctrl.SetLogger(logr.Discard())
	root, err := filepath.Abs(root)
	if err != nil {
		return bed.Options{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return bed.Options{}, err
	}
	// Beside programs that are too old for a management cluster, hack/binaries.sh puts others for it.
	programs, management := filepath.Dir(self), filepath.Join(filepath.Dir(self), bed.ManagementName)
	if _, err := os.Stat(management); err != nil {
		management = ""
	}
	dir := filepath.Join(root, "_output", folder)
	if err := os.RemoveAll(dir); err != nil {
		return bed.Options{}, err
	}
	return bed.Options{
		Dir: dir, BinDir: programs, ManagementBinDir: management, ConfigDir: filepath.Join(root, "config"),
		LeaseDuration: lease, Progress: progress,
	}, nil
}

func runDemo(ctx context.Context, root, helm string, seed uint64, out io.Writer) error {
	screen := NewScreen(out)
	options, err := BedOptions(root, "demo", leaseDuration, screen.Say)
	if err != nil {
		return err
	}
	options.Seed, options.Helm = seed, helm
	story, err := Begin(ctx, options, screen)
	if err != nil {
		return err
	}
	defer story.End()
	if err := story.Tell(); err != nil {
		return err
	}
	report, err := story.Report()
	if err != nil {
		return err
	}
	screen.Table(report)
	screen.Say("raw records and report: " + options.Dir)
	if unmet := Unmet(report, shareOf(story.Bed)); len(unmet) > 0 {
		for _, sentence := range unmet {
			screen.Say("NOT AS EXPECTED: " + sentence)
		}
		return fmt.Errorf("%d expectations were not met", len(unmet))
	}
	screen.Say("everything is as expected")
	return nil
}

// shareOf the bars: with the real machine-controller, which waits longer, there are more passes, which read.
func shareOf(b *bed.Bed) float64 {
	if b.IsReal("machine-controller") {
		return 1.25
	}
	return 1
}

// runUp leaves the clusters to the user.
func runUp(ctx context.Context, root string, seed uint64, out io.Writer) error {
	screen := NewScreen(out)
	options, err := BedOptions(root, "testbed", leaseDuration, screen.Say)
	if err != nil {
		return err
	}
	options.Seed = seed
	story, err := Begin(ctx, options, screen)
	if err != nil {
		return err
	}
	defer story.End()
	paths, err := story.Kubeconfigs()
	if err != nil {
		return err
	}
	screen.Say("ready; the kubeconfigs:")
	for _, path := range paths {
		screen.Say("  " + path)
	}
	screen.Say("the management cluster has the Clusters: kubectl get clusters -A. Switch one over with")
	screen.Say(`  kubectl -n user-alpha patch cluster alpha --type=merge -p '{"spec":{"features":{"externalCloudProvider":true}}}'`)
	screen.Say("Ctrl-C ends everything")
	select {
	case <-ctx.Done():
		return nil
	case <-story.Bed.Done():
		return story.Bed.Err()
	}
}
