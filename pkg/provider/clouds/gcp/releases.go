package gcp

import (
	"fmt"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/releases"
)

const firstMinor = 26

// release is what runs with one minor of Kubernetes.
type release struct {
	// ccm is the tag of the cloud-controller-manager: v<minor of Kubernetes>.<its patch>.<patch of the CCM>.
	ccm string
	// library is the minor of k8s.io/cloud-provider that the tag is built with: the replace line of its go.mod.
	library int
	storage storage
}

// storage is a CSI driver with the sidecars that deploy/kubernetes/images/stable-master/image.yaml of its tag names. The driver's
// tag in that file is of an earlier release
// (https://github.com/kubernetes-sigs/gcp-compute-persistent-disk-csi-driver/issues/2343). Upstream runs no livenessprobe; the
// driver answers it (pkg/gce-pd-csi-driver/identity.go).
type storage struct {
	driver, attacher, provisioner, resizer, snapshotter, livenessprobe, registrar string
}

// rows from 1.26 on, one for each minor. A tag in git is not an image: these were promoted to registry.k8s.io.
// https://github.com/kubernetes/k8s.io/blob/43401df3/registry.k8s.io/images/k8s-staging-cloud-provider-gcp/images.yaml
func rows() []release {
	// Two sets, because provisioner v6 and resizer v2 are made for the VolumeAttributesClass of storage.k8s.io/v1, which is
	// there from 1.34 on: https://github.com/kubernetes-csi/external-resizer/pull/535. They would do without it before, too.
	//
	// Newer patches have been tagged since (v36.4.8; drivers v1.22.5 and v1.27.0, with a newer provisioner). They are taken when
	// their promotion was seen.
	older := storage{"v1.17.15", "v4.4.3", "v5.1.0", "v1.13.2", "v7.0.2", "v2.14.0", "v2.9.3"}
	newer := storage{"v1.22.1", "v4.8.1", "v6.0.0", "v2.0.0", "v8.2.1", "v2.17.0", "v2.13.0"}
	return []release{
		{"v26.2.4", 26, older},
		{"v27.1.6", 27, older},
		{"v28.2.1", 28, older},
		{"v29.0.0", 29, older},
		{"v30.0.0", 30, older},
		// There is no image of v31. A CCM may be one minor behind its API server.
		{"v30.0.0", 30, older},
		// Not v32.2.2 to v32.2.4: their binary is elsewhere.
		{"v32.2.5", 31, older},
		{"v33.4.0", 31, older},
		{"v34.2.0", 34, newer},
		{"v35.0.8", 34, newer},
		{"v36.0.7", 36, newer},
	}
}

// table of what runs with a version of Kubernetes.
func table() releases.Table[release] {
	return releases.Table[release]{CCM: "GCE", First: firstMinor, Rows: rows(), Why: tooOld}
}

// tooOld is said of the minors that never had an image.
func tooOld(minor int) string {
	if minor >= firstMinor {
		return ""
	}
	return fmt.Sprintf("there is no image of the GCE cloud-controller-manager for Kubernetes 1.%d, and the catalogue covers "+
		"1.%d to 1.%d: upgrade the cluster with its in-tree provider to 1.%d first",
		minor, firstMinor, firstMinor+len(rows())-1, firstMinor)
}

// Release says which tags of CCM and CSI driver run with a version of Kubernetes.
func (Profile) Release(version string) (manifest.Release, error) {
	release, _, err := table().For(version)
	return manifest.Release{CCM: release.ccm, CSI: release.storage.driver}, err
}
