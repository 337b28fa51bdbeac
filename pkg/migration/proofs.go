package migration

import (
	"maps"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// proofsToKeep in this pass; nil: they are kept already. They are written before the action that rests on them is done, and hold
// up no other one.
func proofsToKeep(in pass.Input, decision Decision) *observation.KeptProofs {
	kept, known := in.Proofs.Get()
	nodes, seen := in.Nodes.Get()
	rests := decision.Next() == nil || decision.Step == ucv1.StepRoll || decision.Step == ucv1.StepVerify
	if !known || !seen || !rests || pass.RollingBack(in) || in.Cluster.Status.CompletedAt != nil {
		return nil
	}
	now := baseline.Passing(nodes)
	if maps.Equal(now, kept.ByNode) {
		return nil
	}
	kept.ByNode = now
	return &kept
}
