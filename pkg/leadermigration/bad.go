package leadermigration

import "fmt"

// BadReleases is a range of releases of KCM that must not take part in a hand-over by the lock.
type BadReleases struct {
	// From is the minor that they begin with.
	From Version
	// Fixed is the first release without the fault; the zero value means that none was seen.
	Fixed  Version
	Reason string
	Fix    string
	Source string
}

// KnownBad is the table of known-bad releases of KCM.
func KnownBad() []BadReleases {
	return []BadReleases{
		{
			// CreateControllerContext reserves the informer name, and KCM calls it once for each lock. Read in 1.36.0 to
			// 1.36.4 and 1.37.0, all alike; observed with 1.36.3, while 1.35.4 works.
			// https://github.com/kubernetes/kubernetes/blob/v1.36.4/cmd/kube-controller-manager/app/controllermanager.go#L546
			// https://github.com/kubernetes/client-go/blob/v0.36.4/tools/cache/identity.go#L79
			From: OfMinor(36),
			Reason: "with --enable-leader-migration it exits as soon as it gets the migration lock " +
				"(informer name \"kube-controller-manager\" is already registered), and no release with a fix is known",
			Fix:    "Take --enable-leader-migration out before KCM gets this release.",
			Source: "https://github.com/kubernetes/kubernetes/blob/v1.36.4/cmd/kube-controller-manager/app/controllermanager.go#L546",
		},
		{
			From: OfMinor(31), Fixed: Version{Minor: 31, Patch: 3},
			Reason: "without --cloud-provider=external its service loop crashes it; 1.31.3 has the fix",
			Fix:    "Use 1.31.3 or later.",
			Source: "https://github.com/kubernetes/kubernetes/pull/128182",
		},
	}
}

// String is 1.36 and later, or 1.31 before 1.31.3.
func (b BadReleases) String() string {
	if b.Fixed == (Version{}) {
		return b.From.String() + " and later"
	}
	return fmt.Sprintf("%s before %s", b.From, b.Fixed)
}

// BadReleasesOf finds those that a release of KCM belongs to. A minor without a patch is bad when one of its releases is.
func BadReleasesOf(v Version) (BadReleases, bool) {
	for _, bad := range KnownBad() {
		if v.Minor >= bad.From.Minor && (bad.Fixed == (Version{}) || compareVersions(v, bad.Fixed) < 0) {
			return bad, true
		}
	}
	return BadReleases{}, false
}
