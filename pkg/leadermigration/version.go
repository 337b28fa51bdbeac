package leadermigration

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
)

// anyPatch is the patch of a version that was given as a minor only, such as 1.29.
const anyPatch = -1

// Version is a release of Kubernetes 1.
type Version struct {
	Minor int
	// Patch is negative where it does not matter.
	Patch int
}

// OfMinor is a version that is known by its minor only.
func OfMinor(minor int) Version { return Version{Minor: minor, Patch: anyPatch} }

// ParseVersion reads 1.29, v1.29.3 and what distributions append to it, such as v1.29.3-gke.100 or v1.29.3+k3s1.
func ParseVersion(text string) (Version, error) {
	parts := regexp.MustCompile(`^v?1\.(\d{1,3})(?:\.(\d{1,4})(?:[-+].*)?)?$`).FindStringSubmatch(text)
	if parts == nil {
		return Version{}, fmt.Errorf("%q is no version of Kubernetes 1: write it like 1.29 or 1.29.3", text)
	}
	// The expression leaves nothing that could be no number: three digits, and four or none.
	minor, _ := strconv.Atoi(parts[1])
	version := OfMinor(minor)
	if parts[2] != "" {
		version.Patch, _ = strconv.Atoi(parts[2])
	}
	return version, nil
}

// String is 1.29 or 1.29.3.
func (v Version) String() string {
	if v.Patch == anyPatch {
		return fmt.Sprintf("1.%d", v.Minor)
	}
	return fmt.Sprintf("1.%d.%d", v.Minor, v.Patch)
}

func compareVersions(a, b Version) int {
	return cmp.Or(cmp.Compare(a.Minor, b.Minor), cmp.Compare(a.Patch, b.Patch))
}
