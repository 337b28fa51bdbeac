package usercluster

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// PodsOf names the pods that run as an identity and have not finished, whoever made them: those of its ServiceAccount, and
// those beside the control plane that read its Secret there.
func (s *Session) PodsOf(ctx context.Context, id provider.Identity, access *manifest.Access) observation.Observed[[]string] {
	names := []string{}
	err := reads.List(ctx, s.client, func() *corev1.PodList { return &corev1.PodList{} }, func(page *corev1.PodList) {
		names = append(names, reads.Keep(ctx, unfinished(page, func(pod *corev1.Pod) bool { return pod.Spec.ServiceAccountName == id.ServiceAccountName }))...)
	}, client.InNamespace(id.ServiceAccountNamespace))
	if err != nil {
		return observation.Unknown[[]string](reads.Because("listing Pods of "+id.ServiceAccountNamespace, err))
	}
	slices.Sort(names)
	if access == nil {
		return observation.Known(names)
	}
	pods := &corev1.PodList{}
	if err := s.beside.live.List(ctx, pods, client.InNamespace(access.Secret.Namespace)); err != nil {
		return observation.Unknown[[]string]("listing Pods of " + access.Secret.Namespace + ": " + err.Error())
	}
	return observation.Known(append(names, unfinished(pods, func(pod *corev1.Pod) bool { return readsSecret(pod, access.Secret.Name) })...))
}

func readsSecret(pod *corev1.Pod, secret string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool {
		return volume.Secret != nil && volume.Secret.SecretName == secret
	})
}

// unfinished pods of a kind, by name.
func unfinished(pods *corev1.PodList, is func(*corev1.Pod) bool) []string {
	names := []string{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		finished := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		if is(pod) && !finished {
			names = append(names, pod.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Attachments reads the VolumeAttachments of all drivers.
func (s *Session) Attachments(ctx context.Context) observation.Observed[[]observation.Attachment] {
	attachments, err := s.attachments(ctx)
	if err != nil {
		return observation.Unknown[[]observation.Attachment](reads.Because("listing VolumeAttachments", err))
	}
	return observation.Known(attachments)
}

func (s *Session) attachments(ctx context.Context) ([]observation.Attachment, error) {
	attachments := []observation.Attachment{}
	empty := func() *storagev1.VolumeAttachmentList { return &storagev1.VolumeAttachmentList{} }
	err := reads.List(ctx, s.client, empty, func(page *storagev1.VolumeAttachmentList) {
		for _, item := range page.Items {
			attachments = append(attachments, reads.Keep(ctx, observation.Attachment{
				Name: item.Name, Attacher: item.Spec.Attacher, Node: item.Spec.NodeName, Volume: ptr.Deref(item.Spec.Source.PersistentVolumeName, ""),
				Problem: attachmentProblem(item.Status),
			}))
		}
	})
	return attachments, err
}

func attachmentProblem(status storagev1.VolumeAttachmentStatus) string {
	switch {
	case status.DetachError != nil:
		return "detaching"
	case status.AttachError != nil && !status.Attached:
		return "attaching"
	}
	return ""
}
