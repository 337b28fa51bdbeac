package facts

import (
	"context"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// Attachments reads the VolumeAttachments of all drivers.
func (r *Reader) Attachments(ctx context.Context) observation.Observed[[]observation.Attachment] {
	mark := r.watches.Mark(attachments())
	return r.attachments.Read(ctx, r.clock.Now(), mark, func() observation.Observed[[]observation.Attachment] {
		found, err := r.readAttachments(ctx)
		if err != nil {
			return observation.Unknown[[]observation.Attachment](reads.Because("listing VolumeAttachments", err))
		}
		return observation.Known(found)
	})
}

func (r *Reader) readAttachments(ctx context.Context) ([]observation.Attachment, error) {
	attachments := []observation.Attachment{}
	empty := func() *storagev1.VolumeAttachmentList { return &storagev1.VolumeAttachmentList{} }
	err := reads.List(ctx, r.client, empty, func(page *storagev1.VolumeAttachmentList) {
		for _, item := range page.Items {
			attachments = append(attachments, reads.Keep(ctx, observation.Attachment{
				Name:     item.Name,
				Attacher: item.Spec.Attacher,
				Node:     item.Spec.NodeName,
				Volume:   ptr.Deref(item.Spec.Source.PersistentVolumeName, ""),
				Problem:  attachmentProblem(item.Status),
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
