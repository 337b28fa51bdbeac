package leadermigration_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
)

const (
	kcm = leadermigration.KCM
	ccm = leadermigration.CCM
)

// at is a manager of a release with a lock; nil is one that is not armed.
func at(manager leadermigration.Component, version string, lock *leadermigration.Lock) leadermigration.Configuration {
	v, err := leadermigration.ParseVersion(version)
	if err != nil {
		panic(err)
	}
	return leadermigration.Configuration{Manager: manager, Version: v, Lock: lock}
}

// lock lists names for either manager.
func lock(name string, names ...string) *leadermigration.Lock {
	l := &leadermigration.Lock{Name: name, ResourceLock: leadermigration.Leases}
	for _, n := range names {
		l.Entries = append(l.Entries, leadermigration.Entry{Name: n, Component: leadermigration.Either})
	}
	return l
}

// full lists all cloud loops by both generations of names.
func full(name string) *leadermigration.Lock {
	return lock(name, "service", "route", "cloud-node-lifecycle", "service-lb-controller", "node-route-controller",
		"cloud-node-lifecycle-controller")
}

// only puts all entries of a lock on one manager.
func only(l *leadermigration.Lock, manager leadermigration.Component) *leadermigration.Lock {
	for i := range l.Entries {
		l.Entries[i].Component = manager
	}
	return l
}

// builtIn is the lock of a manager that is armed without a file.
func builtIn(minor int) *leadermigration.Lock {
	m, _ := leadermigration.KnownMinor(minor)
	return m.BuiltIn
}

func versions(texts ...string) []leadermigration.Version {
	var list []leadermigration.Version
	for _, text := range texts {
		list = append(list, at(kcm, text, nil).Version)
	}
	return list
}

type checkCase struct {
	configurations []leadermigration.Configuration
	change         func(*leadermigration.Cluster)
	// rules that are violated, in order.
	rules []leadermigration.Rule
	// lock, loops and releases of the first violation, and what its message and advice say.
	lock     string
	loops    []leadermigration.Loop
	releases []string
	says     string
	advises  string
	warning  bool
}

func (c checkCase) check(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	cluster := leadermigration.Cluster{Configurations: c.configurations}
	if c.change != nil {
		c.change(&cluster)
	}
	violations := leadermigration.Check(cluster)
	var rules []leadermigration.Rule
	for _, v := range violations {
		rules = append(rules, v.Rule)
		g.Expect(v.Message).To(HaveSuffix("."), "a sentence")
		g.Expect(v.Fix).To(HaveSuffix("."), "a sentence")
		g.Expect(v.Releases).NotTo(BeEmpty())
	}
	g.Expect(rules).To(Equal(c.rules), "%v", violations)
	if len(c.rules) == 0 {
		return
	}
	first := violations[0]
	g.Expect(first.Lock).To(Equal(c.lock))
	g.Expect(first.Loops).To(Equal(c.loops))
	g.Expect(first.Releases).To(Equal(c.releases))
	g.Expect(first.Message).To(ContainSubstring(c.says))
	g.Expect(first.Fix).To(ContainSubstring(c.advises))
	g.Expect(leadermigration.HasErrors(violations)).To(Equal(!c.warning))
}

func checkAll(t *testing.T, cases map[string]checkCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, tc.check)
	}
}

func allLoops() []leadermigration.Loop {
	return []leadermigration.Loop{"cloud-node-lifecycle", "route", "service"}
}

