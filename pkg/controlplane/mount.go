package controlplane

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// mount is a file of ours in one container of a Deployment.
type mount struct {
	container string
	outcome.MountedFile
}

// mounted is the file that is to be there after the change, and whether that differs from what is there. A file that we
// mounted before is applied again by every change that does not unmount it: one that is left out would go.
func mounted(deployment *appsv1.Deployment, change outcome.ArgumentChange) (after *mount, changes bool) {
	before := mountOf(deployment)
	switch {
	case change.Mount != nil:
		after = &mount{change.Container, *change.Mount}
		return after, before == nil || before.container != after.container || before.ConfigMap != after.ConfigMap ||
			before.Folder != after.Folder
	case change.Unmount:
		return nil, before != nil
	}
	return before, false
}

// mountOf finds our file by the name of its volume.
func mountOf(deployment *appsv1.Deployment) *mount {
	pod := deployment.Spec.Template.Spec
	at := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == handover.LockVolume && v.ConfigMap != nil })
	if at < 0 {
		return nil
	}
	for _, container := range pod.Containers {
		for _, volume := range container.VolumeMounts {
			if volume.Name == handover.LockVolume {
				return &mount{container.Name, outcome.MountedFile{
					Volume: volume.Name, ConfigMap: pod.Volumes[at].ConfigMap.Name, Folder: volume.MountPath,
				}}
			}
		}
	}
	return nil
}

// in says whether the file is in that container.
func (m *mount) in(container string) bool { return m != nil && m.container == container }

func (m *mount) apply(container *applycorev1.ContainerApplyConfiguration, mounts bool) *applycorev1.ContainerApplyConfiguration {
	if !mounts {
		return container
	}
	return container.WithVolumeMounts(applycorev1.VolumeMount().WithName(m.Volume).WithMountPath(m.Folder).WithReadOnly(true))
}

func (m *mount) volume() *applycorev1.VolumeApplyConfiguration {
	return applycorev1.Volume().WithName(m.Volume).WithConfigMap(applycorev1.ConfigMapVolumeSource().WithName(m.ConfigMap))
}
