package leadermigration

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// uniqueName: the lock is a Lease beside those of the managers' main locks.
func uniqueName(cluster Cluster, lock heldLock) []Violation {
	taken := append([]string{string(KCM), string(CCM), "kube-scheduler"}, cluster.OtherLeases...)
	name := regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
	switch {
	case slices.Contains(taken, lock.name):
		return []Violation{between(failed(UniqueName,
			"Another Lease of the control plane has the lock's name, and one leader would shut the other out.",
			"Give the lock a name of its own, the same in all files."), lock.by...)}
	case !name.MatchString(lock.name) || len(lock.name) > 253:
		return []Violation{between(failed(UniqueName, "The API accepts no Lease of this name, so no one ever gets the lock.",
			"Use lower case letters, digits, - and . only."), lock.by...)}
	}
	return nil
}

// immutableLoops: who has an older set of loops does not stop the others.
func immutableLoops(_ Cluster, lock heldLock) []Violation {
	var violations []Violation
	first := lock.by[0]
	for _, c := range lock.by[1:] {
		before, after := first.Lock.Loops(), c.Lock.Loops()
		if slices.Equal(before, after) {
			continue
		}
		v := failed(ImmutableLoops, fmt.Sprintf("The lock holds [%s] in %s and [%s] in %s.", listed(before), first, listed(after), c),
			"List the same loops in both; a loop that is to move by itself needs a lock of another name.")
		v.Loops = difference(before, after)
		violations = append(violations, between(v, first, c))
	}
	return violations
}

func difference(a, b []Loop) []Loop {
	var found []Loop
	for _, loop := range append(slices.Clone(a), b...) {
		if slices.Contains(a, loop) != slices.Contains(b, loop) {
			found = append(found, loop)
		}
	}
	slices.Sort(found)
	return found
}

func noSharedLoops(cluster Cluster) []Violation {
	var violations []Violation
	locks := cluster.locks()
	for i, older := range locks {
		for _, newer := range locks[i+1:] {
			if v, found := sharedLoops(older.by, newer.by); found {
				violations = append(violations, v)
			}
		}
	}
	return violations
}

// sharedLoops reports a pair of locks once, with all loops that both hold in any of their releases.
func sharedLoops(older, newer []Configuration) (Violation, bool) {
	var shared []Loop
	for _, loop := range AllLoops() {
		holds := func(c Configuration) bool { return slices.Contains(c.Lock.Loops(), loop) }
		if slices.ContainsFunc(older, holds) && slices.ContainsFunc(newer, holds) {
			shared = append(shared, loop)
		}
	}
	v := failed(NoSharedLoop, fmt.Sprintf("Lock %s holds %s, too: who has one of the locks does not stop who has the other.",
		newer[0].Lock.Name, listed(shared)), "Put each loop into one lock only, with the same name in all files.")
	v.Loops = shared
	return between(v, append(slices.Clone(older), newer...)...), len(shared) > 0
}

// oneManager: what counts is who runs something under the lock.
func oneManager(cluster Cluster, lock heldLock) []Violation {
	var violations []Violation
	for _, minor := range minorsOf(lock.by) {
		running := having(lock.by, func(c Configuration) bool {
			return c.Version.Minor == minor && slices.ContainsFunc(c.Lock.Entries, c.runs)
		})
		kcm := ofManager(KCM, running)
		ccm := ofManager(CCM, running)
		if len(kcm) == 0 || len(ccm) == 0 {
			continue
		}
		violations = append(violations, cluster.meant(between(failed(OneManager,
			fmt.Sprintf("In 1.%d the lock runs both in %s and in %s.", minor, KCM, CCM),
			fmt.Sprintf("Let KCM have it up to one minor, and CCM from the next one on; KCM of 1.%d then runs without "+
				"--enable-leader-migration.", minor)),
			append(kcm, ccm...)...)))
	}
	return violations
}

func minorsOf(configurations []Configuration) []int {
	var minors []int
	for _, c := range configurations {
		if !slices.Contains(minors, c.Version.Minor) {
			minors = append(minors, c.Version.Minor)
		}
	}
	return minors
}

func patchesKeepLocks(cluster Cluster) []Violation {
	var violations []Violation
	for i, c := range cluster.Configurations {
		next := slices.IndexFunc(cluster.Configurations[i+1:], func(other Configuration) bool {
			return other.Manager == c.Manager && other.Version.Minor == c.Version.Minor && other.Version.Patch != c.Version.Patch
		})
		if next < 0 {
			continue
		}
		other := cluster.Configurations[i+1+next]
		if c.describeLock() == other.describeLock() {
			continue
		}
		pair := []Configuration{c, other}
		if c.Lock == nil {
			slices.Reverse(pair)
		}
		violations = append(violations, cluster.meant(between(failed(PatchesKeepLocks,
			fmt.Sprintf("%s has %s, and %s has %s.", c, c.describeLock(), other, other.describeLock()),
			"Give all patch releases of a minor the same configuration; change it with the next minor."), pair...)))
	}
	return violations
}

// describeLock is equal for locks that do the same.
func (c Configuration) describeLock() string {
	if c.Lock == nil {
		return "no lock"
	}
	var places []string
	for _, loop := range AllLoops() {
		places = append(places, fmt.Sprintf("%s: %s", loop, c.Place(loop)))
	}
	return fmt.Sprintf("lock %s (%s)", c.Lock.Name, strings.Join(places, ", "))
}

func atMostTwoLocks(cluster Cluster) []Violation {
	locks := cluster.locks()
	if len(locks) <= 2 {
		return nil
	}
	var names []string
	var all []Configuration
	for _, lock := range locks {
		names, all = append(names, lock.name), append(all, lock.by...)
	}
	v := failed(AtMostTwoLocks, fmt.Sprintf("There are %d locks: %s.", len(names), strings.Join(names, ", ")),
		"Put the loops into one lock, or at most two: each costs the API server a Lease that is renewed all the time.")
	v = between(v, all...)
	v.Severity, v.Lock, v.Loops = SeverityWarning, strings.Join(names, ", "), nil
	for _, c := range all {
		v.Loops = append(v.Loops, difference(v.Loops, append(slices.Clone(v.Loops), c.Lock.Loops()...))...)
	}
	return []Violation{v}
}

func oneLockPerProcess(cluster Cluster) []Violation {
	var violations []Violation
	for i, c := range cluster.Configurations {
		for _, other := range cluster.Configurations[i+1:] {
			if c.String() != other.String() || c.Lock == nil || other.Lock == nil || c.Lock.Name == other.Lock.Name {
				continue
			}
			violations = append(violations, between(failed(OneLockPerProcess,
				fmt.Sprintf("%s is given locks %s and %s, and a process reads one file with one lock.", c, c.Lock.Name, other.Lock.Name),
				"Put the loops of both into one lock."), c, other))
		}
	}
	return violations
}