func TestNamesOfLocks(t *testing.T) {
	checkAll(t, map[string]checkCase{
		"a lock that goes from KCM of one minor to CCM of the next one is fine": {
			configurations: []leadermigration.Configuration{
				at(kcm, "1.29.3", full("a")), at(kcm, "1.29.14", full("a")), at(ccm, "1.30.1", full("a")), at(kcm, "1.30.1", nil),
				at(ccm, "1.31.0", nil),
			},
		},
		"the same with each manager named is fine": {
			configurations: []leadermigration.Configuration{at(kcm, "1.21.3", only(full("a"), kcm)),
				at(ccm, "1.22", only(full("a"), ccm))},
		},
		"two locks that move one after the other are fine, when each process has one": {
			configurations: []leadermigration.Configuration{
				at(kcm, "1.27", lock("a", "service", "route", "cloud-node-lifecycle")), at(ccm, "1.28", full("a")),
				at(kcm, "1.29", lock("b", "node-ipam-controller")), at(ccm, "1.30", lock("b", "node-ipam-controller")),
			},
		},
		"a second lock does not cover the loops that no lock has moved before": {
			configurations: []leadermigration.Configuration{at(kcm, "1.29", lock("b", "node-ipam-controller")),
				at(ccm, "1.30", lock("b", "node-ipam-controller"))},
			rules: []leadermigration.Rule{leadermigration.RunsOnce}, lock: "b", loops: allLoops(),
			releases: []string{"kube-controller-manager 1.29", "cloud-controller-manager 1.30"}, says: "both can run at once",
		},
		"a lock with the name of a main lock is refused": {
			configurations: []leadermigration.Configuration{at(kcm, "1.29", full("kube-controller-manager"))},
			rules:          []leadermigration.Rule{leadermigration.UniqueName}, lock: "kube-controller-manager", loops: allLoops(),
			releases: []string{"kube-controller-manager 1.29"}, says: "Another Lease", advises: "a name of its own",
		},
		"a lock with the name of another Lease that is there is refused": {
			configurations: []leadermigration.Configuration{at(kcm, "1.29", full("kcm-main"))},
			change:         func(c *leadermigration.Cluster) { c.OtherLeases = []string{"kcm-main"} },
			rules:          []leadermigration.Rule{leadermigration.UniqueName}, lock: "kcm-main", loops: allLoops(),
			releases: []string{"kube-controller-manager 1.29"}, says: "Another Lease",
		},
		"a lock with a name that the API does not accept is refused": {
			configurations: []leadermigration.Configuration{at(kcm, "1.29", full("Cloud_Loops"))},
			rules:          []leadermigration.Rule{leadermigration.UniqueName}, lock: "Cloud_Loops", loops: allLoops(),
			releases: []string{"kube-controller-manager 1.29"}, says: "accepts no Lease",
		},
	})
}

func TestLoopsOfALock(t *testing.T) {
	checkAll(t, map[string]checkCase{
		"a loop that leaves the lock on the way is named, and runs twice": {
			configurations: []leadermigration.Configuration{
				at(kcm, "1.29", full("a")), at(ccm, "1.30", lock("a", "service-lb-controller", "cloud-node-lifecycle-controller")),
			},
			rules: []leadermigration.Rule{leadermigration.ImmutableLoops, leadermigration.RunsOnce}, lock: "a",
			loops: []leadermigration.Loop{"route"}, releases: []string{"kube-controller-manager 1.29", "cloud-controller-manager 1.30"},
			says: "holds [cloud-node-lifecycle, route, service] in kube-controller-manager 1.29 and [cloud-node-lifecycle, service] " +
				"in cloud-controller-manager 1.30",
			advises: "the same loops in both",
		},
		"a loop that joins the lock later is named": {
			configurations: []leadermigration.Configuration{
				at(kcm, "1.29", full("a")),
				at(ccm, "1.30", lock("a", "node-ipam-controller", "service-lb-controller", "node-route-controller", "cloud-node-lifecycle-controller")),
			},
			rules: []leadermigration.Rule{leadermigration.ImmutableLoops}, lock: "a", loops: []leadermigration.Loop{"nodeipam"},
			releases: []string{"kube-controller-manager 1.29", "cloud-controller-manager 1.30"}, says: "nodeipam",
		},
		"two locks with the same loop do not exclude each other": {
			configurations: []leadermigration.Configuration{at(kcm, "1.29", full("a")), at(ccm, "1.30", full("b"))},
			rules:          []leadermigration.Rule{leadermigration.NoSharedLoop, leadermigration.BesideArmedKCM, leadermigration.RunsOnce},
			lock:           "a", loops: allLoops(),
			releases: []string{"kube-controller-manager 1.29", "cloud-controller-manager 1.30"}, says: "Lock b holds",
			advises: "one lock only",
		},
	})
}

