package claims

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// kubeletDir is where a Node keeps what its kubelet has, as the Node sees it.
const kubeletDir = "/var/lib/kubelet"

// Node is one whose kubelet mounts.
type Node struct {
	Client kubernetes.Interface
	Name   string
	// Root is the folder of the Node's file system. Seen is where the driver sees it: pods mount its folders where they
	// are, which is the empty path.
	Root, Seen string
}

// Mounted is a volume that a Pod can use.
type Mounted struct {
	node           Node
	driver, handle string
	// staging and target are paths on the Node.
	staging, target string
}

// Target is where a Pod's volume is mounted, as the Node sees it.
func Target(pod *corev1.Pod, volume string) string {
	return filepath.Join(kubeletDir, "pods", string(pod.UID), "volumes", "kubernetes.io~csi", volume, "mount")
}

// Mount mounts a Pod's volume that a claim stands for. It is to be called again after an error, which says what it waits for.
func (n Node) Mount(ctx context.Context, pod *corev1.Pod, volume *corev1.Volume) (*Mounted, error) {
	persistent, err := n.volume(ctx, pod.Namespace, volume.PersistentVolumeClaim.ClaimName)
	if err != nil {
		return nil, err
	}
	source := persistent.Spec.CSI
	published, err := n.attached(ctx, persistent.Name, source)
	if err != nil {
		return nil, err
	}
	m := &Mounted{
		node: n, driver: source.Driver, handle: source.VolumeHandle, target: Target(pod, volume.Name),
		staging: filepath.Join(kubeletDir, "plugins", "kubernetes.io", "csi", source.Driver, hash(source.VolumeHandle), "globalmount"),
	}
	// The caller of a driver makes the first, and the folder of the second.
	for _, folder := range []string{m.staging, filepath.Dir(m.target)} {
		if err := os.MkdirAll(filepath.Join(n.Root, folder), 0o755); err != nil {
			return nil, fmt.Errorf("mount PersistentVolume %s: %w", persistent.Name, err)
		}
	}
	capability := &csi.VolumeCapability{
		AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}},
		AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER},
	}
	staging, target := n.Seen+m.staging, n.Seen+m.target
	err = n.ask(ctx, m.driver, func(ctx context.Context, driver csi.NodeClient) error {
		if _, err := driver.NodeStageVolume(ctx, &csi.NodeStageVolumeRequest{
			VolumeId: m.handle, PublishContext: published, StagingTargetPath: staging, VolumeCapability: capability,
		}); err != nil {
			return err
		}
		_, err := driver.NodePublishVolume(ctx, &csi.NodePublishVolumeRequest{
			VolumeId: m.handle, PublishContext: published, StagingTargetPath: staging, TargetPath: target, VolumeCapability: capability,
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("mount PersistentVolume %s: %w", persistent.Name, err)
	}
	return m, nil
}

// Unmount takes the volume from its Pod. It can be repeated.
func (m *Mounted) Unmount(ctx context.Context) error {
	err := m.node.ask(ctx, m.driver, func(ctx context.Context, driver csi.NodeClient) error {
		unpublish := &csi.NodeUnpublishVolumeRequest{VolumeId: m.handle, TargetPath: m.node.Seen + m.target}
		if _, err := driver.NodeUnpublishVolume(ctx, unpublish); err != nil {
			return err
		}
		unstage := &csi.NodeUnstageVolumeRequest{VolumeId: m.handle, StagingTargetPath: m.node.Seen + m.staging}
		_, err := driver.NodeUnstageVolume(ctx, unstage)
		return err
	})
	if err != nil {
		return fmt.Errorf("unmount volume %s: %w", m.handle, err)
	}
	return nil
}

// volume finds what a claim is bound to.
func (n Node) volume(ctx context.Context, namespace, name string) (*corev1.PersistentVolume, error) {
	claim, err := n.Client.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read PersistentVolumeClaim %s/%s: %w", namespace, name, err)
	}
	if claim.Status.Phase != corev1.ClaimBound {
		return nil, fmt.Errorf("PersistentVolumeClaim %s/%s is not bound", namespace, name)
	}
	volume, err := n.Client.CoreV1().PersistentVolumes().Get(ctx, claim.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read PersistentVolume %s: %w", claim.Spec.VolumeName, err)
	}
	if volume.Spec.CSI == nil {
		return nil, fmt.Errorf("PersistentVolume %s is not one of CSI", volume.Name)
	}
	return volume, nil
}

// attached returns what the driver's controller has for its Node. A kubelet knows a VolumeAttachment by its name:
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/volume/csi/csi_attacher.go (getAttachmentName)
func (n Node) attached(ctx context.Context, volume string, source *corev1.CSIPersistentVolumeSource) (map[string]string, error) {
	name := "csi-" + hash(source.VolumeHandle+source.Driver+n.Name)
	attachment, err := n.Client.StorageV1().VolumeAttachments().Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("PersistentVolume %s is not attached to Node %s", volume, n.Name)
	case err != nil:
		return nil, fmt.Errorf("read VolumeAttachment %s: %w", name, err)
	case !attachment.Status.Attached || attachment.DeletionTimestamp != nil:
		return nil, fmt.Errorf("PersistentVolume %s is not attached to Node %s%s", volume, n.Name, because(attachment))
	}
	return attachment.Status.AttachmentMetadata, nil
}

func because(attachment *storagev1.VolumeAttachment) string {
	if failure := attachment.Status.AttachError; failure != nil {
		return ": " + failure.Message
	}
	return ""
}

func hash(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
