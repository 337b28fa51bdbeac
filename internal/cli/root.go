package cli

import (
	"os"

	"github.com/spf13/cobra"
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
	root.SetErr(printer{os.Stderr})
	root.AddCommand(managerCommand(), adoptionCommand(), fenceCommand(), handoverCommand(), instructionsCommand(), inventoryCommand(),
		leaderMigrationCommand(), planCommand(), renderCommand(), statusCommand(), versionsCommand(), whyCommand())
	return root
}
