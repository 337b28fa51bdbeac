package migration

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// rollbackRoll needs no CCM: in-tree Nodes initialize themselves, and that it does not serve may be why a person rolls back.
func rollbackRoll(in pass.Input) outcome.Outcome {
	if !in.Provider.IsKnown() {
		return outcome.CannotLook("the catalogue", in.Provider.Why())
	}
	if out := roll(in); !out.Holds {
		return out
	}
	nodes, known := in.Nodes.Get()
	if !known {
		return outcome.CannotLook("the Nodes", in.Nodes.Why())
	}
	var tainted []string
	for _, node := range nodes {
		if node.Uninitialized {
			tainted = append(tainted, node.Name)
		}
	}
	if len(tainted) > 0 {
		return outcome.Waits(ucv1.WaitingForNodesReason, "Only the CCM can initialize these Nodes, which belong to no Machine that "+
			"is replaced: "+wording.Names(tainted)+". Delete them if it does not.")
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}
