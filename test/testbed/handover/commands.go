package handover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/demo"
)

type flags struct {
	root, only, document string
	// across is the release that hand-overs across minors begin with.
	across         string
	seed           uint64
	beside, random int
	lease          time.Duration
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
	command.Flags().StringVar(&f.document, "document", "", "A document whose measured part is replaced by what the report says.")
	command.AddCommand(documentCommand())
	command.Flags().Uint64Var(&f.seed, "seed", 0, "Seed of what is left to chance; 0 takes one from the clock.")
	command.Flags().IntVar(&f.random, "random", 0, "So many hand-overs that are disturbed at random, in place of the scenarios.")
	command.Flags().IntVar(&f.beside, "beside", 2, "How many scenarios run at once that neither measure nor disturb the manager.")
	command.Flags().StringVar(&f.across, "across", "", "The hand-overs across minors, in place of the scenarios: their control "+
		"planes begin with this release, whose programs are in a folder of its name in the project's _output.")
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
	commit := commitOf(ctx, f.root)
	screen := demo.NewScreen(out)
	folder := "handover"
	if f.across != "" {
		folder = "across-minors"
	}
	options, err := demo.BedOptions(f.root, folder, usualLease, screen.Say)
	if err != nil {
		return err
	}
	options.Seed = f.seed
	if f.across != "" {
		options.ReleasesDir = filepath.Dir(options.Dir)
	}
	if f.random > 0 {
		options.SampleInterval = time.Second // Most of what a hand-over costs is reading metrics, and no gap is judged here.
	}
	screen.Say(fmt.Sprintf("%d scenarios, seed %d", len(scenarios), f.seed))
	started := time.Now()
	outcomes, err := Run(ctx, Options{Bed: options, Beside: f.beside, Absolute: true, Seed: f.seed}, scenarios)
	err = errors.Join(err, WriteReport(options.Dir, outcomes, f.conditions(started, commit)), Table(out, outcomes))
	if f.document != "" {
		err = errors.Join(err, WriteDocument(f.document, options.Dir))
	}
	if err != nil {
		return err
	}
	unmet := Unmet(outcomes)
	for _, sentence := range unmet {
		screen.Say("NOT AS EXPECTED: " + sentence)
	}
	screen.Say(fmt.Sprintf("seed %d; raw records and report: %s", f.seed, options.Dir))
	if len(unmet) > 0 {
		return fmt.Errorf("%d expectations were not met", len(unmet))
	}
	return nil
}

// commitOf is what is checked out now, and not when the run has ended; "unknown" without git. What measurements write
// themselves is no change, as in hack/tested-with.sh.
func commitOf(ctx context.Context, root string) string {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	commit, failed := git("rev-parse", "--short=12", "HEAD")
	changed, err := git("status", "--porcelain", "--", ".", ":!docs/tested-with.md", ":!docs/*-measured.md")
	switch {
	case errors.Join(failed, err) != nil:
		return "unknown"
	case changed != "":
		return commit + ", changed"
	}
	return commit
}

func (f flags) conditions(started time.Time, commit string) Conditions {
	command := "make handover"
	if f.across != "" {
		command = "make across-minors"
	}
	if f.random > 0 {
		command += fmt.Sprintf(" N=%d", f.random)
	}
	if f.only != "" {
		command += fmt.Sprintf(" SCENARIOS='%s'", f.only)
	}
	return Conditions{
		Command: command + fmt.Sprintf(" SEED=%d", f.seed), Commit: commit, Started: started, Seconds: time.Since(started).Seconds(),
		Processors: runtime.NumCPU(), Beside: f.beside, Seed: f.seed, Random: f.random > 0,
	}
}

func (f flags) scenarios() ([]Scenario, error) {
	pattern, err := regexp.Compile(f.only)
	if err != nil {
		return nil, err
	}
	scenarios := Scenarios()
	if f.across != "" {
		scenarios = AcrossMinors(f.across)
	}
	if f.random > 0 {
		scenarios = Random(f.random, f.seed, f.lease)
	}
	return only(scenarios, func(scenario Scenario) bool { return pattern.MatchString(scenario.Name) }), nil
}

// documentCommand writes the document again, from the records of a run that has ended.
func documentCommand() *cobra.Command {
	return &cobra.Command{
		Use: "document DOCUMENT FOLDER...", Short: "Writes a report into a document, and in it scenarios that were measured again " +
			"later.",
		Args: cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return WriteDocument(args[0], args[1:]...) },
	}
}
