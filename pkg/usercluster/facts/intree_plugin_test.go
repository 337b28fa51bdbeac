package facts

import (
	"reflect"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	csitranslation "k8s.io/csi-translation-lib"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

// TestInTreePluginOfEverySource compares with what Kubernetes itself migrates. Portworx is no cloud of ours.
func TestInTreePluginOfEverySource(t *testing.T) {
	kubernetes := csitranslation.New()
	seen := map[string]int{}
	expect := func(where, field string, source any, migrated func() (string, error), found func() string) {
		t.Run(where+" with "+field, func(t *testing.T) {
			made := reflect.ValueOf(source).Elem().FieldByName(field)
			made.Set(reflect.New(made.Type().Elem()))
			want, err := migrated()
			if err != nil || want == "kubernetes.io/portworx-volume" {
				want = ""
			}
			NewWithT(t).Expect(found()).To(Equal(want))
			seen[want]++
		})
	}
	for field := range reflect.TypeFor[corev1.PersistentVolumeSource]().Fields() {
		volume := &corev1.PersistentVolume{}
		source := &volume.Spec.PersistentVolumeSource
		expect("a PersistentVolume", field.Name, source,
			func() (string, error) { return kubernetes.GetInTreePluginNameFromSpec(volume, nil) },
			func() string { return inTreePlugin(source) })
	}
	for field := range reflect.TypeFor[corev1.VolumeSource]().Fields() {
		volume := &corev1.Volume{}
		expect("a pod", field.Name, &volume.VolumeSource,
			func() (string, error) { return kubernetes.GetInTreePluginNameFromSpec(nil, volume) },
			func() string { return inlinePlugin(&volume.VolumeSource) })
	}
	delete(seen, "")
	NewWithT(t).Expect(seen).To(And(HaveLen(6), HaveEach(2)), "six plugins, in both")
}

func TestVolumesThatCSIMigrationCannotTranslate(t *testing.T) {
	azure := func(kind corev1.AzureDataDiskKind) corev1.PersistentVolumeSource {
		return corev1.PersistentVolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{
			DiskName: "data", DataDiskURI: "/subscriptions/1/disks/data", Kind: &kind,
		}}
	}
	for name, tc := range map[string]struct {
		source corev1.PersistentVolumeSource
		want   bool
	}{
		"a managed disk of Azure":    {azure(corev1.AzureManagedDisk), true},
		"a shared blob of Azure":     {azure(corev1.AzureSharedBlobDisk), false},
		"a dedicated blob of Azure":  {azure(corev1.AzureDedicatedBlobDisk), false},
		"a volume of OpenStack":      {corev1.PersistentVolumeSource{Cinder: &corev1.CinderPersistentVolumeSource{VolumeID: "1"}}, true},
		"a volume of a CSI driver":   {corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.example"}}, true},
		"a volume of another plugin": {corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "nfs", Path: "/"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			volume := &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: tc.source}}
			NewWithT(t).Expect(translatable(volume)).To(Equal(tc.want))
		})
	}
}

// In these minors the CSI driver serves in-tree file volumes whatever the flags: a rollback that does not see them would
// take the driver away under them.
func TestFileVolumesOfAzureAreSeenToNeedTheDriver(t *testing.T) {
	g := NewWithT(t)
	s, _ := readerWith(interceptor.Funcs{}, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "share"},
		Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
			AzureFile: &corev1.AzureFilePersistentVolumeSource{ShareName: "share"},
		}},
	})
	inventory, known := s.Inventory(t.Context()).Get()
	g.Expect(known).To(BeTrue())
	azure, _ := provider.New().Lookup("azure")
	for _, version := range []string{"1.27.16", "1.28.15", "1.29.15"} {
		g.Expect(azure.Facts(version).MigratedPlugins).To(ContainElement(inventory.Volumes[0].Plugin), version)
	}
	volumes, known := NewPreflight(Options{Client: s.client}, s).volumes(t.Context()).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(volumes).To(ConsistOf(HaveField("Plugin", "kubernetes.io/azure-file")), "preflight looks for released ones among them")
}
