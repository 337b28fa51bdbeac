package leadermigration

import (
	"fmt"
	"slices"
	"strings"
)

// nextMinor: between two control planes that are more than one minor apart, no one vouches for what runs the loops.
func nextMinor(_ Cluster, lock heldLock) []Violation {
	kcm := ofManager(KCM, lock.by)
	ccm := ofManager(CCM, lock.by)
	if len(kcm) == 0 || len(ccm) == 0 {
		return nil
	}
	last, first := kcm[len(kcm)-1], ccm[0]
	if first.Version.Minor <= last.Version.Minor+1 {
		return nil
	}
	return []Violation{between(failed(NextMinor, fmt.Sprintf("The lock leaves %s and is next seen in %s.", last, first),
		fmt.Sprintf("Give it to CCM 1.%d: a control plane is upgraded one minor at a time, and each has to have the lock somewhere.",
			last.Version.Minor+1)), last, first)}
}

// besideArmedKCM: what KCM runs under its main lock knows no migration lock.
func besideArmedKCM(_ Cluster, lock heldLock) []Violation {
	var violations []Violation
	for _, c := range ofManager(CCM, lock.by) {
		minor := c.Version.Minor
		partner := slices.ContainsFunc(lock.by, func(other Configuration) bool {
			beside := other.Manager == KCM && (other.Version.Minor == minor || other.Version.Minor == minor-1)
			return beside || other.Manager == CCM && other.Version.Minor == minor-1
		})
		if partner {
			continue
		}
		violations = append(violations, c.about(failed(BesideArmedKCM,
			fmt.Sprintf("No %s of 1.%d or 1.%d has the lock: it runs the loops under its main lock, and the lock does not stop it.",
				KCM, minor-1, minor),
			fmt.Sprintf("Arm every replica of KCM with the lock before CCM %s starts; if its cloud loops are off for good, take the "+
				"lock out of CCM.", c.Version))))
	}
	return violations
}

// skew is the policy of Kubernetes for controller managers: https://kubernetes.io/releases/version-skew-policy/.
func skew(cluster Cluster) []Violation {
	if len(cluster.APIServers) == 0 {
		return nil
	}
	var violations []Violation
	for _, c := range cluster.Configurations {
		fits := slices.ContainsFunc(cluster.APIServers, func(server Version) bool {
			return server.Minor == c.Version.Minor || server.Minor == c.Version.Minor+1
		})
		if fits {
			continue
		}
		v := c.about(failed(Skew,
			fmt.Sprintf("%s is newer than %s, or more than one minor older, in all of its releases.", c, APIServer),
			fmt.Sprintf("Run it beside %s 1.%d or 1.%d.", APIServer, c.Version.Minor, c.Version.Minor+1)))
		for _, server := range cluster.APIServers {
			v.Releases = append(v.Releases, string(APIServer)+" "+server.String())
		}
		violations = append(violations, v)
	}
	return violations
}

// runsOnce compares each armed KCM with each CCM that may run beside it, loop by loop: unless both run the loop under the
// same lock, nothing keeps them apart.
func runsOnce(cluster Cluster) []Violation {
	var violations []Violation
	for _, kcm := range ofManager(KCM, cluster.armed()) {
		for _, ccm := range ofManager(CCM, cluster.Configurations) {
			if distance := kcm.Version.Minor - ccm.Version.Minor; distance < -1 || distance > 1 {
				continue
			}
			twice := slices.DeleteFunc(runTwice(kcm, ccm), func(loop Loop) bool { return cluster.handedOver(kcm, loop) })
			if len(twice) == 0 {
				continue
			}
			v := failed(RunsOnce, fmt.Sprintf("%s, and %s: both can run at once.", places(kcm, twice), places(ccm, twice)),
				"Put each of the loops into the same lock on both sides, under the names that each version compares.")
			v.Loops = twice
			violations = append(violations, between(v, kcm, ccm))
		}
	}
	return violations
}

