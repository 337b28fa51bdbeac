package vsphere

import (
	"fmt"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/releases"
)

const (
	// firstMinor whose images can be pulled. Those before were on gcr.io/cloud-provider-vsphere, which was deleted:
	// https://github.com/kubernetes/cloud-provider-vsphere/issues/1251
	firstMinor = 28
)

// release is what runs with one minor of Kubernetes. The CCM's tag has the minor of Kubernetes; the CSI driver has versions of
// its own, 3.csiMinor, and names its sidecars in manifests/vanilla/vsphere-csi-driver.yaml of its tag.
type release struct {
	ccm                                                                   string
	csiMinor                                                              int
	csi                                                                   string
	attacher, provisioner, resizer, snapshotter, livenessprobe, registrar string
}

// rows from 1.28 on, one for each minor. CCM: a tag that is promoted to registry.k8s.io, which is not always the newest
// (there is no image v1.29.2). Up to 1.32, and up to v3.7.2 of the CSI driver, the promotion was read from
// https://github.com/kubernetes/k8s.io/tree/06ce83c280033da3c5b91a61489b3ee25b9f2fad/registry.k8s.io/images,
// k8s-staging-csi-vsphere and k8s-staging-cloud-pv-vsphere; v1.32.3 in https://github.com/kubernetes/k8s.io/pull/8722, and later ones
// of the CCM are those that KubeOne and Kubermatic run. v3.7.3 of the driver was promoted in
// https://github.com/kubernetes/k8s.io/pull/9799, which gives its driver and its syncer the same digest: it is taken when make
// verify-images has seen both.
//
// CSI driver: the minors of Kubernetes that each supports are in https://github.com/vsphere-tmm/helm-charts/issues/106 and in its
// release notes.
func rows() []release {
	return []release{
		{"v1.28.1", 3, "v3.3.1", "v4.5.1", "v4.0.1", "v1.10.1", "v7.0.2", "v2.12.0", "v2.10.1"},
		{"v1.29.0", 3, "v3.3.1", "v4.5.1", "v4.0.1", "v1.10.1", "v7.0.2", "v2.12.0", "v2.10.1"},
		{"v1.30.2", 3, "v3.3.1", "v4.5.1", "v4.0.1", "v1.10.1", "v7.0.2", "v2.12.0", "v2.10.1"},
		{"v1.31.1", 5, "v3.5.1", "v4.8.1", "v4.0.1", "v1.12.0", "v8.2.0", "v2.15.0", "v2.13.0"},
		{"v1.32.3", 6, "v3.6.3", "v4.9.0", "v4.0.1", "v1.12.0", "v8.2.0", "v2.15.0", "v2.13.0"},
		{"v1.33.1", 7, "v3.7.2", "v4.9.0", "v4.0.1", "v1.12.0", "v8.2.0", "v2.15.0", "v2.13.0"},
		{"v1.34.0", 7, "v3.7.2", "v4.9.0", "v4.0.1", "v1.12.0", "v8.2.0", "v2.15.0", "v2.13.0"},
		{"v1.35.1", 7, "v3.7.2", "v4.9.0", "v4.0.1", "v1.12.0", "v8.2.0", "v2.15.0", "v2.13.0"},
		// v3.8.0 is the first that names 1.36, but no promotion of its images is known. v3.7.1 is what KubeOne runs with 1.36:
		// https://github.com/kubermatic/kubeone/blob/main/pkg/templates/images/images.go
		{"v1.36.0", 7, "v3.7.2", "v4.9.0", "v4.0.1", "v1.12.0", "v8.2.0", "v2.15.0", "v2.13.0"},
	}
}

// table of what runs with a version of Kubernetes.
func table() releases.Table[release] {
	return releases.Table[release]{CCM: "vSphere", First: firstMinor, Rows: rows(), Why: deleted}
}

// deleted is said of the minors that had images.
func deleted(minor int) string {
	if minor < 24 || minor >= firstMinor {
		return ""
	}
	return fmt.Sprintf("the images of the vSphere cloud-controller-manager for Kubernetes 1.%d were deleted: upgrade the cluster "+
		"to 1.%d, which still has the in-tree provider", minor, firstMinor)
}

// Release says which tags of CCM and CSI driver run with a version of Kubernetes.
func (Profile) Release(version string) (manifest.Release, error) {
	release, _, err := table().For(version)
	return manifest.Release{CCM: release.ccm, CSI: release.csi}, err
}
