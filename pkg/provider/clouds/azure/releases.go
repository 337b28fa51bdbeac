package azure

import (
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/releases"
)

const firstMinor = 24

// Microsoft's registry moved the images; older tags are in the first place only.
// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.36.5/helm/cloud-provider-azure/templates/cloud-provider-azure.yaml#L32-L46
const (
	images   = "mcr.microsoft.com/oss/"
	imagesV2 = "mcr.microsoft.com/oss/v2/"
)

// release is what runs with one minor of Kubernetes. CCM and cloud-node-manager have the same tag.
type release struct {
	registry, tag string
	// library is the minor of k8s.io/cloud-provider in its go.mod.
	library    int
	disk, file driverRelease
}

// driverRelease is a CSI driver with the sidecars that its folder deploy/TAG names; Azure File attaches nothing.
type driverRelease struct {
	registry, tag                                                         string
	attacher, provisioner, resizer, snapshotter, livenessprobe, registrar string
}

// rows from 1.24 on, one for each minor. The tags of the CCM are those that were seen published: up to 1.32 by the chart
// at 7b31c76c of its repository, from 1.33 on by https://github.com/kubermatic/kubermatic. The drivers say of all their
// releases that they support Kubernetes 1.21 and later; each has gone on getting patches. A newer patch is taken when it was seen
// published: make verify-images asks the registry for one.
func rows() []release {
	disk129 := driverRelease{images, "v1.29.12", "v4.7.0", "v5.1.0", "v1.12.0", "v8.1.0", "v2.14.0", "v2.12.0"}
	disk131 := driverRelease{imagesV2, "v1.31.12", "v4.8.1", "v5.2.0", "v1.13.2", "v8.2.0", "v2.15.0", "v2.13.0"}
	disk132 := driverRelease{imagesV2, "v1.32.12", "v4.8.1", "v5.2.0", "v1.13.2", "v8.2.1", "v2.15.0", "v2.13.0"}
	disk133 := driverRelease{imagesV2, "v1.33.11", "v4.11.0", "v6.1.1", "v2.1.0", "v8.5.0", "v2.18.0", "v2.16.0"}
	disk134 := driverRelease{imagesV2, "v1.34.5", "v4.12.0", "v6.3.0", "v2.2.0", "v8.6.0", "v2.19.0", "v2.17.0"}
	file130 := driverRelease{images, "v1.30.9", "", "v5.2.0", "v1.13.1", "v8.2.0", "v2.15.0", "v2.13.0"}
	file131 := driverRelease{imagesV2, "v1.31.8", "", "v5.2.0", "v1.13.2", "v8.2.0", "v2.15.0", "v2.13.0"}
	file132 := driverRelease{imagesV2, "v1.32.9", "", "v5.2.0", "v1.13.2", "v8.2.1", "v2.15.0", "v2.13.0"}
	file133 := driverRelease{imagesV2, "v1.33.10", "", "v6.1.0", "v2.0.0", "v8.4.0", "v2.17.0", "v2.15.0"}
	file134 := driverRelease{imagesV2, "v1.34.8", "", "v6.2.0", "v2.1.0", "v8.5.0", "v2.18.0", "v2.16.0"}
	file135 := driverRelease{imagesV2, "v1.35.7", "", "v6.3.0", "v2.2.0", "v8.5.0", "v2.19.0", "v2.17.0"}
	return []release{
		{images, "v1.24.22", 24, disk129, file130},
		{images, "v1.25.24", 25, disk129, file130},
		{images, "v1.26.22", 26, disk129, file130},
		{images, "v1.27.21", 27, disk129, file130},
		{images, "v1.28.14", 28, disk129, file130},
		{images, "v1.29.15", 29, disk131, file131},
		{images, "v1.30.15", 30, disk131, file131},
		{images, "v1.31.12", 31, disk131, file131},
		{imagesV2, "v1.32.17", 32, disk132, file132},
		{imagesV2, "v1.33.16", 35, disk133, file133},
		{imagesV2, "v1.34.13", 34, disk134, file134},
		{imagesV2, "v1.35.8", 35, disk134, file135},
		{imagesV2, "v1.36.4", 36, disk134, file135},
	}
}

// table of what runs with a version of Kubernetes.
func table() releases.Table[release] {
	return releases.Table[release]{CCM: "Azure", First: firstMinor, Rows: rows()}
}

// Release says which tags of CCM and CSI drivers run with a version of Kubernetes.
func (Profile) Release(version string) (manifest.Release, error) {
	release, _, err := table().For(version)
	if err != nil {
		return manifest.Release{}, err
	}
	return manifest.Release{CCM: release.tag, CSI: drivers(release)}, nil
}
