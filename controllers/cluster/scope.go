package cluster

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster/status"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
)

// scope is what one pass knows; it lives as long as the pass. What the status says of it is its Pass.
type scope struct {
	status.Pass

	// Set by observe. session is nil when the user cluster cannot be reached, identity is zero when the provider is not
	// known, addons are empty until what the CCM inherits is recorded.
	session   *usercluster.Session
	identity  manifest.Identity
	addons    manifest.Addons
	inventory []addons.InventoryEntry
	// cloudConfig is the content of the Secret, for what is done in the cloud.
	cloudConfig map[string][]byte
	// renderProblem is why the addons are empty although everything for them is there.
	renderProblem string
	// profile is laid over the addons; nil when there is none. profileProblem is why there is one that cannot be.
	profile        *ucv1.ProviderProfileSpec
	profileProblem string
}

// needs of this pass. They do not change within it: the facts that a decision sets are those of the next one.
func (s *scope) needs() migration.Needs {
	return migration.NeedsOf(s.Cluster, s.Observed.Provider.Value(), s.Now)
}

// connecting says that the first connection since our start is still being made and that the status is about this spec
// already: a restart must not make a whole fleet look unreachable for a moment. The registry wakes us when it knows more.
func (s *scope) connecting() bool {
	return s.Observed.Connection.Connecting && s.Cluster.Status.ObservedGeneration == s.Cluster.Generation &&
		s.Cluster.DeletionTimestamp.IsZero()
}

// settled says that nothing is expected to change any more, so that the user cluster need not be watched. A cluster
// without Nodes is not: its first Node ends that. Nor is one that is measured for its soak time.
func (s *scope) settled() bool {
	switch s.Decision.Step {
	case ucv1.StepRolledBack:
		return true
	case ucv1.StepFinished:
	default:
		return false
	}
	if s.needs().Measurements {
		return false
	}
	csi, ccm := s.Shown.CSI, s.Shown.CCM
	if csi == nil || ccm == nil {
		return true
	}
	return csi.Holds && ccm.Holds && csi.Reason == ucv1.HoldsReason && ccm.Reason == ucv1.HoldsReason
}
