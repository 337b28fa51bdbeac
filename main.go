// Command ccm-migration-controller moves user clusters from the in-tree cloud provider to an external
// cloud-controller-manager and CSI driver.
package main

import (
	"os"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

func main() {
	os.Exit(terminal.ExitCode(cli.Command().Execute()))
}
