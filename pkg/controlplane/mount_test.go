package controlplane

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func TestAMountedFileStaysUntilItIsUnmounted(t *testing.T) {
	g := NewWithT(t)
	bare := &appsv1.Deployment{}
	bare.Spec.Template.Spec.Containers = []corev1.Container{{Name: "kcm"}}
	file := outcome.MountedFile{Volume: handover.LockVolume, ConfigMap: "lock", Folder: "/etc/lock"}
	has := bare.DeepCopy()
	has.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: handover.LockVolume, VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "lock"}},
	}}}
	has.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: handover.LockVolume, MountPath: "/etc/lock"}}

	tests := map[string]struct {
		deployment *appsv1.Deployment
		change     outcome.ArgumentChange
		after      *mount
		changes    bool
	}{
		"no file":                      {deployment: bare},
		"a new file":                   {bare, outcome.ArgumentChange{Container: "kcm", Mount: &file}, &mount{"kcm", file}, true},
		"the same file":                {has, outcome.ArgumentChange{Container: "kcm", Mount: &file}, &mount{"kcm", file}, false},
		"a change of something else":   {has, outcome.ArgumentChange{Container: "other"}, &mount{"kcm", file}, false},
		"a file that is taken out":     {has, outcome.ArgumentChange{Container: "kcm", Unmount: true}, nil, true},
		"nothing to take out any more": {bare, outcome.ArgumentChange{Container: "kcm", Unmount: true}, nil, false},
	}
	for name, tc := range tests {
		after, changes := mounted(tc.deployment, tc.change)
		g.Expect(after).To(Equal(tc.after), name)
		g.Expect(changes).To(Equal(tc.changes), name)
	}
}
