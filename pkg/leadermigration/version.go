package leadermigration

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
)

// AnyPatch is the patch of a version that was given as a minor only, such as 1.29.
const AnyPatch = -1

// Version is a release of Kubernetes 1.
type Version struct {
	Minor int
	// Patch is AnyPatch where it does not matter.
	Patch int
}

// ParseVersion reads 1.29, v1.29.3 and what distributions append to it, such as v1.29.3-gke.100 or v1.29.3+k3s1.
func ParseVersion(text string) (Version, error) {
	parts := regexp.MustCompile(`^v?1\.(\d{1,3})(?:\.(\d{1,4})(?:[-+].*)?)?$`).FindStringSubmatch(text)
	if parts == nil {
		return Version{}, fmt.Errorf("%q is no version of Kubernetes 1: write it like 1.29 or 1.29.3", text)
	}
	version := Version{Patch: AnyPatch}
	var err error
	if version.Minor, err = strconv.Atoi(parts[1]); err != nil {
		return Version{}, fmt.Errorf("read version %q: %w", text, err)
	}
	if parts[2] == "" {
		return version, nil
	}
	if version.Patch, err = strconv.Atoi(parts[2]); err != nil {
		return Version{}, fmt.Errorf("read version %q: %w", text, err)
	}
	return version, nil
}

// String is 1.29 or 1.29.3.
func (v Version) String() string {
	if v.Patch == AnyPatch {
		return fmt.Sprintf("1.%d", v.Minor)
	}
	return fmt.Sprintf("1.%d.%d", v.Minor, v.Patch)
}

// MarshalText makes it readable in JSON and YAML.
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

func compareVersions(a, b Version) int {
	return cmp.Or(cmp.Compare(a.Minor, b.Minor), cmp.Compare(a.Patch, b.Patch))
}
