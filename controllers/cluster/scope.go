package cluster

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
)

// scope is what one pass knows; it lives as long as the pass.
type scope struct {
	cluster *ucv1.Cluster
	now     time.Time

	// Set by observe. session is nil when the user cluster cannot be reached, identity is zero when the provider is not
	// known, addons are empty until what the CCM inherits is recorded.
	session   *usercluster.Session
	identity  manifest.Identity
	addons    manifest.Addons
	inventory []addons.InventoryEntry
	// renderProblem is why the addons are empty although everything for them is there.
	renderProblem string
	// profile is laid over the addons; nil when there is none. profileProblem is why there is one that cannot be.
	profile        *ucv1.ProviderProfileSpec
	profileProblem string
	observed       observation.Observation
	// preflightAt is when preflight read what its findings rest on.
	preflightAt time.Time
	// credentials are what is found about ours after the start; unknown when the user cluster cannot be reached.
	credentials observation.Observed[[]observation.Finding]

	// acceptances of the spec, with who vouches for them. pausedBy is who set spec.paused as it is.
	acceptances []ucv1.AcceptanceStatus
	pausedBy    string

	// Set by Decide, and by what a status shows beside that.
	decision migration.Decision
	shown    migration.Shown

	// Set by act.
	actErr error
	// unkept says that the proofs of kubelets could not be kept, so that nothing was done.
	unkept bool

	// pendingTimeline are actions of earlier passes whose status could not be written.
	pendingTimeline []ucv1.TimelineEntry
}

// needs of this pass. They do not change within it: the facts that a decision sets are those of the next one.
func (s *scope) needs() migration.Needs {
	return migration.NeedsOf(s.cluster, s.observed.Provider.Value(), s.now)
}

// connecting says that the first connection since our start is still being made and that the status is about this spec
// already: a restart must not make a whole fleet look unreachable for a moment. The registry wakes us when it knows more.
func (s *scope) connecting() bool {
	return s.observed.Connection.Connecting && s.cluster.Status.ObservedGeneration == s.cluster.Generation &&
		s.cluster.DeletionTimestamp.IsZero()
}

// settled says that nothing is expected to change any more, so that the user cluster need not be watched. A cluster
// without Nodes is not: its first Node ends that. Nor is one that is measured for its soak time.
func (s *scope) settled() bool {
	switch s.decision.Step {
	case ucv1.StepRolledBack:
		return true
	case ucv1.StepFinished:
	default:
		return false
	}
	if s.needs().Measurements {
		return false
	}
	csi, ccm := s.shown.CSI, s.shown.CCM
	if csi == nil || ccm == nil {
		return true
	}
	return csi.Holds && ccm.Holds && csi.Reason == ucv1.HoldsReason && ccm.Reason == ucv1.HoldsReason
}
