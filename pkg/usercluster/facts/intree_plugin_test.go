package facts

import (
	"reflect"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	csitranslation "k8s.io/csi-translation-lib"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
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

// The last one is what the library panics for.
func TestVolumesInPodsThatCSIMigrationCannotTranslate(t *testing.T) {
	azure := func(kind corev1.AzureDataDiskKind) corev1.VolumeSource {
		return corev1.VolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{DataDiskURI: "/subscriptions/1/disks/data", Kind: &kind}}
	}
	aws := func(id string) corev1.VolumeSource {
		return corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: id}}
	}
	vsphere := func(policy string) corev1.VolumeSource {
		return corev1.VolumeSource{VsphereVolume: &corev1.VsphereVirtualDiskVolumeSource{
			VolumePath: "[store] data.vmdk", StoragePolicyName: policy,
		}}
	}
	for name, tc := range map[string]struct {
		source corev1.VolumeSource
		want   bool
	}{
		"a managed disk of Azure":       {azure(corev1.AzureManagedDisk), true},
		"a shared blob of Azure":        {azure(corev1.AzureSharedBlobDisk), false},
		"a dedicated blob of Azure":     {azure(corev1.AzureDedicatedBlobDisk), false},
		"files of Azure":                {corev1.VolumeSource{AzureFile: &corev1.AzureFileVolumeSource{ShareName: "s"}}, true},
		"a volume of AWS":               {aws("aws://eu-west-1a/vol-0123456789abcdef0"), true},
		"a volume of AWS without an ID": {aws("aws://eu-west-1a/data"), false},
		"a volume of OpenStack":         {corev1.VolumeSource{Cinder: &corev1.CinderVolumeSource{VolumeID: "1"}}, true},
		"a disk of Google Cloud":        {corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "d"}}, true},
		"a claim":                       {corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{}}, true},
		"a volume of a CSI driver":      {corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "csi.example"}}, true},
		"a volume of vSphere":           {vsphere(""), true},
		"one with a storage policy":     {vsphere("gold"), false},
	} {
		t.Run(name, func(t *testing.T) {
			g, facts := NewWithT(t), preflight.Pods{Inline: map[string][]observation.Ref{}}
			pod := &corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "config"}, {Name: "data", VolumeSource: tc.source}}}}
			pod.Namespace, pod.Name = "default", "web"
			addPod(&facts, pod, observation.Registries{})
			if tc.want {
				g.Expect(facts.Untranslatable).To(BeEmpty())
			} else {
				g.Expect(facts.Untranslatable).To(ConsistOf(observation.Ref{Kind: "Pod", Namespace: "default", Name: "web"}))
			}
		})
	}
}

func TestOnlySoManyPodsAreRemembered(t *testing.T) {
	facts := preflight.Pods{Inline: map[string][]observation.Ref{}}
	kind := corev1.AzureSharedBlobDisk
	for range maxPods + 1 {
		addPod(&facts, &corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{{
			VolumeSource: corev1.VolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{Kind: &kind}},
		}}}}, observation.Registries{})
	}
	NewWithT(t).Expect(facts.Untranslatable).To(HaveLen(maxPods))
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
