package openstack

import (
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/releases"
)

const firstMinor = 24

// release is what runs with one minor of Kubernetes. CCM and CSI driver have the same tag, and the tag the minor of
// Kubernetes; the sidecars are those that manifests/cinder-csi-plugin of that tag names. Their tags are the same on
// registry.k8s.io as on k8s.gcr.io, which the manifests before 1.27 name and which gets no new images.
type release struct {
	tag                                                                   string
	attacher, provisioner, resizer, snapshotter, livenessprobe, registrar string
}

// rows from 1.24 on, one for each minor. Up to 1.33 the images' promotion to registry.k8s.io was read from
// https://github.com/kubernetes/k8s.io/blob/03e61e409e634cab11e1d3cdce4d3d72bb0aece3/registry.k8s.io/images/k8s-staging-provider-os/images.yaml
// (from 1.24.6 and 1.25.5 on: before that the images were on docker.io/k8scloudprovider only).
func rows() []release {
	return []release{
		{"v1.24.6", "v3.4.0", "v3.1.0", "v1.4.0", "v5.0.1", "v2.6.0", "v2.5.0"},
		{"v1.25.6", "v3.4.0", "v3.1.0", "v1.4.0", "v6.0.1", "v2.7.0", "v2.5.1"},
		{"v1.26.4", "v4.0.0", "v3.3.0", "v1.4.0", "v6.1.0", "v2.8.0", "v2.6.2"},
		{"v1.27.3", "v4.2.0", "v3.4.1", "v1.7.0", "v6.2.1", "v2.9.0", "v2.6.3"},
		{"v1.28.3", "v4.2.0", "v3.4.1", "v1.8.0", "v6.2.1", "v2.9.0", "v2.6.3"},
		{"v1.29.1", "v4.4.2", "v3.6.2", "v1.9.2", "v6.3.2", "v2.11.0", "v2.9.2"},
		{"v1.30.3", "v4.4.2", "v3.6.2", "v1.9.2", "v6.3.2", "v2.11.0", "v2.9.2"},
		{"v1.31.4", "v4.4.2", "v3.6.2", "v1.9.2", "v6.3.2", "v2.11.0", "v2.9.2"},
		{"v1.32.1", "v4.7.0", "v5.1.0", "v1.12.0", "v8.1.0", "v2.14.0", "v2.12.0"},
		{"v1.33.1", "v4.7.0", "v5.1.0", "v1.12.0", "v8.1.0", "v2.14.0", "v2.12.0"},
		{"v1.34.1", "v4.10.0", "v5.3.0", "v1.14.0", "v8.3.0", "v2.17.0", "v2.15.0"},
		{"v1.35.0", "v4.10.0", "v5.3.0", "v1.14.0", "v8.4.0", "v2.17.0", "v2.15.0"},
		{"v1.36.0", "v4.10.0", "v5.3.0", "v1.14.0", "v8.4.0", "v2.17.0", "v2.15.0"},
	}
}

// table of what runs with a version of Kubernetes.
func table() releases.Table[release] {
	return releases.Table[release]{CCM: "OpenStack", First: firstMinor, Rows: rows()}
}

// Release says which tag of CCM and CSI driver runs with a version of Kubernetes.
func (Profile) Release(version string) (manifest.Release, error) {
	release, _, err := table().For(version)
	return manifest.Release{CCM: release.tag, CSI: release.tag}, err
}
