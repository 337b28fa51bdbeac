package hazards

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/demo"
)

type flags struct {
	root, only, folder, document string
	beside                       int
	lease                        time.Duration
	seed                         uint64
}

// Command is hazards.
func Command() *cobra.Command {
	f := flags{}
	command := &cobra.Command{
		Use:   "hazards",
		Short: "Makes on purpose what preflight warns of, and compares what happens with what it said.",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return run(command.Context(), f, command.OutOrStdout())
		},
	}
	command.Flags().StringVar(&f.root, "root", ".", "The project's folder.")
	command.Flags().StringVar(&f.folder, "folder", "hazards", "The folder in _output that gets the raw records and the report.")
	command.Flags().StringVar(&f.only, "run", "", "Only clusters whose names match this regular expression.")
	command.Flags().StringVar(&f.document, "document", "", "A document that is written from the report.")
	command.Flags().IntVar(&f.beside, "beside", 3, "How many user clusters run at once.")
	command.Flags().DurationVar(&f.lease, "lease", 6*time.Second, "The lease of KCM.")
	command.Flags().Uint64Var(&f.seed, "seed", 0, "Seed of what the user clusters run besides; 0 takes one from the clock.")
	command.AddCommand(&cobra.Command{
		Use: "document DOCUMENT FOLDER...", Short: "Writes reports into a document; a hazard stands there as it was the last time.",
		Args: cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return WriteDocument(args[0], args[1:]...) },
	})
	return command
}

func run(ctx context.Context, f flags, out io.Writer) error {
	pattern, err := regexp.Compile(f.only)
	if err != nil {
		return err
	}
	groups := slices.DeleteFunc(Groups(), func(group Group) bool { return !pattern.MatchString(group.Name) })
	screen := demo.NewScreen(out)
	options, err := demo.BedOptions(f.root, f.folder, f.lease, screen.Say)
	if err != nil {
		return err
	}
	options.Seed = f.seed
	started := time.Now()
	rows, err := Run(ctx, Options{Bed: options, Beside: f.beside}, groups)
	command := "make hazards"
	if f.only != "" {
		command += fmt.Sprintf(" HAZARDS='%s'", f.only)
	}
	report := Report{
		Command:    command,
		Started:    started,
		Seconds:    time.Since(started).Seconds(),
		Processors: runtime.NumCPU(),
		Beside:     f.beside,
		Rows:       rows,
	}
	err = errors.Join(err, report.Write(options.Dir))
	if f.document != "" {
		err = errors.Join(err, WriteDocument(f.document, options.Dir))
	}
	if err != nil {
		return err
	}
	unmet := Unmet(rows)
	for _, sentence := range unmet {
		screen.Say("NOT AS EXPECTED: " + sentence)
	}
	screen.Say(fmt.Sprintf("%d hazards; raw records and report: %s", len(rows), options.Dir))
	if len(unmet) > 0 {
		return fmt.Errorf("%d hazards were not as expected", len(unmet))
	}
	return nil
}
