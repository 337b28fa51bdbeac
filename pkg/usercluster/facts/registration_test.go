package facts

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestRegisteredVolumes(t *testing.T) {
	g := NewWithT(t)
	registrations := []unstructured.Unstructured{
		{Object: map[string]any{"spec": map[string]any{"volumepath": "[fast] a.vmdk", "volumeid": "1"}}},
		{Object: map[string]any{"spec": map[string]any{"volumeid": "2"}}},
		{Object: map[string]any{"spec": "none"}},
	}
	s, _ := readerWith(
		interceptor.Funcs{List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			g.Expect(list.GetObjectKind().GroupVersionKind()).To(
				Equal(schema.GroupVersionKind{Group: "cns.vmware.com", Version: "v1alpha1", Kind: "CnsVSphereVolumeMigrationList"}),
			)
			list.(*unstructured.UnstructuredList).Items = registrations
			return nil
		}},
	)
	paths, known := s.RegisteredVolumes(t.Context()).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(paths).To(Equal(map[string]bool{"[fast] a.vmdk": true}))

	resource := schema.GroupResource{Group: "cns.vmware.com", Resource: "cnsvspherevolumemigrations"}
	s, _ = readerWith(failing(apierrors.NewNotFound(resource, "")))
	g.Expect(s.RegisteredVolumes(t.Context()).IsAbsent()).To(BeTrue(), "there is no such CRD")
	s, _ = readerWith(failing(apierrors.NewForbidden(resource, "", errors.New("no RBAC rule"))))
	g.Expect(s.RegisteredVolumes(t.Context()).IsUnknown()).To(BeTrue(), "that we may not look does not say that there is none")
}

func TestPathToRegister(t *testing.T) {
	const plugin, driver = "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"
	annotations := func(by, to string) map[string]string {
		return map[string]string{"pv.kubernetes.io/provisioned-by": by, "pv.kubernetes.io/migrated-to": to}
	}
	for name, test := range map[string]struct {
		annotations map[string]string
		phase       corev1.PersistentVolumePhase
		csi, waits  bool
	}{
		"one that was made by hand":              {phase: corev1.VolumeBound, waits: true},
		"one that KCM says to be migrated":       {annotations: annotations(plugin, driver), phase: corev1.VolumeBound, waits: true},
		"one that no one claims":                 {annotations: annotations(plugin, driver), phase: corev1.VolumeAvailable, waits: true},
		"one whose claim is gone":                {annotations: annotations(plugin, driver), phase: corev1.VolumeReleased, waits: true},
		"one that is not migrated yet":           {annotations: map[string]string{"pv.kubernetes.io/provisioned-by": plugin}, phase: corev1.VolumeBound},
		"one that is migrated to something else": {annotations: annotations(plugin, "other"), phase: corev1.VolumeBound},
		"one that someone else provisioned":      {annotations: annotations("other", driver), phase: corev1.VolumeBound},
		"one that failed":                        {phase: corev1.VolumeFailed},
		"one that is not there yet":              {phase: corev1.VolumePending},
		"one of the CSI driver":                  {phase: corev1.VolumeBound, csi: true},
	} {
		t.Run(name, func(t *testing.T) {
			volume := &corev1.PersistentVolume{
				ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: test.annotations},
				Status:     corev1.PersistentVolumeStatus{Phase: test.phase},
			}
			want := ""
			if !test.csi {
				volume.Spec.VsphereVolume = &corev1.VsphereVirtualDiskVolumeSource{VolumePath: "[fast] a.vmdk"}
			}
			if test.waits {
				want = "[fast] a.vmdk"
			}
			g := NewWithT(t)
			g.Expect(pathToRegister(volume)).To(Equal(want))
			g.Expect(toVolume(volume).Path).To(Equal(want))
		})
	}
}