func TestManagersOfALock(t *testing.T) {
	checkAll(t, map[string]checkCase{
		"a lock that runs in both managers in one minor is refused": {
			configurations: []leadermigration.Configuration{at(kcm, "1.29.3", full("a")), at(ccm, "1.29.5", full("a"))},
			rules:          []leadermigration.Rule{leadermigration.OneManager}, lock: "a", loops: allLoops(),
			releases: []string{"kube-controller-manager 1.29.3", "cloud-controller-manager 1.29.5"}, says: "In 1.29 the lock runs both",
			advises: "CCM from the next one on",
		},
		"a lock that runs in both managers in one minor is a warning where that is meant": {
			configurations: []leadermigration.Configuration{at(kcm, "1.29.3", full("a")), at(ccm, "1.29.5", full("a"))},
			change:         func(c *leadermigration.Cluster) { c.InPlace = true },
			rules:          []leadermigration.Rule{leadermigration.OneManager}, lock: "a", loops: allLoops(), warning: true,
			releases: []string{"kube-controller-manager 1.29.3", "cloud-controller-manager 1.29.5"},
		},
		"a patch release that arms KCM changes the lock": {
			configurations: []leadermigration.Configuration{at(kcm, "1.29.3", nil), at(kcm, "1.29.5", full("a"))},
			rules:          []leadermigration.Rule{leadermigration.PatchesKeepLocks}, lock: "a", loops: allLoops(),
			releases: []string{"kube-controller-manager 1.29.5", "kube-controller-manager 1.29.3"}, says: "1.29.3 has no lock",
			advises: "with the next minor",
		},
		"a patch release that changes who runs a loop changes the lock": {
			configurations: []leadermigration.Configuration{at(ccm, "1.30.1", full("a")), at(ccm, "1.30.2", only(full("a"), kcm)),
				at(kcm, "1.29", full("a"))},
			rules: []leadermigration.Rule{leadermigration.PatchesKeepLocks}, lock: "a", loops: allLoops(),
			releases: []string{"cloud-controller-manager 1.30.1", "cloud-controller-manager 1.30.2"}, says: "service: nowhere",
		},
		"two patch releases with files that differ in words only are the same": {
			configurations: []leadermigration.Configuration{
				at(kcm, "1.29.3", full("a")),
				at(kcm, "1.29.5", lock("a", "service-lb-controller", "node-route-controller", "cloud-node-lifecycle-controller")),
			},
		},
	})
}

func TestNumberOfLocks(t *testing.T) {
	checkAll(t, map[string]checkCase{
		"three locks are a warning": {
			configurations: []leadermigration.Configuration{
				at(kcm, "1.27", lock("a", "service")), at(kcm, "1.28", lock("b", "node-route-controller")),
				at(kcm, "1.29", lock("c", "cloud-node-lifecycle-controller")),
			},
			rules: []leadermigration.Rule{leadermigration.AtMostTwoLocks}, lock: "a, b, c",
			loops:    []leadermigration.Loop{"service", "route", "cloud-node-lifecycle"},
			releases: []string{"kube-controller-manager 1.27", "kube-controller-manager 1.28", "kube-controller-manager 1.29"},
			says:     "There are 3 locks", warning: true,
		},
		"two locks for one process are one too many": {
			configurations: []leadermigration.Configuration{at(kcm, "1.29.3", lock("a", "service-lb-controller")),
				at(kcm, "1.29.3", lock("b", "node-route-controller"))},
			rules: []leadermigration.Rule{leadermigration.OneLockPerProcess}, lock: "a", loops: []leadermigration.Loop{"service"},
			releases: []string{"kube-controller-manager 1.29.3"}, says: "locks a and b", advises: "one lock",
		},
	})
}

func TestMinorsOfALock(t *testing.T) {
	checkAll(t, map[string]checkCase{
		"a lock that skips a minor is lost on the way": {
			configurations: []leadermigration.Configuration{at(kcm, "1.27", full("a")), at(ccm, "1.29", full("a"))},
			rules:          []leadermigration.Rule{leadermigration.NextMinor, leadermigration.BesideArmedKCM}, lock: "a",
			loops:    allLoops(),
			releases: []string{"kube-controller-manager 1.27", "cloud-controller-manager 1.29"},
			says:     "leaves kube-controller-manager 1.27", advises: "CCM 1.28",
		},
		"a lock that CCM keeps for another minor is fine": {
			configurations: []leadermigration.Configuration{at(kcm, "1.28", full("a")), at(ccm, "1.29", full("a")),
				at(ccm, "1.30", full("a"))},
		},
	})
}

