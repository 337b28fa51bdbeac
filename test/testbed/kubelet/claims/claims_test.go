package claims

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/csi/driver"
)

const driverName = "csi.simcloud.example"

// world is a Pod whose claim is served, with the disk of its volume.
type world struct {
	disk       string
	pod        *corev1.Pod
	claim      *corev1.PersistentVolumeClaim
	volume     *corev1.PersistentVolume
	attachment *storagev1.VolumeAttachment
}

func newWorld(disk string) *world {
	return &world{
		disk: disk,
		pod: &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "pod-uid"},
			Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"},
			}}}},
		},
		claim: &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "v"},
			Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
		},
		volume: &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: "v"}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: driverName, VolumeHandle: "handle"},
			}},
		},
		attachment: &storagev1.VolumeAttachment{
			ObjectMeta: metav1.ObjectMeta{Name: "csi-" + hash("handle"+driverName+"n1")},
			Status:     storagev1.VolumeAttachmentStatus{Attached: true, AttachmentMetadata: map[string]string{"devicePath": disk}},
		},
	}
}

func (w *world) objects() []runtime.Object {
	var all []runtime.Object
	if w.claim != nil {
		all = append(all, w.claim)
	}
	if w.volume != nil {
		all = append(all, w.volume)
	}
	if w.attachment != nil {
		all = append(all, w.attachment)
	}
	return all
}

// serve runs the driver of a Node until the test ends.
func serve(t *testing.T, root string) {
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	// Its path is too long for a socket; the driver's pod sees a short one.
	short := filepath.Join(t.TempDir(), "csi.sock")
	go func() { served <- (&driver.Driver{Name: driverName, Node: "n1"}).Serve(ctx, short) }()
	t.Cleanup(func() { cancel(); NewWithT(t).Eventually(served).Should(Receive(BeNil())) })
	g := NewWithT(t)
	g.Eventually(func() error { _, err := os.Stat(short); return err }).WithTimeout(10 * time.Second).Should(Succeed())
	socket := filepath.Join(root, Socket(driverName))
	g.Expect(os.MkdirAll(filepath.Dir(socket), 0o755)).To(Succeed())
	g.Expect(os.Symlink(short, socket)).To(Succeed())
}

func TestMountWaitsForWhatOthersDo(t *testing.T) {
	tests := map[string]struct {
		change func(*world)
		wants  string
	}{
		"a claim that is not there":       {func(w *world) { w.claim = nil }, "read PersistentVolumeClaim default/c"},
		"a claim without a volume":        {func(w *world) { w.claim.Status.Phase = corev1.ClaimPending }, "default/c is not bound"},
		"a volume that is gone":           {func(w *world) { w.volume = nil }, "read PersistentVolume v"},
		"a volume of another kind":        {func(w *world) { w.volume.Spec.CSI = nil }, "PersistentVolume v is not one of CSI"},
		"a volume that no one attaches":   {func(w *world) { w.attachment = nil }, "PersistentVolume v is not attached to Node n1"},
		"a volume that is being detached": {func(w *world) { w.attachment.DeletionTimestamp = &metav1.Time{} }, "not attached to Node n1"},
		"a volume that cannot be attached": {func(w *world) {
			w.attachment.Status.Attached = false
			w.attachment.Status.AttachError = &storagev1.VolumeError{Message: "there is no volume"}
		}, "PersistentVolume v is not attached to Node n1: there is no volume"},
		"a disk that is not there": {func(w *world) { w.attachment.Status.AttachmentMetadata = nil }, "volume handle is not attached"},
		"a Node without a driver":  {func(w *world) { w.volume.Spec.CSI.Driver = "other"; w.attachment.Name = "csi-" + hash("handleothern1") }, "find CSI driver other on Node n1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w, root := newWorld(t.TempDir()), t.TempDir()
			serve(t, root)
			test.change(w)
			node := Node{Client: fake.NewClientset(w.objects()...), Name: "n1", Root: root, Seen: root}
			_, err := node.Mount(t.Context(), w.pod, &w.pod.Spec.Volumes[0])
			g.Expect(err).To(MatchError(ContainSubstring(test.wants)))
		})
	}
}

func TestAPodSeesTheDiskUntilItIsUnmounted(t *testing.T) {
	g := NewWithT(t)
	// As long as those of the testbed are.
	root := filepath.Join(t.TempDir(), strings.Repeat("long", 25))
	g.Expect(os.MkdirAll(root, 0o755)).To(Succeed())
	w := newWorld(t.TempDir())
	g.Expect(os.WriteFile(filepath.Join(w.disk, "file"), []byte("data"), 0o600)).To(Succeed())
	node := Node{Client: fake.NewClientset(w.objects()...), Name: "n1", Root: root, Seen: root}
	serve(t, root)

	mounted, err := node.Mount(t.Context(), w.pod, &w.pod.Spec.Volumes[0])
	g.Expect(err).NotTo(HaveOccurred())
	target := filepath.Join(root, Target(w.pod, "data"))
	g.Expect(os.ReadFile(filepath.Join(target, "file"))).To(Equal([]byte("data")))
	again, err := node.Mount(t.Context(), w.pod, &w.pod.Spec.Volumes[0])
	g.Expect(err).NotTo(HaveOccurred(), "a kubelet that started again mounts again")
	g.Expect(again).To(Equal(mounted))

	g.Expect(mounted.Unmount(t.Context())).To(Succeed())
	g.Expect(target).NotTo(BeAnExistingFile())
	g.Expect(mounted.Unmount(t.Context())).To(Succeed())
	g.Expect(filepath.Join(w.disk, "file")).To(BeAnExistingFile())
}