// handedOver says that an older KCM gave the loop to CCM by a lock that this KCM no longer has: then it is taken to run with
// --cloud-provider=external or without the loop, which its configuration does not show.
func (c Cluster) handedOver(kcm Configuration, loop Loop) bool {
	if kcm.Place(loop) != MainLock {
		return false
	}
	for _, lock := range c.locks() {
		holds := func(manager Component, before int) bool {
			return slices.ContainsFunc(lock.by, func(other Configuration) bool {
				return other.Manager == manager && other.Version.Minor < before && other.Place(loop) == MigrationLock
			})
		}
		if lock.name != kcm.Lock.Name && holds(KCM, kcm.Version.Minor) && holds(CCM, kcm.Version.Minor+1) {
			return true
		}
	}
	return false
}

func runTwice(kcm, ccm Configuration) []Loop {
	var twice []Loop
	for _, loop := range CloudLoops() {
		here, there := kcm.Place(loop), ccm.Place(loop)
		sameLock := here == MigrationLock && there == MigrationLock && ccm.Lock.Name == kcm.Lock.Name &&
			ccm.Lock.ResourceLock == kcm.Lock.ResourceLock
		if here != Nowhere && there != Nowhere && !sameLock {
			twice = append(twice, loop)
		}
	}
	return twice
}

// places says where a manager runs the loops.
func places(c Configuration, loops []Loop) string {
	var texts []string
	for _, place := range []Place{MainLock, MigrationLock} {
		here := slices.DeleteFunc(slices.Clone(loops), func(loop Loop) bool { return c.Place(loop) != place })
		if len(here) > 0 {
			texts = append(texts, fmt.Sprintf("%s under the %s", listed(here), place))
		}
	}
	return fmt.Sprintf("%s runs %s", c, strings.Join(texts, " and "))
}

// runsSomewhere: a loop that each of the managers leaves to the other runs nowhere. KCM from 1.31 on, which has none
// anyway, is judged by InTree.
func runsSomewhere(_ Cluster, lock heldLock) []Violation {
	var violations []Violation
	for _, minor := range minorsOf(lock.by) {
		here := having(lock.by, func(c Configuration) bool { return c.Version.Minor == minor && c.hasLoops() })
		if len(here) == 0 {
			continue
		}
		nowhere := slices.DeleteFunc(here[0].Lock.Loops(), func(loop Loop) bool {
			found := slices.ContainsFunc(here, func(c Configuration) bool { return c.lists(loop) })
			return !found || slices.ContainsFunc(here, func(c Configuration) bool { return c.Place(loop) == MigrationLock })
		})
		if len(nowhere) == 0 {
			continue
		}
		v := failed(RunsSomewhere, fmt.Sprintf("In 1.%d none of the managers that have the lock runs %s.", minor, listed(nowhere)),
			"Name as component the manager that is to run the loop in this release, and arm it with the lock.")
		v.Loops = nowhere
		violations = append(violations, between(v, here...))
	}
	return violations
}

// providerRules look at the provider where it is given.
func providerRules(cluster Cluster) []Violation {
	if cluster.Provider == "" {
		return nil
	}
	provider, known := LookupProvider(cluster.Provider)
	var violations []Violation
	for _, c := range cluster.armed() {
		switch {
		case c.Manager == CCM && !provider.HonoursLock:
			violations = append(violations, c.about(notHonoured(cluster.Provider)))
		case c.Manager == KCM && known && c.hasLoops() && c.Version.Minor > provider.LastInTreeMinor:
			violations = append(violations, c.about(failed(InTree,
				fmt.Sprintf("KCM %s does not know provider %s: 1.%d is the last that does (%s).",
					c.Version, provider.Name, provider.LastInTreeMinor, provider.LastInTreeSource),
				fmt.Sprintf("Hand over while the control plane is at 1.%d or older; afterwards there is nothing to hand over.",
					provider.LastInTreeMinor))))
		}
	}
	return violations
}

func notHonoured(name string) Violation {
	reason := "nothing is known of the cloud-controller-manager of provider " + name
	if provider, known := LookupProvider(name); known {
		reason = provider.Reason + " (" + provider.Source + ")"
	}
	return failed(HonouredLock, fmt.Sprintf("The CCM of provider %s is not known to honour the lock: %s.", name, reason),
		"Hand over without the lock: switch the loops off in KCM, prove that it is silent, and only then let CCM lead.")
}
