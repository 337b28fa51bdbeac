package facts

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// The syncer of vSphere's CSI driver registers in-tree volumes in vCenter, and makes an object for each, with the volume's path.
// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/apis/migration/v1alpha1/types.go
const (
	RegistrationKind      = "CnsVSphereVolumeMigration"
	vsphereDriver         = "csi.vsphere.vmware.com"
	vspherePlugin         = "kubernetes.io/vsphere-volume"
	provisionedAnnotation = "pv.kubernetes.io/provisioned-by"
	migratedAnnotation    = "pv.kubernetes.io/migrated-to"
)

// RegistrationGroupVersion is that of the volumes that vSphere's driver registers.
func RegistrationGroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: "cns.vmware.com", Version: "v1alpha1"}
}

// RegisteredVolumes reads the paths of those that are registered. It is absent when the syncer did not make its CRD yet.
func (r *Reader) RegisteredVolumes(ctx context.Context) observation.Observed[map[string]bool] {
	paths := map[string]bool{}
	empty := func() *unstructured.UnstructuredList {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(RegistrationGroupVersion().WithKind(RegistrationKind + "List"))
		return list
	}
	err := reads.List(ctx, r.client, empty, func(page *unstructured.UnstructuredList) {
		for i := range page.Items {
			if path, found, err := unstructured.NestedString(
				page.Items[i].Object,
				"spec",
				"volumepath",
			); found && err == nil &&
				path != "" {
				paths[reads.Keep(ctx, path)] = true
			}
		}
	})
	switch {
	case apierrors.IsNotFound(err):
		return observation.Absent[map[string]bool]()
	case err != nil:
		return observation.Unknown[map[string]bool](reads.Because("listing "+RegistrationKind+"s", err))
	}
	return observation.Known(paths)
}

// pathToRegister is that of a volume which the syncer registers: one that was made by hand, or that KCM says to be migrated.
// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/syncer/util.go (isValidvSphereVolume,
// getPVsInBoundAvailableOrReleased).
func pathToRegister(volume *corev1.PersistentVolume) string {
	source, by := volume.Spec.VsphereVolume, volume.Annotations[provisionedAnnotation]
	if source == nil {
		return ""
	}
	static := by == ""
	migrated := by == vspherePlugin && volume.Annotations[migratedAnnotation] == vsphereDriver
	switch volume.Status.Phase {
	case corev1.VolumeBound, corev1.VolumeAvailable, corev1.VolumeReleased:
		if static || migrated {
			return source.VolumePath
		}
	default:
	}
	return ""
}
