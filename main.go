// Command ccm-migration-controller moves user clusters from the in-tree cloud provider to an external
// cloud-controller-manager and CSI driver.
package main

import (
	"os"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli"
)

func main() {
	if err := cli.Command().Execute(); err != nil {
		os.Exit(cli.ExitCode(err))
	}
}
