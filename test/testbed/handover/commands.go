package handover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/demo"
)

type flags struct {
	root, only, document string
	seed                 uint64
	beside, random       int
	lease                time.Duration
}

// Command is handover.
func Command() *cobra.Command {
	f := flags{}
	command := &cobra.Command{
		Use: "handover", Short: "Measures hand-overs of the cloud loops, disturbed in many ways.", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return run(command.Context(), f, command.OutOrStdout())
		},
	}
	command.Flags().StringVar(&f.root, "root", ".", "The project's folder.")
	command.Flags().StringVar(&f.only, "run", "", "Only scenarios whose names match this regular expression.")
	command.Flags().StringVar(&f.document, "document", "", "A document whose measured part is replaced by the table.")
	command.Flags().Uint64Var(&f.seed, "seed", 0, "Seed of what is left to chance; 0 takes one from the clock.")
	command.Flags().IntVar(&f.random, "random", 0, "So many hand-overs that are disturbed at random, in place of the scenarios.")
	command.Flags().IntVar(&f.beside, "beside", 2, "How many scenarios run at once that neither measure nor disturb the manager.")
	command.Flags().DurationVar(&f.lease, "lease", usualLease, "The lease of hand-overs that are disturbed at random.")
	return command
}

func run(ctx context.Context, f flags, out io.Writer) error {
	if f.seed == 0 {
		f.seed = uint64(time.Now().UnixNano())
	}
	scenarios, err := f.scenarios()
	if err != nil {
		return err
	}
	screen := demo.NewScreen(out)
	options, err := demo.BedOptions(f.root, "handover", usualLease, screen.Say)
	if err != nil {
		return err
	}
	screen.Say(fmt.Sprintf("%d scenarios, seed %d", len(scenarios), f.seed))
	outcomes, err := Run(ctx, Options{Bed: options, Beside: f.beside, Absolute: true, Seed: f.seed}, scenarios)
	if err := errors.Join(err, f.report(options.Dir, outcomes, out)); err != nil {
		return err
	}
	unmet := Unmet(outcomes)
	for _, sentence := range unmet {
		screen.Say("NOT AS EXPECTED: " + sentence)
	}
	screen.Say("raw records and report: " + options.Dir)
	if len(unmet) > 0 {
		return fmt.Errorf("%d expectations were not met", len(unmet))
	}
	return nil
}

func (f flags) scenarios() ([]Scenario, error) {
	pattern, err := regexp.Compile(f.only)
	if err != nil {
		return nil, err
	}
	scenarios := Scenarios()
	if f.random > 0 {
		scenarios = Random(f.random, f.seed, f.lease)
	}
	return only(scenarios, func(scenario Scenario) bool { return pattern.MatchString(scenario.Name) }), nil
}

func (f flags) report(dir string, outcomes []Outcome, out io.Writer) error {
	if err := WriteReport(filepath.Join(dir, "report.json"), outcomes); err != nil {
		return err
	}
	if err := Table(out, outcomes); err != nil {
		return err
	}
	if f.document == "" {
		return nil
	}
	return WriteMeasured(f.document, outcomes, fmt.Sprintf("%d hand-overs, seed %d.", len(outcomes), f.seed))
}
