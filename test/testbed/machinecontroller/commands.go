package machinecontroller

import (
	"github.com/spf13/cobra"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/controller"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/osm"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/webhook"
)

// Commands are machine-controller, machine-controller-webhook and
// operating-system-manager.
func Commands() []*cobra.Command {
	return []*cobra.Command{controller.Command(), webhook.Command(), osm.Command()}
}
