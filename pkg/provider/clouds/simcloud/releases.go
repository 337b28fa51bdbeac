package simcloud

import (
	"fmt"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/releases"
)

// Minors of Kubernetes whose managers the testbed has: those of the last for all tests, and those of the others for make
// control-planes. The libraries of 1.27 start a CCM in a way of their own, which no one has built.
const (
	firstMinor = 25
	notMade    = 27
	lastMinor  = 30
)

// table of the releases of a minor's managers, which are part of Kubernetes: hack/binaries.sh builds no other.
func table() releases.Table[string] {
	return releases.Table[string]{
		CCM: Name, First: firstMinor, Empty: []int{notMade}, Why: notBuilt,
		Rows: []string{"v1.25.0", "v1.26.0", "", "v1.28.15", "v1.29.15", "v1.30.14"},
	}
}

// notBuilt is said of all minors that have none.
func notBuilt(minor int) string {
	return fmt.Sprintf(
		"there is no simcloud cloud-controller-manager for Kubernetes 1.%d: the testbed is 1.%d to 1.%d, without 1.%d",
		minor, firstMinor, lastMinor, notMade,
	)
}

// Release says which tag of CCM and CSI driver runs with a version of Kubernetes.
func (Profile) Release(version string) (manifest.Release, error) {
	tag, _, err := table().For(version)
	return manifest.Release{CCM: tag, CSI: tag}, err
}
