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
	leadermigration.Artifacts
	Violations []leadermigration.Violation `json:"violations"`
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
			plan, err := flags.read()
			if err != nil {
				return err
			}
			artifacts, violations := leadermigration.Render(plan)
			rendered := renderedLock{artifacts, violations}
			return errors.Join(rendered.write(command, *output, dir, plan), verdict(violations))
		},
	}
	flags.add(command)
	command.Flags().StringVar(&dir, "output-dir", "", "write files into this directory, which is made if need be; files that are "+
		"there are replaced")
	return command
}

func (r renderedLock) write(command *cobra.Command, output, dir string, plan leadermigration.Plan) error {
	if output != "text" {
		if err := terminal.Write(command.OutOrStdout(), output, r, nil); err != nil {
			return err
		}
	} else if err := writeViolations(command.ErrOrStderr(), r.Violations); err != nil {
		return err
	}
	switch {
	case r.Files == nil:
		return nil
	case dir != "":
		return r.writeFiles(command.ErrOrStderr(), dir)
	case output == "text":
		return r.print(command.OutOrStdout(), plan)
	}
	return nil
}

// print writes what is a configuration file as it stands, where both managers have the same.
func (r renderedLock) print(out io.Writer, plan leadermigration.Plan) error {
	var text bytes.Buffer
	for _, of := range []struct {
		who   string
		flags []leadermigration.Flag
	}{
		{"KCM " + plan.From.String(), r.KCM}, {"CCM " + plan.To.String(), r.CCM},
		{"KCM " + plan.To.String() + ", afterwards", r.KCMAfter},
	} {
		fmt.Fprintf(&text, "# %s: %s\n", of.who, leadermigration.JoinFlags(of.flags, " "))
	}
	fmt.Fprintf(&text, "#   and without %s\n", strings.Join(r.KCMRemove, ", "))
	if kcm, ccm := r.Files[leadermigration.KCM], r.Files[leadermigration.CCM]; kcm == ccm {
		fmt.Fprintf(&text, "# %s of both:\n%s", plan.ConfigPath, kcm)
	} else {
		fmt.Fprintf(&text, "# %[1]s of KCM:\n%[2]s---\n# %[1]s of CCM:\n%[3]s", plan.ConfigPath, kcm, ccm)
	}
	_, err := text.WriteTo(out)
	return err
}

func (r renderedLock) writeFiles(out io.Writer, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the output directory: %w", err)
	}
	type file struct{ name, content string }
	files := []file{{"leader-migration.yaml", r.Files[leadermigration.KCM]}}
	if ccm := r.Files[leadermigration.CCM]; ccm != files[0].content {
		files = []file{{"leader-migration-kcm.yaml", files[0].content}, {"leader-migration-ccm.yaml", ccm}}
	}
	for _, flags := range []struct {
		name string
		list []leadermigration.Flag
	}{{"kcm.flags", r.KCM}, {"ccm.flags", r.CCM}, {"kcm-afterwards.flags", r.KCMAfter}} {
		files = append(files, file{flags.name, leadermigration.JoinFlags(flags.list, "\n") + "\n"})
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := os.WriteFile(path, []byte(f.content), 0o644); err != nil {
			return fmt.Errorf("write what was rendered: %w", err)
		}
		if _, err := fmt.Fprintln(out, "wrote", path); err != nil {
			return err
		}
	}
	return nil
}
