package fleet

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/demo"
)

// lease of the user clusters' managers: a shorter one than the default, because eight migrate.
const lease = 10 * time.Second

// waits are the manager's, shorter than the real ones.
const waits = "settle=3s,probe=5s,addresses=15s"

// Command tells the whole story.
func Command() *cobra.Command {
	var root string
	var seed uint64
	var linger bool
	command := &cobra.Command{
		Use: "fleet", Short: "Moves eight user clusters in waves, and shows how.", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			screen := demo.NewScreen(command.OutOrStdout())
			options, err := demo.BedOptions(root, "fleet", lease, screen.Say)
			if err != nil {
				return err
			}
			options.Seed, options.Waits = seed, waits
			story, err := Begin(command.Context(), options, Whole())
			if err != nil {
				return err
			}
			defer story.End()
			err = story.play(screen.Say)
			if linger && err == nil {
				screen.Say("everything runs on until Ctrl-C")
				<-story.ctx.Done()
			}
			return err
		},
	}
	command.Flags().StringVar(&root, "root", ".", "The project's folder.")
	command.Flags().BoolVar(&linger, "linger", false, "Leave everything running at the end, until Ctrl-C.")
	command.Flags().Uint64Var(&seed, "seed", 0, "Seed of what the user clusters run besides; 0 takes one from the clock.")
	return command
}

func (s *Story) play(say func(string)) error {
	if err := s.Tell(); err != nil {
		return err
	}
	report, err := s.Report()
	if err != nil {
		return err
	}
	for _, c := range report.Clusters {
		say(fmt.Sprintf("%s  %s/%s in region %s, admitted %s, took %.0f s", c.Name, c.Fleet, c.Wave, c.Region,
			c.AdmittedAt.Local().Format(time.TimeOnly), c.CompletedAt.Sub(c.AdmittedAt).Seconds()))
	}
	say(fmt.Sprintf("most in flight: %v; halts: %d; overlaps: %d; %.0f s in all", report.MostInFlight, len(report.Halts),
		report.Overlaps, report.SecondsInAll))
	say("raw records and report: " + s.Bed.Options().Dir)
	if unmet := s.cast.Unmet(report); len(unmet) > 0 {
		for _, sentence := range unmet {
			say("NOT AS EXPECTED: " + sentence)
		}
		return fmt.Errorf("%d expectations were not met", len(unmet))
	}
	say("everything is as expected")
	return nil
}
