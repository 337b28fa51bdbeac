package facts

import (
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	csitranslation "k8s.io/csi-translation-lib"
)

// inTreePlugin is the cloud's plugin that a volume was made for; empty for all others. A source that is missing here is
// not in preflight's findings, and a rollback takes away the driver that it needs.
func inTreePlugin(volume *corev1.PersistentVolumeSource) string {
	switch {
	case volume.Cinder != nil:
		return "kubernetes.io/cinder"
	case volume.AWSElasticBlockStore != nil:
		return "kubernetes.io/aws-ebs"
	case volume.AzureDisk != nil:
		return "kubernetes.io/azure-disk"
	case volume.AzureFile != nil:
		return "kubernetes.io/azure-file"
	case volume.GCEPersistentDisk != nil:
		return "kubernetes.io/gce-pd"
	case volume.VsphereVolume != nil:
		return "kubernetes.io/vsphere-volume"
	}
	return ""
}

// translatable asks the library that kube-controller-manager, kube-scheduler and kubelets migrate volumes with. It refuses an
// unmanaged disk of Azure, for one:
// https://github.com/kubernetes/csi-translation-lib/blob/v0.36.4/plugins/azure_disk.go#L160
func translatable(volume *corev1.PersistentVolume) bool {
	if inTreePlugin(&volume.Spec.PersistentVolumeSource) == "" {
		return true
	}
	return translates(func() error {
		_, err := csitranslation.New().TranslateInTreePVToCSI(logr.Discard(), volume)
		return err
	})
}

// inlineTranslatable asks the same for a volume that stands in a pod of the namespace.
func inlineTranslatable(volume *corev1.Volume, namespace string) bool {
	if inlinePlugin(&volume.VolumeSource) == "" {
		return true
	}
	return translates(func() error {
		_, err := csitranslation.New().TranslateInTreeInlineVolumeToCSI(logr.Discard(), volume, namespace)
		return err
	})
}

// translates takes a panic for a refusal: the library panics for a volume of vSphere in a pod that has a storagePolicyName, and a
// pod of a tenant must end neither this pass nor the manager.
// https://github.com/kubernetes/csi-translation-lib/blob/v0.36.4/plugins/vsphere_volume.go#L149-L151
func translates(translate func() error) (translated bool) {
	defer func() {
		if recover() != nil {
			translated = false
		}
	}()
	return translate() == nil
}

// inlinePlugin is that of a volume that stands in a pod.
func inlinePlugin(volume *corev1.VolumeSource) string {
	source := &corev1.PersistentVolumeSource{
		AWSElasticBlockStore: volume.AWSElasticBlockStore, AzureDisk: volume.AzureDisk,
		GCEPersistentDisk: volume.GCEPersistentDisk, VsphereVolume: volume.VsphereVolume,
	}
	// These two name their Secret in another way in a pod, and have types of their own there.
	if volume.Cinder != nil {
		source.Cinder = &corev1.CinderPersistentVolumeSource{}
	}
	if volume.AzureFile != nil {
		source.AzureFile = &corev1.AzureFilePersistentVolumeSource{}
	}
	return inTreePlugin(source)
}
