package simcloud

import (
	"fmt"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/releases"
)

// Minors of Kubernetes whose managers the testbed has: those of the last for all tests, and those of the others for make
// control-planes.
const (
	firstMinor = 28
	lastMinor  = 30
)

// table of the releases of a minor's managers, which are part of Kubernetes: hack/binaries.sh builds no other.
func table() releases.Table[string] {
	return releases.Table[string]{
		CCM: Name, First: firstMinor, Rows: []string{"v1.28.15", "v1.29.15", "v1.30.14"}, Why: notBuilt,
	}
}

// notBuilt is said of all minors that have none.
func notBuilt(minor int) string {
	return fmt.Sprintf("there is no simcloud cloud-controller-manager for Kubernetes 1.%d: the testbed is 1.%d to 1.%d",
		minor, firstMinor, lastMinor)
}

// Release says which tag of CCM and CSI driver runs with a version of Kubernetes.
func (Profile) Release(version string) (manifest.Release, error) {
	tag, _, err := table().For(version)
	return manifest.Release{CCM: tag, CSI: tag}, err
}
