package leadermigration

// FirstMinor and LastMinor bound the releases whose sources the tables were read from. The catalogue of CCMs has a range of its
// own, in pkg/provider/versions.
const (
	FirstMinor = 21
	LastMinor  = 37
)

const (
	group = "controllermanager.config.k8s.io/"
	kind  = "LeaderMigrationConfiguration"
	// UpstreamLockName is the lock of upstream's built-in default and documentation.
	UpstreamLockName = "cloud-provider-extraction-migration"

	// WildcardMinor is the first that knows component "*", apiVersion v1beta1 and a built-in default
	// (https://github.com/kubernetes/kubernetes/pull/102711); before, each manager needs a file of its own, and a feature gate.
	WildcardMinor = 22
	// v1Minor is the first with apiVersion v1, which has no resourceLock (https://github.com/kubernetes/kubernetes/pull/109072).
	v1Minor = 24
	// strictMinor is the first that refuses fields that it does not know
	// (https://github.com/kubernetes/controller-manager/blob/v0.32.13/pkg/leadermigration/config/config.go#L66).
	strictMinor = 32
	// lastInTreeMinor is the last whose KCM knows any provider.
	lastInTreeMinor = LastInTreeGCE
)

// Minor is what one minor of Kubernetes makes of the lock's configuration.
type Minor struct {
	Minor int
	// APIVersions of the file that it reads.
	APIVersions []string
	// Strict versions refuse unknown and repeated fields; others ignore them.
	Strict bool
	// Wildcard versions know component "*".
	Wildcard bool
	// KCMHasLoops says whether its KCM can run cloud loops at all.
	KCMHasLoops bool
	// BuiltIn is the lock without a file; nil where a file is required.
	BuiltIn *Lock
	// DefaultWorks says that the built-in lock holds all three cloud loops.
	DefaultWorks bool
}

// KnownMinor returns what is known of a minor.
func KnownMinor(minor int) (Minor, bool) {
	if minor < FirstMinor || minor > LastMinor {
		return Minor{}, false
	}
	m := Minor{
		Minor: minor, APIVersions: []string{group + "v1alpha1"}, Strict: minor >= strictMinor, Wildcard: minor >= WildcardMinor,
		KCMHasLoops: minor <= lastInTreeMinor,
	}
	if m.Wildcard {
		m.APIVersions = append(m.APIVersions, group+"v1beta1")
		m.BuiltIn = builtIn(minor)
		m.DefaultWorks = minor < renamedMinor
	}
	if minor >= v1Minor {
		m.APIVersions = append(m.APIVersions, group+"v1")
	}
	return m, true
}

// Minors are all that are known, oldest first.
func Minors() []Minor {
	var minors []Minor
	for minor := FirstMinor; minor <= LastMinor; minor++ {
		m, _ := KnownMinor(minor)
		minors = append(minors, m)
	}
	return minors
}

// builtIn is the lock of a manager that is armed without a file. From 1.28 on two of its three names are registered by
// no one, so service and route stay under the main lock of each manager, where both run them.
// https://github.com/kubernetes/controller-manager/blob/v0.24.17/pkg/leadermigration/config/default.go
// https://github.com/kubernetes/controller-manager/blob/v0.28.15/pkg/leadermigration/config/default.go
func builtIn(minor int) *Lock {
	names := []string{"route", "service", "cloud-node-lifecycle"}
	if minor >= renamedMinor {
		names = []string{"route-controller", "service-controller", "cloud-node-lifecycle-controller"}
	}
	lock := &Lock{Name: UpstreamLockName, ResourceLock: Leases}
	for _, name := range names {
		lock.Entries = append(lock.Entries, Entry{Name: name, Component: Either})
	}
	return lock
}
