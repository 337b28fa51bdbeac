package leadermigration

import "fmt"

// badRange is a range of releases of KCM that cannot be used, from the first of a minor on.
type badRange struct {
	from Version
	// fixed is the first release without the fault; the zero value means that none was seen.
	fixed  Version
	reason string
	fix    string
	source string
}

func badRanges() []badRange {
	return []badRange{
		{
			// CreateControllerContext reserves the informer name, and KCM calls it once for each lock. Read in 1.36.0 to
			// 1.36.4 and 1.37.0, all alike; observed with 1.36.3, while 1.35.4 works.
			// https://github.com/kubernetes/kubernetes/blob/v1.36.4/cmd/kube-controller-manager/app/controllermanager.go#L546
			// https://github.com/kubernetes/client-go/blob/v0.36.4/tools/cache/identity.go#L79
			from: Version{Minor: 36, Patch: AnyPatch},
			reason: "with --enable-leader-migration it exits as soon as it gets the migration lock " +
				"(informer name \"kube-controller-manager\" is already registered), and no release with a fix is known",
			fix:    "Take --enable-leader-migration out before KCM gets this release.",
			source: "https://github.com/kubernetes/kubernetes/blob/v1.36.4/cmd/kube-controller-manager/app/controllermanager.go#L546",
		},
		{
			from: Version{Minor: 31, Patch: AnyPatch}, fixed: Version{Minor: 31, Patch: 3},
			reason: "without --cloud-provider=external its service loop crashes it; 1.31.3 has the fix",
			fix:    "Use 1.31.3 or later.",
			source: "https://github.com/kubernetes/kubernetes/pull/128182",
		},
	}
}

// BadVersion is a row of the table of known-bad releases of KCM.
type BadVersion struct {
	Releases string `json:"releases"`
	Reason   string `json:"reason"`
	Source   string `json:"source"`
}

// BadVersions is the table of known-bad releases of KCM.
func BadVersions() []BadVersion {
	var rows []BadVersion
	for _, bad := range badRanges() {
		releases := bad.from.String() + " and later"
		if bad.fixed != (Version{}) {
			releases = fmt.Sprintf("%s before %s", bad.from, bad.fixed)
		}
		rows = append(rows, BadVersion{releases, bad.reason, bad.source})
	}
	return rows
}

// KnownBad says whether a release of KCM must not take part in a hand-over by the lock, and why. A minor without a patch is
// bad when one of its releases is; a version that cannot be read is bad, too.
func KnownBad(version string) (reason string, bad bool) {
	v, err := ParseVersion(version)
	if err != nil {
		return err.Error(), true
	}
	found, bad := badRangeOf(v)
	if !bad {
		return "", false
	}
	return fmt.Sprintf("%s %s is known to be bad: %s (%s)", KCM, v, found.reason, found.source), true
}

func badRangeOf(v Version) (badRange, bool) {
	for _, bad := range badRanges() {
		if v.Minor >= bad.from.Minor && (bad.fixed == (Version{}) || compareVersions(v, bad.fixed) < 0) {
			return bad, true
		}
	}
	return badRange{}, false
}
