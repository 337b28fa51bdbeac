package aws

import (
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/releases"
)

const (
	firstMinor = 24
	// regionMinor is the first whose CCM reads the key Region; it does not know DisableStrictZoneCheck any more:
	// https://github.com/kubernetes/cloud-provider-aws/blob/v1.27.10/pkg/providers/v1/aws.go
	regionMinor = 27
	// secondSDKMinor is the first whose CCM, at the tag below, uses the second AWS SDK, which has other names for its services:
	// https://github.com/kubernetes/cloud-provider-aws/blob/v1.29.10/pkg/providers/v1/config/config.go
	secondSDKMinor = 29
	// attributesMinor is the first that serves VolumeAttributesClasses as storage.k8s.io/v1.
	attributesMinor = 34
)

// release of the CCM for one minor of Kubernetes.
type release struct {
	tag string
	// library is the minor of k8s.io/cloud-provider in its go.mod.
	library int
}

// rows from 1.24 on, one for each minor: the newest whose image was promoted to registry.k8s.io, which is not so for
// every git tag (not for v1.24.20, v1.25.16 and v1.36.0, for instance). The promotions up to 1.35 were read from
// https://github.com/kubernetes/k8s.io/blob/0137eda2/registry.k8s.io/images/k8s-staging-provider-aws/images.yaml, that of
// v1.36.1 is https://github.com/kubernetes/k8s.io/pull/9796.
func rows() []release {
	return []release{
		{"v1.24.19", 24},
		{"v1.25.15", 25},
		{"v1.26.14", 26},
		{"v1.27.10", 27},
		{"v1.28.11", 28},
		{"v1.29.10", 29},
		{"v1.30.10", 30},
		{"v1.31.9", 31},
		// Not a mistake: https://github.com/kubernetes/cloud-provider-aws/blob/v1.32.8/go.mod
		{"v1.32.8", 33},
		{"v1.33.4", 33},
		{"v1.34.3", 34},
		{"v1.35.2", 35},
		{"v1.36.1", 36},
	}
}

// driverRelease is the EBS CSI driver with the sidecars that deploy/kubernetes/overlays/stable/gcr of its tag names.
type driverRelease struct {
	tag                                                                   string
	attacher, provisioner, resizer, snapshotter, livenessprobe, registrar string
}

// driverOf a minor. Below 1.34 it is the last one with sidecars that were made for API servers without VolumeAttributesClasses of
// storage.k8s.io/v1. Provisioner 6 and resizer 2 would do without them, too, and what is rendered uses none of v1beta1:
// https://github.com/kubernetes-csi/external-provisioner/blob/v6.0.0/cmd/csi-provisioner/csi-provisioner.go#L210-L216
// https://github.com/kubernetes-csi/external-resizer/blob/v2.0.0/cmd/csi-resizer/main.go#L154-L164
func driverOf(minor int) driverRelease {
	if minor < attributesMinor {
		return driverRelease{"v1.52.1", "v4.10.0", "v5.3.0", "v1.14.0", "v8.4.0", "v2.17.0", "v2.15.0"}
	}
	return driverRelease{"v1.63.1", "v4.12.0", "v6.3.0", "v2.2.1", "v8.6.0", "v2.19.0", "v2.17.0"}
}

// table of what runs with a version of Kubernetes.
func table() releases.Table[release] {
	return releases.Table[release]{CCM: "AWS", First: firstMinor, Rows: rows()}
}

// Release says which tags of CCM and CSI driver run with a version of Kubernetes.
func (Profile) Release(version string) (manifest.Release, error) {
	release, minor, err := table().For(version)
	if err != nil {
		return manifest.Release{}, err
	}
	return manifest.Release{CCM: release.tag, CSI: driverOf(minor).tag}, nil
}
