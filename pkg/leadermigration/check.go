package leadermigration

import (
	"fmt"
	"slices"
)

// Configuration is one release of one manager of a cluster.
type Configuration struct {
	Manager Component
	Version Version
	// Lock is nil where the manager runs without --enable-leader-migration.
	Lock *Lock
}

// String is kube-controller-manager 1.29.3.
func (c Configuration) String() string { return string(c.Manager) + " " + c.Version.String() }

// Cluster is the control plane of one cluster through its releases.
type Cluster struct {
	Configurations []Configuration
	// APIServers are the releases of kube-apiserver; without any, skew is not judged.
	APIServers []Version
	// OtherLeases are in the namespace of the lock, besides those of the managers: for example a main lock that was renamed.
	OtherLeases []string
	// Provider is judged where it is given.
	Provider string
	// InPlace says that the hand-over is meant to happen within one minor.
	InPlace bool
}

// Check judges the configurations of one cluster by the rules of the lock. None is good news.
func Check(cluster Cluster) []Violation {
	known, violations := knownOnly(cluster)
	cluster.Configurations = known
	for _, c := range cluster.armed() {
		violations = append(violations, checkFile(c)...)
	}
	for _, lock := range cluster.locks() {
		for _, rule := range []func(Cluster, heldLock) []Violation{
			uniqueName, immutableLoops, oneManager, nextMinor, besideArmedKCM, runsSomewhere,
		} {
			violations = append(violations, rule(cluster, lock)...)
		}
	}
	for _, rule := range []func(Cluster) []Violation{
		noSharedLoops, patchesKeepLocks, atMostTwoLocks, oneLockPerProcess, skew, runsOnce, providerRules,
	} {
		violations = append(violations, rule(cluster)...)
	}
	return inOrder(violations)
}

// knownOnly sorts the configurations by release, and takes out those that nothing is known of.
func knownOnly(cluster Cluster) ([]Configuration, []Violation) {
	var known []Configuration
	var violations []Violation
	for _, c := range cluster.Configurations {
		switch _, found := KnownMinor(c.Version.Minor); {
		case !found:
			violations = append(violations, c.unknown())
		case c.Manager != KCM && c.Manager != CCM:
			v := failed(KnownComponent, fmt.Sprintf("%q is no manager.", c.Manager), fmt.Sprintf("Name %s or %s.", KCM, CCM))
			violations = append(violations, c.about(v))
		default:
			known = append(known, c)
		}
	}
	slices.SortStableFunc(known, func(a, b Configuration) int { return compareVersions(a.Version, b.Version) })
	return known, violations
}

// about adds what a violation of one configuration is about.
func (c Configuration) about(v Violation) Violation {
	v.Releases = []string{c.String()}
	if c.Lock != nil {
		v.Lock = c.Lock.Name
		if v.Loops == nil {
			v.Loops = c.Lock.Loops()
		}
	}
	return v
}

// between adds what a violation of several configurations is about; the first has the lock.
func between(v Violation, configurations ...Configuration) Violation {
	v = configurations[0].about(v)
	for _, c := range configurations[1:] {
		if !slices.Contains(v.Releases, c.String()) {
			v.Releases = append(v.Releases, c.String())
		}
	}
	return v
}

// having are the configurations that satisfy a condition.
func having(configurations []Configuration, condition func(Configuration) bool) []Configuration {
	var found []Configuration
	for _, c := range configurations {
		if condition(c) {
			found = append(found, c)
		}
	}
	return found
}

func ofManager(manager Component, configurations []Configuration) []Configuration {
	return having(configurations, func(c Configuration) bool { return c.Manager == manager })
}

// armed are those with a lock.
func (c Cluster) armed() []Configuration {
	return having(c.Configurations, func(c Configuration) bool { return c.Lock != nil })
}

// heldLock is a lock with the configurations that have it.
type heldLock struct {
	name string
	by   []Configuration
}

// locks of the cluster, those of older releases first.
func (c Cluster) locks() []heldLock {
	var locks []heldLock
	for _, configuration := range c.armed() {
		at := slices.IndexFunc(locks, func(lock heldLock) bool { return lock.name == configuration.Lock.Name })
		if at < 0 {
			at = len(locks)
			locks = append(locks, heldLock{name: configuration.Lock.Name})
		}
		locks[at].by = append(locks[at].by, configuration)
	}
	return locks
}

// meant lowers a violation to a warning where the hand-over is meant to happen within one minor.
func (c Cluster) meant(v Violation) Violation {
	if c.InPlace {
		v.Severity = SeverityWarning
	}
	return v
}
