package manifest

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/version"
)

// Operation that a version rule is about.
type Operation string

// The operations.
const (
	// Create makes a Cluster.
	Create Operation = "create"
	// Upgrade goes to another minor.
	Upgrade Operation = "upgrade"
	// Migrate switches the feature on for a Cluster that is in-tree.
	Migrate Operation = "migrate"
	// Skip is an Upgrade by more than one minor, up or down.
	Skip Operation = "skip"
	// Downgrade is an Upgrade to an older minor.
	Downgrade Operation = "downgrade"
	// Patch goes to another version of the same minor.
	Patch Operation = "patch"
)

// Condition that a cluster is in.
type Condition string

// The conditions.
const (
	// WhileInTree is a cluster whose migration has not started.
	WhileInTree Condition = "in-tree"
	// WhileMigrating is one from the start of the migration until the in-tree configuration is removed.
	WhileMigrating Condition = "migrating"
	// WhileExternal is one whose migration is done, or that was created with the external cloud provider.
	WhileExternal Condition = "external"
)

// VersionRule refuses operations for a range of minors. For an Upgrade that is the minor it goes to.
type VersionRule struct {
	// From and To are minors, both included; 0 leaves an end open.
	From, To int
	// BeforePatch leaves only the releases of minor To that are older than this patch; 0 leaves all of them.
	BeforePatch int
	// Operations that are refused.
	Operations []Operation
	// Condition of the clusters that it is about; empty: any.
	Condition Condition
	// Reason is a sentence that names what to do instead.
	Reason string
	// Link to the upstream fact.
	Link string
}

// Holds says whether the rule refuses the operation for a minor in a condition.
func (r VersionRule) Holds(minor int, operation Operation, condition Condition) bool {
	return r.Covers(minor) && slices.Contains(r.Operations, operation) && (r.Condition == "" || r.Condition == condition)
}

// CoversRelease says whether a version that is of a covered minor is a release that the rule is about.
func (r VersionRule) CoversRelease(text string) bool {
	parsed, err := version.ParseSemantic(text)
	return r.BeforePatch == 0 || err == nil && int(parsed.Minor()) == r.To && int(parsed.Patch()) < r.BeforePatch
}

// Covers says whether a minor is in the rule's range.
func (r VersionRule) Covers(minor int) bool {
	return minor >= r.From && (r.To == 0 || minor <= r.To)
}
