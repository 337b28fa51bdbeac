package versions

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// skewPolicy says how far the versions of a cluster's components may be apart.
const skewPolicy = "https://kubernetes.io/releases/version-skew-policy/"

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
		Reason:      "KCM of 1.31.0 to 1.31.2 crashes without --cloud-provider=external: use 1.31.3 or later.",
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
func gapRules(provider Provider, version string, minor int) ([]manifest.VersionRule, error) {
	_, err := provider.Release(version)
	if err == nil {
		return nil, nil
	}
	own := provider.Describe().Rules
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

func rulesOf(provider Provider, minor int) []manifest.VersionRule {
	// Why there is no CCM is said by the row's problem: the reason is the same for all of them.
	gaps, _ := gapRules(provider, versionOf(minor), minor)
	return slices.Concat(provider.Describe().Rules, gaps)
}
