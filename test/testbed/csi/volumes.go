package csi

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// provisionerAnnotation is what KCM writes to a claim that an external provisioner is to serve.
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/controller/volume/persistentvolume/pv_controller.go
const provisionerAnnotation = "volume.kubernetes.io/storage-provisioner"

// ServeVolumes makes volumes for the claims of a driver, says that they are attached, and deletes those whose claim is gone,
// until ctx ends. It stands for the driver's controller and its sidecars; nothing is mounted.
func ServeVolumes(ctx context.Context, c client.Client, driver string) error {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := errors.Join(
			provision(ctx, c, driver),
			attach(ctx, c, driver),
			reclaim(ctx, c, driver),
		); err != nil &&
			ctx.Err() == nil {
			ctrl.Log.Error(err, "volumes are not served, trying again")
		}
	}, time.Second)
	return nil
}

func provision(ctx context.Context, c client.Client, driver string) error {
	claims := &corev1.PersistentVolumeClaimList{}
	if err := c.List(ctx, claims); err != nil {
		return fmt.Errorf("list claims: %w", err)
	}
	for i := range claims.Items {
		claim := &claims.Items[i]
		if claim.Annotations[provisionerAnnotation] != driver || claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil {
			continue
		}
		name := "pvc-" + string(claim.UID)
		volume := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"pv.kubernetes.io/provisioned-by": driver}},
			Spec: corev1.PersistentVolumeSpec{
				Capacity:                      corev1.ResourceList{corev1.ResourceStorage: *claim.Spec.Resources.Requests.Storage()},
				AccessModes:                   claim.Spec.AccessModes,
				PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
				StorageClassName:              ptr.Deref(claim.Spec.StorageClassName, ""),
				ClaimRef: &corev1.ObjectReference{
					APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
				},
				PersistentVolumeSource: corev1.PersistentVolumeSource{
					CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name},
				},
			},
		}
		if err := c.Create(ctx, volume); client.IgnoreAlreadyExists(err) != nil {
			return fmt.Errorf("create PersistentVolume %s: %w", name, err)
		}
	}
	return nil
}

func attach(ctx context.Context, c client.Client, driver string) error {
	attachments := &storagev1.VolumeAttachmentList{}
	if err := c.List(ctx, attachments); err != nil {
		return fmt.Errorf("list VolumeAttachments: %w", err)
	}
	for i := range attachments.Items {
		attachment := &attachments.Items[i]
		if attachment.Spec.Attacher != driver || attachment.Status.Attached || attachment.DeletionTimestamp != nil {
			continue
		}
		before := attachment.DeepCopy()
		attachment.Status.Attached = true
		if err := c.Status().Patch(ctx, attachment, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("attach %s: %w", attachment.Name, err)
		}
	}
	return nil
}

func reclaim(ctx context.Context, c client.Client, driver string) error {
	volumes := &corev1.PersistentVolumeList{}
	if err := c.List(ctx, volumes); err != nil {
		return fmt.Errorf("list PersistentVolumes: %w", err)
	}
	for i := range volumes.Items {
		volume := &volumes.Items[i]
		if volume.Spec.CSI == nil || volume.Spec.CSI.Driver != driver || volume.Status.Phase != corev1.VolumeReleased {
			continue
		}
		if err := client.IgnoreNotFound(c.Delete(ctx, volume)); err != nil {
			return fmt.Errorf("delete PersistentVolume %s: %w", volume.Name, err)
		}
	}
	return nil
}
