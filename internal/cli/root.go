package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/credentials"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/dashboard"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/fence"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/fleet"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/manager"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/plan"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/register"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/render"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/report"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/supportbundle"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// Command is the root command.
func Command() *cobra.Command { return command(connect) }

func command(connect connector) *cobra.Command {
	root := &cobra.Command{
		Use:           "ccm-migration-controller",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: calledAs(os.Args[0])},
		Short:         "Moves user clusters from the in-tree cloud provider to an external one.",
		Long:          "Moves user clusters from the in-tree cloud provider to an external one.\n\n" + exitCodes(),
		SilenceUsage:  true,
		SilenceErrors: false,
	}
	// Errors quote what API servers say.
	root.SetErr(terminal.Output{Writer: os.Stderr})
	root.AddCommand(
		manager.Command(),
		plan.Adoption(),
		dashboard.Command(time.Now),
		fence.Command(),
		fleet.Command(),
		report.Handover(),
		report.Instructions(),
		report.Inventory(),
		leadermigration.Command(),
		plan.Command(),
		register.Command(),
		render.Command(),
		report.Status(),
		supportbundle.Command(func() *cobra.Command { return command(connect) }),
		credentials.Command(),
		versionCommand(),
		render.Versions(),
		report.Why(),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	terminal.UsageErrors(root)
	complete(root, connect)
	return root
}

// exitCodes are the same for all commands.
func exitCodes() string {
	var out strings.Builder
	out.WriteString("Exit codes of all commands:\n")
	for _, code := range terminal.Codes() {
		fmt.Fprintf(&out, "  %d  %s\n", code.Number, code.Means)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// calledAs is how a person calls the program: kubectl runs kubectl-ccm_migration for kubectl ccm-migration.
// https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/#names-with-dashes-and-underscores
func calledAs(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".exe")
	if plugin, is := strings.CutPrefix(name, "kubectl-"); is {
		return "kubectl " + strings.ReplaceAll(plugin, "_", "-")
	}
	return "ccm-migration-controller"
}