func TestWhatRunsWhere(t *testing.T) {
	checkAll(t, map[string]checkCase{
		"a CCM with a lock beside a KCM that has none runs the loops a second time": {
			configurations: []leadermigration.Configuration{at(kcm, "1.29", nil), at(ccm, "1.30", full("a"))},
			rules:          []leadermigration.Rule{leadermigration.BesideArmedKCM}, lock: "a", loops: allLoops(),
			releases: []string{"cloud-controller-manager 1.30"}, says: "No kube-controller-manager of 1.29 or 1.30 has the lock",
			advises: "Arm every replica of KCM",
		},
		"a CCM without the lock beside a KCM that has it runs the loops a second time": {
			configurations: []leadermigration.Configuration{at(kcm, "1.29", full("a")), at(ccm, "1.30", nil)},
			rules:          []leadermigration.Rule{leadermigration.RunsOnce}, lock: "a", loops: allLoops(),
			releases: []string{"kube-controller-manager 1.29", "cloud-controller-manager 1.30"},
			says:     "cloud-controller-manager 1.30 runs cloud-node-lifecycle, route, service under the main lock",
		},
		"upstream's built-in default was right before 1.28": {
			configurations: []leadermigration.Configuration{at(kcm, "1.26", builtIn(26)), at(ccm, "1.27", builtIn(27))},
		},
		"upstream's built-in default runs service and route twice from 1.28 on": {
			configurations: []leadermigration.Configuration{at(kcm, "1.29", builtIn(29)), at(ccm, "1.30", builtIn(30))},
			rules: []leadermigration.Rule{
				leadermigration.ComparedNames, leadermigration.ComparedNames, leadermigration.ComparedNames, leadermigration.ComparedNames,
				leadermigration.RunsOnce,
			},
			lock: "cloud-provider-extraction-migration", loops: []leadermigration.Loop{"route"},
			releases: []string{"kube-controller-manager 1.29"},
			says:     "1.29 compares the name node-route-controller, and the lock lists only route-controller",
			advises:  "List node-route-controller",
		},
		"a KCM of 1.27 and a CCM of 1.28 with the old names run everything twice": {
			configurations: []leadermigration.Configuration{at(kcm, "1.27", lock("a", "service", "route", "cloud-node-lifecycle")),
				at(ccm, "1.28", lock("a", "service", "route", "cloud-node-lifecycle"))},
			rules: []leadermigration.Rule{leadermigration.ComparedNames, leadermigration.ComparedNames, leadermigration.ComparedNames,
				leadermigration.RunsOnce},
			lock: "a", loops: []leadermigration.Loop{"service"}, releases: []string{"cloud-controller-manager 1.28"},
			says: "service-lb-controller",
		},
		"a loop that both sides keep out of the lock runs twice": {
			configurations: []leadermigration.Configuration{at(kcm, "1.29", lock("a", "service-lb-controller")),
				at(ccm, "1.30", lock("a", "service-lb-controller"))},
			rules: []leadermigration.Rule{leadermigration.RunsOnce}, lock: "a",
			loops:    []leadermigration.Loop{"cloud-node-lifecycle", "route"},
			releases: []string{"kube-controller-manager 1.29", "cloud-controller-manager 1.30"},
			says:     "runs cloud-node-lifecycle, route under the main lock",
		},
	})
}

func TestNamesAndComponents(t *testing.T) {
	checkAll(t, map[string]checkCase{
		"a name that no version knows is a warning": {
			configurations: []leadermigration.Configuration{at(kcm, "1.29", lock("a", "servce-lb-controller"))},
			rules:          []leadermigration.Rule{leadermigration.ComparedNames}, lock: "a",
			loops: []leadermigration.Loop{"servce-lb-controller"}, warning: true,
			releases: []string{"kube-controller-manager 1.29"}, says: "is the name of no loop",
		},
		"a component that no version knows runs its loop nowhere": {
			configurations: []leadermigration.Configuration{at(kcm, "1.29", only(lock("a", "service-lb-controller"), "kcm"))},
			rules:          []leadermigration.Rule{leadermigration.KnownComponent, leadermigration.RunsSomewhere}, lock: "a",
			loops:    []leadermigration.Loop{"service"},
			releases: []string{"kube-controller-manager 1.29"}, says: "knows no component \"kcm\"",
		},
		"the wildcard is unknown in 1.21": {
			configurations: []leadermigration.Configuration{at(kcm, "1.21", lock("a", "service"))},
			rules:          []leadermigration.Rule{leadermigration.KnownComponent, leadermigration.RunsSomewhere}, lock: "a",
			loops: []leadermigration.Loop{"service"}, releases: []string{"kube-controller-manager 1.21"}, says: "knows no component \"*\"",
		},
		"a loop that KCM leaves to a CCM that is not there runs nowhere": {
			configurations: []leadermigration.Configuration{at(kcm, "1.29", only(full("a"), ccm))},
			rules:          []leadermigration.Rule{leadermigration.RunsSomewhere}, lock: "a", loops: allLoops(),
			releases: []string{"kube-controller-manager 1.29"}, says: "In 1.29 none of the managers",
			advises: "Name as component the manager",
		},
		"a lock on Endpoints excludes no one": {
			configurations: []leadermigration.Configuration{at(kcm, "1.29",
				&leadermigration.Lock{Name: "a", ResourceLock: leadermigration.Endpoints, Entries: full("a").Entries})},
			rules: []leadermigration.Rule{leadermigration.LockKind}, lock: "a", loops: allLoops(),
			releases: []string{"kube-controller-manager 1.29"}, says: "endpoints", advises: "leases",
		},
	})
}

