//go:build vcsim

package vcsim_test

import (
	"crypto/sha256"
	"fmt"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	csitranslation "k8s.io/csi-translation-lib"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const class = "in-tree"

func size() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
}

func inDefault(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}
}

func claimOf(name, className, volume string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: inDefault(name), Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: &className, VolumeName: volume, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{Requests: size()},
	}}
}

// byHand is a volume that people made for a disk that there is.
func byHand(name, path string) *corev1.PersistentVolume {
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		Capacity: size(), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
	}}
	volume.Spec.VsphereVolume = &corev1.VsphereVirtualDiskVolumeSource{VolumePath: path, FSType: "ext4"}
	return volume
}

// podAt is one that a scheduler has bound to a Node.
func podAt(node, name string, source corev1.VolumeSource) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: inDefault(name), Spec: corev1.PodSpec{
		NodeName: node, TerminationGracePeriodSeconds: new(int64(0)),
		Containers: []corev1.Container{{Name: "db", Image: "registry.example/db:1"}},
		Volumes:    []corev1.Volume{{Name: "data", VolumeSource: source}},
	}}
}

func claimed(name string) corev1.VolumeSource {
	return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
}

// provision has KCM make a volume, by the in-tree plugin.
func (w *world) provision(name string) *corev1.PersistentVolume {
	GinkgoHelper()
	Expect(w.client.Create(w.ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: plugin, Parameters: map[string]string{"diskformat": "thin"},
	})).To(Succeed())
	Expect(w.client.Create(w.ctx, claimOf(name, class, ""))).To(Succeed())
	return w.bound(name)
}

// bound is the volume that a claim has got.
func (w *world) bound(name string) *corev1.PersistentVolume {
	GinkgoHelper()
	claim, volume := &corev1.PersistentVolumeClaim{}, &corev1.PersistentVolume{}
	w.eventually(func(g Gomega) {
		g.Expect(w.client.Get(w.ctx, client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}, claim)).To(Succeed())
		g.Expect(claim.Status.Phase).To(Equal(corev1.ClaimBound))
		g.Expect(w.client.Get(w.ctx, client.ObjectKey{Name: claim.Spec.VolumeName}, volume)).To(Succeed())
		g.Expect(volume.Status.Phase).To(Equal(corev1.VolumeBound))
	})
	return volume
}

// uniqueInTree is how KCM calls a volume that the in-tree plugin serves.
func uniqueInTree(path string) corev1.UniqueVolumeName {
	return corev1.UniqueVolumeName(plugin + "/" + path)
}

// uniqueCSI is how it calls one that the driver serves.
func uniqueCSI(path string) corev1.UniqueVolumeName {
	return corev1.UniqueVolumeName("kubernetes.io/csi/" + driver + "^" + path)
}

// expectAttached waits until KCM says that a volume is attached to a Node, and looks whether its virtual machine has the disk.
func (w *world) expectAttached(node string, path string) {
	GinkgoHelper()
	w.eventually(func(g Gomega) {
		g.Expect(w.node(node).Status.VolumesAttached).To(ContainElement(HaveField("Name", uniqueInTree(path))))
	})
	Expect(w.cloud.at(w.ctx, path)).To(Equal([]string{node}))
}

// attachments are all VolumeAttachments.
func (w *world) attachments() []storagev1.VolumeAttachment {
	GinkgoHelper()
	list := &storagev1.VolumeAttachmentList{}
	Expect(w.client.List(w.ctx, list)).To(Succeed())
	return list.Items
}

// nameOf a VolumeAttachment holds the handle of the volume, which the in-tree spec has to be translated for:
// https://github.com/kubernetes/kubernetes/blob/v1.25.0/pkg/volume/csi/csi_attacher.go#L653-L656
func nameOf(volume *corev1.PersistentVolume, node string) string {
	GinkgoHelper()
	translated, err := csitranslation.New().TranslateInTreePVToCSI(logr.Discard(), volume)
	Expect(err).NotTo(HaveOccurred())
	source := translated.Spec.CSI
	return fmt.Sprintf("csi-%x", sha256.Sum256([]byte(source.VolumeHandle+source.Driver+node)))
}
