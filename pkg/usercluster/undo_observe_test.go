package usercluster

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/simcloud"
)

func podOf(namespace, name, account string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.PodSpec{ServiceAccountName: account}, Status: corev1.PodStatus{Phase: phase},
	}
}

func TestPodsOfAnIdentity(t *testing.T) {
	g := NewWithT(t)
	s, _ := sessionWith(interceptor.Funcs{},
		podOf("kube-system", "b", "cloud-controller-manager", corev1.PodRunning),
		podOf("kube-system", "a", "cloud-controller-manager", corev1.PodPending),
		podOf("kube-system", "done", "cloud-controller-manager", corev1.PodFailed),
		podOf("kube-system", "other", "default", corev1.PodRunning),
		podOf("default", "elsewhere", "cloud-controller-manager", corev1.PodRunning),
	)
	pods, known := s.PodsOf(t.Context(), simcloud.Profile{}.Identity(), nil).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(pods).To(Equal([]string{"a", "b"}))
}

func TestAttachments(t *testing.T) {
	g := NewWithT(t)
	s, _ := sessionWith(interceptor.Funcs{},
		&storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: storagev1.VolumeAttachmentSpec{
			Attacher: "d", NodeName: "n", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: new("pv")}}},
		&storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "inline"}, Spec: storagev1.VolumeAttachmentSpec{Attacher: "d"}},
	)
	attachments, known := s.Attachments(t.Context()).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(attachments).To(Equal([]observation.Attachment{{Name: "a", Attacher: "d", Node: "n", Volume: "pv"}, {Name: "inline", Attacher: "d"}}))
}

func TestWhatIsWithdrawnIsObsoleteButForWhatLasts(t *testing.T) {
	g := NewWithT(t)
	addons := renderSimcloud(t)
	inventory := Merge(InventoryOf(addons.CCM.Objects), InventoryOf(addons.CSI.Objects))
	addons.CCM.Withdrawn, addons.CSI.Withdrawn = true, true
	s, _ := sessionWith(interceptor.Funcs{})
	seen, known := s.Addons(t.Context(), inventory, addons).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(seen.CCM.Withdrawn && seen.CSI.Withdrawn).To(BeTrue())
	g.Expect(seen.Obsolete).NotTo(BeEmpty())
	for _, ref := range seen.Obsolete {
		g.Expect(ref.Kind).NotTo(BeElementOf("CSIDriver", "StorageClass"), "volumes hang on to it")
	}
}
