package leadermigration

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
)

const renderLockLong = `Render the configuration file of the lock and the flags of both managers.

The file goes to standard output, with the flags as comments; with --output-dir it goes to files instead:
leader-migration.yaml (for 1.21, which needs two: leader-migration-kcm.yaml and leader-migration-ccm.yaml), kcm.flags,
ccm.flags and kcm-afterwards.flags. Violations go to standard error; with an error among them nothing is rendered.

`

// renderedLock is what render writes as yaml or json.
type renderedLock struct {
	Files      map[leadermigration.Component]string `json:"files,omitempty"`
	KCM        []leadermigration.Flag               `json:"kcm,omitempty"`
	CCM        []leadermigration.Flag               `json:"ccm,omitempty"`
	KCMAfter   []leadermigration.Flag               `json:"kcmAfterwards,omitempty"`
	KCMRemove  []string                             `json:"kcmAfterwardsWithout,omitempty"`
	Violations []leadermigration.Violation          `json:"violations"`
}

func renderLockCommand(output *string) *cobra.Command {
	var flags planFlags
	var dir string
	command := &cobra.Command{
		Use:   "render --from VERSION --to VERSION --provider NAME",
		Short: "Render the configuration file of the lock and the flags of both managers.",
		Long:  renderLockLong + leaderMigrationLong,
		Example: "  ccm-migration-controller leader-migration render --from 1.25 --to 1.26 --provider aws\n" +
			"  ccm-migration-controller leader-migration render --from 1.29.3 --to 1.30.1 --provider gce --output-dir lock",
		Args: terminal.UsageArguments(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			plan, err := flags.read(*output)
			if err != nil {
				return err
			}
			artifacts, violations := leadermigration.Render(plan)
			return errors.Join(writeLock(command, *output, dir, plan, artifacts, violations), verdict(violations))
		},
	}
	flags.add(command)
	command.Flags().StringVar(&dir, "output-dir", "", "write files into this directory, which is made if need be; files that are "+
		"there are replaced")
	return command
}

func writeLock(
	command *cobra.Command,
	output, dir string,
	plan leadermigration.Plan,
	artifacts leadermigration.Artifacts,
	violations []leadermigration.Violation,
) error {
	if output != "text" {
		rendered := renderedLock{
			KCM:        artifacts.KCM,
			CCM:        artifacts.CCM,
			KCMAfter:   artifacts.KCMAfter,
			KCMRemove:  artifacts.KCMRemove,
			Violations: nonNil(violations),
		}
		if artifacts.KCMFile != nil {
			rendered.Files = map[leadermigration.Component]string{
				leadermigration.KCM: string(artifacts.KCMFile), leadermigration.CCM: string(artifacts.CCMFile),
			}
		}
		if err := terminal.Write(command.OutOrStdout(), output, rendered, nil); err != nil {
			return err
		}
	} else if err := writeViolations(command.ErrOrStderr(), violations); err != nil {
		return err
	}
	switch {
	case artifacts.KCMFile == nil:
		return nil
	case dir != "":
		return writeLockFiles(command, dir, artifacts)
	case output == "text":
		return printLock(command.OutOrStdout(), plan, artifacts)
	}
	return nil
}

// printLock writes what is a configuration file as it stands, where both managers have the same.
func printLock(out io.Writer, plan leadermigration.Plan, artifacts leadermigration.Artifacts) error {
	var text bytes.Buffer
	for _, of := range []struct {
		who   string
		flags []leadermigration.Flag
	}{
		{"KCM " + plan.From.String(), artifacts.KCM}, {"CCM " + plan.To.String(), artifacts.CCM},
		{"KCM " + plan.To.String() + ", afterwards", artifacts.KCMAfter},
	} {
		fmt.Fprintf(&text, "# %s: %s\n", of.who, leadermigration.JoinFlags(of.flags, " "))
	}
	fmt.Fprintf(&text, "#   and without %s\n", strings.Join(artifacts.KCMRemove, ", "))
	if bytes.Equal(artifacts.KCMFile, artifacts.CCMFile) {
		fmt.Fprintf(&text, "# %s of both:\n%s", plan.ConfigPath, artifacts.KCMFile)
	} else {
		fmt.Fprintf(
			&text,
			"# %s of KCM:\n%s---\n# %s of CCM:\n%s",
			plan.ConfigPath,
			artifacts.KCMFile,
			plan.ConfigPath,
			artifacts.CCMFile,
		)
	}
	_, err := text.WriteTo(out)
	return err
}

func writeLockFiles(command *cobra.Command, dir string, artifacts leadermigration.Artifacts) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the output directory: %w", err)
	}
	type file struct {
		name    string
		content []byte
	}
	files := []file{{"leader-migration.yaml", artifacts.KCMFile}}
	if !bytes.Equal(artifacts.KCMFile, artifacts.CCMFile) {
		files = []file{{"leader-migration-kcm.yaml", artifacts.KCMFile}, {"leader-migration-ccm.yaml", artifacts.CCMFile}}
	}
	files = append(
		files,
		file{"kcm.flags", []byte(leadermigration.JoinFlags(artifacts.KCM, "\n") + "\n")},
		file{"ccm.flags", []byte(leadermigration.JoinFlags(artifacts.CCM, "\n") + "\n")},
		file{"kcm-afterwards.flags", []byte(leadermigration.JoinFlags(artifacts.KCMAfter, "\n") + "\n")},
	)
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := os.WriteFile(path, f.content, 0o644); err != nil {
			return fmt.Errorf("write what was rendered: %w", err)
		}
		if _, err := fmt.Fprintln(command.ErrOrStderr(), "wrote", path); err != nil {
			return err
		}
	}
	return nil
}
