package versions

import (
	"slices"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// State is what version rules are judged on.
type State struct {
	// Provider is nil for one that the catalogue does not have: only the rules of all providers are known of it.
	Provider Provider
	// Version of Kubernetes, such as 1.25.16 or v1.25.16.
	Version string
	// Condition that the cluster is in.
	Condition manifest.Condition
}

// Judge says which version rules refuse a change; without a state before, the cluster is created. Both states are asked: a rule
// for in-tree clusters also refuses an upgrade that comes together with the feature. A state that is bad already is refused
// nothing that leaves it as it is.
func Judge(before, after *State) []Refusal {
	minor, err := manifest.Minor(after.Version)
	operations := operationsOf(before, after)
	switch {
	case len(operations) == 0:
		return nil
	case err != nil:
		return []Refusal{{Operations: operations, Reason: wording.Capital(err.Error()) + ".", Link: skewPolicy}}
	}
	was, conditions := minor, []manifest.Condition{after.Condition}
	if before != nil {
		was, _ = manifest.Minor(before.Version)
		conditions = append(conditions, before.Condition)
	}
	if before.stuck(was) {
		operations = slices.DeleteFunc(operations, isStep)
	}
	var refusals []Refusal
	for _, rule := range after.rules(minor) {
		var refused []manifest.Operation
		for _, operation := range operations {
			if refuses(rule, operation, was, minor, conditions) {
				refused = append(refused, operation)
			}
		}
		if len(refused) > 0 {
			refusals = append(refusals, refusalOf(rule, refused))
		}
	}
	return refusals
}

// refuses looks at the minor before, too, where the feature is switched on together with a change of the version.
func refuses(rule manifest.VersionRule, operation manifest.Operation, was, minor int, conditions []manifest.Condition) bool {
	return slices.ContainsFunc(conditions, func(condition manifest.Condition) bool {
		return rule.Holds(minor, operation, condition) || operation == manifest.Migrate && rule.Holds(was, operation, condition)
	})
}

// operationsOf a change.
func operationsOf(before, after *State) []manifest.Operation {
	if before == nil {
		return []manifest.Operation{manifest.Create}
	}
	var operations []manifest.Operation
	from, err := manifest.Minor(before.Version)
	to, _ := manifest.Minor(after.Version)
	switch {
	case strings.TrimPrefix(before.Version, "v") == strings.TrimPrefix(after.Version, "v"):
	case err != nil:
		operations = append(operations, manifest.Upgrade)
	case from == to:
		operations = append(operations, manifest.Patch)
	default:
		operations = append(operations, manifest.Upgrade)
		if to < from {
			operations = append(operations, manifest.Downgrade)
		}
		if to > from+1 || to < from-1 {
			operations = append(operations, manifest.Skip)
		}
	}
	if before.Condition == manifest.WhileInTree && after.Condition == manifest.WhileMigrating {
		operations = append(operations, manifest.Migrate)
	}
	return operations
}

// isStep says whether an operation is about how far an upgrade goes, and not where to.
func isStep(operation manifest.Operation) bool {
	return operation == manifest.Skip || operation == manifest.Downgrade
}

// stuck says whether a cluster says to be at a minor that it could not have been upgraded to: a mistake that was made before
// anybody judged it. There has to be a way out.
func (s *State) stuck(minor int) bool {
	return s != nil && slices.ContainsFunc(s.rules(minor), func(rule manifest.VersionRule) bool {
		return rule.Holds(minor, manifest.Upgrade, s.Condition)
	})
}

// rules for a state: those of all providers, and those of its own, that are about its release.
func (s *State) rules(minor int) []manifest.VersionRule {
	return slices.DeleteFunc(
		s.rulesOfMinor(minor),
		func(rule manifest.VersionRule) bool { return !rule.CoversRelease(s.Version) },
	)
}

func (s *State) rulesOfMinor(minor int) []manifest.VersionRule {
	if s.Provider == nil {
		return commonRules()
	}
	gaps, err := gapRules(s.Provider, s.Version, minor)
	for i := range gaps {
		gaps[i].Reason = wording.Capital(err.Error()) + "."
	}
	return slices.Concat(commonRules(), s.Provider.Describe().Rules, gaps)
}
