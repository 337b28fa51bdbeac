package leadermigration

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

const leaderMigrationLong = `Render, check and explain the migration lock (KEP-2436), by which kube-controller-manager
(KCM) hands the cloud loops over to a cloud-controller-manager (CCM). It reads and writes files only, for control planes
that no one manages here, too.

Exit codes: 0 fine, warnings included; 1 a file cannot be read or written; 2 wrong flags or arguments; 3 at least one
violation that is an error.`

// Command is the lock as a product of its own.
func Command() *cobra.Command {
	var output string
	command := &cobra.Command{
		Use:   "leader-migration",
		Short: "Render, check and explain the migration lock of both controller managers.",
		Long:  leaderMigrationLong,
	}
	terminal.BindFormat(command.PersistentFlags(), &output)
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return terminal.UsageError(err) })
	command.AddCommand(renderLockCommand(&output), checkLockCommand(&output), explainLockCommand(&output))
	return command
}

// planFlags are those of a hand-over that is planned.
type planFlags struct {
	from, to, apiServer string
	plan                leadermigration.Plan
}

func (p *planFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&p.from, "from", "", "release whose KCM runs the cloud loops, such as 1.29 or 1.29.3")
	flags.StringVar(&p.to, "to", "", "release whose CCM takes them over: the next minor, or the same one")
	flags.StringVar(&p.plan.Provider, "provider", "", "provider, as in KCM's --cloud-provider")
	flags.StringVar(&p.plan.LockName, "lock-name", leadermigration.UpstreamLockName, "name of the lock's Lease")
	flags.StringVar(&p.plan.ConfigPath, "config-path", leadermigration.DefaultConfigPath, "where both managers find the file")
	flags.BoolVar(&p.plan.NodeIPAM, "node-ipam", false, "move node IPAM, too, where the provider's CCM ships it")
	flags.StringVar(&p.apiServer, "apiserver", "", "release of kube-apiserver when CCM starts; the same as --to unless given")
}

// read makes the plan of the flags.
func (p *planFlags) read() (leadermigration.Plan, error) {
	if p.from == "" || p.to == "" || p.plan.Provider == "" {
		return leadermigration.Plan{}, terminal.UsageError(errors.New("--from, --to and --provider are needed"))
	}
	plan := p.plan
	var err error
	if plan.From, err = readVersion("--from", p.from); err != nil {
		return plan, err
	}
	if plan.To, err = readVersion("--to", p.to); err != nil {
		return plan, err
	}
	if p.apiServer != "" {
		plan.APIServer, err = readVersion("--apiserver", p.apiServer)
	}
	return plan, err
}

func readVersion(flag, text string) (leadermigration.Version, error) {
	version, err := leadermigration.ParseVersion(text)
	if err != nil {
		return version, terminal.UsageError(fmt.Errorf("%s: %w", flag, err))
	}
	return version, nil
}

func explainLockCommand(output *string) *cobra.Command {
	var flags planFlags
	command := &cobra.Command{
		Use:     "explain --from VERSION --to VERSION --provider NAME",
		Short:   "Say step by step what a hand-over by the lock takes, why, and what later releases reject.",
		Long:    "Say step by step what a hand-over by the lock takes, why, and what later releases reject.\n\n" + leaderMigrationLong,
		Example: "  ccm-migration-controller leader-migration explain --from 1.25 --to 1.26 --provider aws",
		Args:    terminal.UsageArguments(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			plan, err := flags.read()
			if err != nil {
				return err
			}
			explanation := leadermigration.Explain(plan)
			if *output == "text" {
				err = writeExplanation(command.OutOrStdout(), plan, explanation)
			} else {
				err = terminal.Write(command.OutOrStdout(), *output, explanation, nil)
			}
			return errors.Join(err, verdict(explanation.Violations))
		},
	}
	flags.add(command)
	return command
}

// verdict is an error when one of the violations is.
func verdict(violations []leadermigration.Violation) error {
	errs, _ := count(violations)
	if errs == 0 {
		return nil
	}
	return terminal.WithCode(errors.New(wording.Count(errs, "violation", "violations")), terminal.ExitNotSo)
}

func count(violations []leadermigration.Violation) (errs, warnings int) {
	for _, violation := range violations {
		if violation.Severity == leadermigration.SeverityError {
			errs++
		}
	}
	return errs, len(violations) - errs
}
