package hetzner

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/releases"
)

const (
	firstMinor = 24
	// policy has upstream's table of releases for the minors of Kubernetes.
	policy = "https://github.com/hetznercloud/hcloud-cloud-controller-manager/blob/v1.35.0/docs/reference/version-policy.md"
)

// release is what runs with one minor of Kubernetes. The projects number their releases by themselves, each for several
// minors.
type release struct {
	// ccm is the tag of the CCM, and library the minor of k8s.io/cloud-provider in its go.mod.
	ccm     string
	library int
	// csi is the tag of the CSI driver.
	csi string
}

// rows from 1.24 on, one for each minor. Upstream tests v1.30.1 and v2.20.2 with 1.32 to 1.35, and v1.35.0 and v2.22.1 with
// 1.33 to 1.36 (.github/workflows/test.yml of both projects). The releases that it names for 1.31 and older all panic since the
// cloud's API lost a field, so those minors get the oldest pair that does not: see the hazards.
func rows() []release {
	oldest, newest := release{"v1.30.1", 35, "v2.20.2"}, release{"v1.35.0", 36, "v2.22.1"}
	return slices.Concat(
		slices.Repeat([]release{oldest}, 9), // 1.24 to 1.32
		slices.Repeat([]release{newest}, 4), // 1.33 to 1.36
	)
}

// table of what runs with a version of Kubernetes.
func table() releases.Table[release] {
	return releases.Table[release]{CCM: "Hetzner", First: firstMinor, Rows: rows()}
}

// Release says which tags of CCM and CSI driver run with a version of Kubernetes.
func (Profile) Release(version string) (manifest.Release, error) {
	release, _, err := table().For(version)
	return manifest.Release{CCM: release.ccm, CSI: release.csi}, err
}
