package provider

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// skewPolicy says how far the versions of a cluster's components may be apart.
const skewPolicy = "https://kubernetes.io/releases/version-skew-policy/"

// State is what version rules are judged on.
type State struct {
	// Provider of the catalogue.
	Provider string
	// Version of Kubernetes, such as 1.25.16 or v1.25.16.
	Version string
	// Condition that the cluster is in.
	Condition manifest.Condition
}

// Judge says which version rules refuse a change; without a state before, the cluster is created. Both states are asked: a rule
// for in-tree clusters also refuses an upgrade that comes together with the feature. A state that is bad already is refused
// nothing that leaves it as it is.
func (c *Catalogue) Judge(before, after *State) []Refusal {
	minor, err := manifest.Minor(after.Version)
	operations := operationsOf(before, after)
	switch {
	case len(operations) == 0:
		return nil
	case err != nil:
		return []Refusal{{Operations: operations, Reason: sentence(err), Link: skewPolicy}}
	}
	was, conditions := minor, []manifest.Condition{after.Condition}
	if before != nil {
		was, _ = manifest.Minor(before.Version)
		conditions = append(conditions, before.Condition)
	}
	if c.stuck(before, was) {
		operations = slices.DeleteFunc(operations, isStep)
	}
	var refusals []Refusal
	for _, rule := range c.rules(after, minor) {
		var refused []manifest.Operation
		for _, operation := range operations {
			if refuses(rule, operation, was, minor, conditions) {
				refused = append(refused, operation)
			}
		}
		if len(refused) > 0 {
			refusals = append(refusals, Refusal{Operations: refused, Condition: rule.Condition, Reason: rule.Reason, Link: rule.Link})
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
func (c *Catalogue) stuck(before *State, minor int) bool {
	return before != nil && slices.ContainsFunc(c.rules(before, minor), func(rule manifest.VersionRule) bool {
		return rule.Holds(minor, manifest.Upgrade, before.Condition)
	})
}

// rules for a state: those of all providers, and those of its own, that are about its release.
func (c *Catalogue) rules(state *State, minor int) []manifest.VersionRule {
	return slices.DeleteFunc(
		c.rulesOfMinor(state, minor),
		func(rule manifest.VersionRule) bool { return !rule.CoversRelease(state.Version) },
	)
}

func (c *Catalogue) rulesOfMinor(state *State, minor int) []manifest.VersionRule {
	profile, ok := c.Lookup(state.Provider)
	if !ok {
		return commonRules()
	}
	gaps, err := gapRules(profile, state.Version, minor)
	for i := range gaps {
		gaps[i].Reason = sentence(err)
	}
	return slices.Concat(commonRules(), profile.Describe().Rules, gaps)
}

// commonRules hold for every provider.
func commonRules() []manifest.VersionRule {
	return []manifest.VersionRule{
		{
			// A loop that moves from one manager to another does so within one minor: the lock of the migration belongs to one
			// of them for as long as the minor lasts.
			Operations: []manifest.Operation{manifest.Upgrade, manifest.Patch},
			Condition:  manifest.WhileMigrating,
			Reason: "The version of Kubernetes does not change in the middle of a migration, nor together with its start: change the " +
				"one or the other, and wait for condition InTreeConfigurationRemoved between them.",
			Link: "https://github.com/kubernetes/enhancements/tree/master/keps/sig-cloud-provider/2436-controller-manager-leader-migration",
		},
		{
			// kubeadm does not either, and goes back by one at most:
			// https://github.com/kubernetes/kubernetes/blob/04791b4906602ffda5ccf9bc4c84d3329f1d7080/cmd/kubeadm/app/phases/upgrade/policy.go
			Operations: []manifest.Operation{manifest.Skip},
			Reason:     "Kubernetes goes from one minor to the next and skips none: write each of them, one after the other.",
			Link:       skewPolicy + "#supported-component-upgrade-order",
		},
		crashingReleases(),
		{
			// From 1.32 on one can be kept at what the minor before it can do (--emulated-version), and then go back.
			To: 30, Operations: []manifest.Operation{manifest.Downgrade},
			Reason: "A kube-apiserver may not read what a newer one stored, so Kubernetes does not go back: stay at the newer minor. " +
				"If it was written by mistake, delete the Cluster and create it with the right one; the user cluster stays as it is.",
			Link: "https://kubernetes.io/docs/concepts/cluster-administration/compatibility-version/",
		},
	}
}

// crashingReleases are about what step Finalize does not leave behind, but a cluster that was migrated or made otherwise may be.
func crashingReleases() manifest.VersionRule {
	return manifest.VersionRule{
		From:        31,
		To:          31,
		BeforePatch: 3,
		Operations:  []manifest.Operation{manifest.Upgrade, manifest.Patch},
		Condition:   manifest.WhileExternal,
		Reason:      "kube-controller-manager 1.31.0 to 1.31.2 crashes without --cloud-provider=external: use 1.31.3 or later.",
		Link:        "https://github.com/kubernetes/kubernetes/pull/128182",
	}
}

// skewRules hold for the minors that a provider has no CCM for.
func skewRules() []manifest.VersionRule {
	const (
		reason = "There is no cloud-controller-manager for this minor in the catalogue. It may be one minor older than " +
			"kube-apiserver and never newer, so no other will do: choose another version, or update the controller."
		link = skewPolicy + "#kube-controller-manager-kube-scheduler-and-cloud-controller-manager"
	)
	return []manifest.VersionRule{
		{
			Operations: []manifest.Operation{manifest.Create, manifest.Upgrade},
			Condition:  manifest.WhileExternal,
			Reason:     reason,
			Link:       link,
		},
		{Operations: []manifest.Operation{manifest.Migrate}, Condition: manifest.WhileInTree, Reason: reason, Link: link},
	}
}

// gapRules are those of a minor that a provider has no CCM for, and why it has none.
func gapRules(profile Profile, version string, minor int) ([]manifest.VersionRule, error) {
	_, err := profile.Release(version)
	if err == nil {
		return nil, nil
	}
	own := profile.Describe().Rules
	var gaps []manifest.VersionRule
	for _, rule := range skewRules() {
		rule.From, rule.To = minor, minor
		// What the provider refuses by itself, it gives a better reason for.
		rule.Operations = slices.DeleteFunc(rule.Operations, func(operation manifest.Operation) bool {
			return slices.ContainsFunc(own, func(of manifest.VersionRule) bool { return of.Holds(minor, operation, rule.Condition) })
		})
		if len(rule.Operations) > 0 {
			gaps = append(gaps, rule)
		}
	}
	return gaps, err
}

// Facts are what deciding needs to know of a provider, with what its description has and what the version rules refuse.
func (c *Catalogue) Facts(name, version string) (observation.Provider, bool) {
	profile, ok := c.Lookup(name)
	if !ok {
		return observation.Provider{}, false
	}
	facts, description := profile.Facts(version), profile.Describe()
	facts.ProviderIDForm = description.ProviderID
	if tree := description.InTree; tree != nil {
		facts.InTreePlugins, facts.Registries = slices.Sorted(maps.Keys(tree.Plugins)), tree.Registries
	}
	inTree := &State{name, version, manifest.WhileInTree}
	facts.MigrationProblem = Sentences(c.Judge(inTree, &State{name, version, manifest.WhileMigrating}))
	facts.VersionProblem = Sentences(c.Judge(nil, &State{name, version, manifest.WhileExternal}))
	return facts, true
}

// Sentences are the reasons of refusals, each once.
func Sentences(refusals []Refusal) string {
	var sentences []string
	for _, refusal := range refusals {
		if text := refusal.Sentence(); !slices.Contains(sentences, text) {
			sentences = append(sentences, text)
		}
	}
	return strings.Join(sentences, " ")
}

func sentence(err error) string {
	text := err.Error()
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:] + "."
}
