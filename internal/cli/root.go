package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/fence"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/fleet"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/manager"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/plan"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/register"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/render"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/report"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// Command is the root command.
func Command() *cobra.Command {
	root := &cobra.Command{
		Use:           "ccm-migration-controller",
		Short:         "Moves user clusters from the in-tree cloud provider to an external one.",
		SilenceUsage:  true,
		SilenceErrors: false,
	}
	// Errors quote what API servers say.
	root.SetErr(terminal.Output{Writer: os.Stderr})
	root.AddCommand(
		manager.Command(),
		plan.Adoption(),
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
		render.Versions(),
		report.Why(),
	)
	return root
}