func TestVersionsAndProviders(t *testing.T) {
	checkAll(t, map[string]checkCase{
		"a KCM that dies of the lock is refused": {
			configurations: []leadermigration.Configuration{at(kcm, "1.36.3", full("a"))},
			rules:          []leadermigration.Rule{leadermigration.NotKnownBad, leadermigration.InTree}, lock: "a", loops: allLoops(),
			releases: []string{"kube-controller-manager 1.36.3"}, says: "is already registered",
			advises: "Take --enable-leader-migration out",
		},
		"a KCM that has no cloud loops any more holds nothing": {
			configurations: []leadermigration.Configuration{at(kcm, "1.32", full("a"))},
			rules:          []leadermigration.Rule{leadermigration.InTree}, lock: "a", loops: allLoops(),
			releases: []string{"kube-controller-manager 1.32"}, says: "no cloud loops any more",
		},
		"a KCM that no longer knows the provider is refused": {
			configurations: []leadermigration.Configuration{at(kcm, "1.26.1", full("a"))},
			change:         func(c *leadermigration.Cluster) { c.Provider = "openstack" },
			rules:          []leadermigration.Rule{leadermigration.InTree}, lock: "a", loops: allLoops(),
			releases: []string{"kube-controller-manager 1.26.1"}, says: "1.25 is the last that does", advises: "at 1.25 or older",
		},
		"Azure's CCM ignores the lock": {
			configurations: []leadermigration.Configuration{at(kcm, "1.28", full("a")), at(ccm, "1.29", full("a"))},
			change:         func(c *leadermigration.Cluster) { c.Provider = "azure" },
			rules:          []leadermigration.Rule{leadermigration.HonouredLock}, lock: "a", loops: allLoops(),
			releases: []string{"cloud-controller-manager 1.29"}, says: "accepts the flags and ignores them", advises: "without the lock",
		},
		"a minor that is not in the tables is refused": {
			configurations: []leadermigration.Configuration{at(ccm, "1.38", full("a"))},
			rules:          []leadermigration.Rule{leadermigration.KnownVersion}, lock: "a", loops: allLoops(),
			releases: []string{"cloud-controller-manager 1.38"}, says: "1.38 is not known",
		},
		"a component that is no manager is refused": {
			configurations: []leadermigration.Configuration{at("kube-scheduler", "1.29", nil)},
			rules:          []leadermigration.Rule{leadermigration.KnownComponent}, releases: []string{"kube-scheduler 1.29"},
			says: "is no manager",
		},
	})
}

func TestSkew(t *testing.T) {
	handedOver := []leadermigration.Configuration{at(kcm, "1.29.3", full("a")), at(ccm, "1.30.1", full("a"))}
	checkAll(t, map[string]checkCase{
		"managers of the API server's minors are fine": {
			configurations: handedOver, change: func(c *leadermigration.Cluster) { c.APIServers = versions("1.29.3", "1.30.1") },
		},
		"managers one minor older are fine": {
			configurations: handedOver, change: func(c *leadermigration.Cluster) { c.APIServers = versions("1.30.1", "1.31.0") },
		},
		"a CCM that is newer than the API server is refused": {
			configurations: handedOver, change: func(c *leadermigration.Cluster) { c.APIServers = versions("1.29.3") },
			rules: []leadermigration.Rule{leadermigration.Skew}, lock: "a", loops: allLoops(),
			releases: []string{"cloud-controller-manager 1.30.1", "kube-apiserver 1.29.3"}, says: "newer than kube-apiserver",
			advises: "1.30 or 1.31",
		},
		"a CCM that is two minors older is refused": {
			configurations: handedOver[1:], change: func(c *leadermigration.Cluster) { c.APIServers = versions("1.32") },
			rules: []leadermigration.Rule{leadermigration.BesideArmedKCM, leadermigration.Skew}, lock: "a", loops: allLoops(),
			releases: []string{"cloud-controller-manager 1.30.1"}, says: "No kube-controller-manager",
		},
	})
}
