package pass

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// NodesReady protects Nodes: the lifecycle loop deletes NotReady Nodes that the cloud does not know.
func NodesReady(in Input) outcome.Outcome {
	nodes, known := in.Nodes.Get()
	if !known {
		return outcome.CannotLook("the Nodes", in.Nodes.Why())
	}
	var notReady []string
	for _, node := range nodes {
		if !node.Ready {
			notReady = append(notReady, node.Name)
		}
	}
	if len(notReady) > 0 {
		return outcome.Waits(ucv1.NodesNotReadyReason, "These Nodes are not Ready, and the cloud loops would delete them if the "+
			"cloud does not know them: "+
			wording.Names(notReady)+". Repair or delete them.")
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}
