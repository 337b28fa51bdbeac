package facts

import (
	"testing"

	. "github.com/onsi/gomega"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func TestAttachments(t *testing.T) {
	g := NewWithT(t)
	s, _ := readerWith(interceptor.Funcs{},
		&storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: storagev1.VolumeAttachmentSpec{
			Attacher: "d", NodeName: "n", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: new("pv")}}},
		&storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "inline"}, Spec: storagev1.VolumeAttachmentSpec{Attacher: "d"}},
	)
	attachments, known := s.Attachments(t.Context()).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(attachments).To(
		Equal([]observation.Attachment{{Name: "a", Attacher: "d", Node: "n", Volume: "pv"}, {Name: "inline", Attacher: "d"}}),
	)
}
