package usercluster

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

// Inventory reads the load balancers and volumes, which must be the same before and after.
func (s *Session) Inventory(ctx context.Context) migration.Observed[migration.Inventory] {
	services := &corev1.ServiceList{}
	if err := s.client.List(ctx, services); err != nil {
		return migration.Unknown[migration.Inventory](because("listing Services", err))
	}
	volumes := &corev1.PersistentVolumeList{}
	if err := s.client.List(ctx, volumes); err != nil {
		return migration.Unknown[migration.Inventory](because("listing PersistentVolumes", err))
	}
	inventory := migration.Inventory{LoadBalancers: []migration.LoadBalancer{}, Volumes: []migration.Volume{}}
	for i := range services.Items {
		if service := &services.Items[i]; service.Spec.Type == corev1.ServiceTypeLoadBalancer {
			inventory.LoadBalancers = append(inventory.LoadBalancers, toLoadBalancer(service))
		}
	}
	for i := range volumes.Items {
		inventory.Volumes = append(inventory.Volumes, toVolume(&volumes.Items[i]))
	}
	slices.SortFunc(inventory.LoadBalancers, func(a, b migration.LoadBalancer) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	slices.SortFunc(inventory.Volumes, func(a, b migration.Volume) int { return strings.Compare(a.Name, b.Name) })
	return migration.Known(inventory)
}

func toLoadBalancer(service *corev1.Service) migration.LoadBalancer {
	ingress := []string{}
	for _, address := range service.Status.LoadBalancer.Ingress {
		ingress = append(ingress, address.IP+address.Hostname)
	}
	slices.Sort(ingress)
	return migration.LoadBalancer{Namespace: service.Namespace, Name: service.Name, UID: string(service.UID), Ingress: ingress}
}

func toVolume(volume *corev1.PersistentVolume) migration.Volume {
	result := migration.Volume{Name: volume.Name, UID: string(volume.UID), Phase: string(volume.Status.Phase)}
	if claim := volume.Spec.ClaimRef; claim != nil {
		result.Claim = claim.Namespace + "/" + claim.Name
	}
	if csi := volume.Spec.CSI; csi != nil {
		result.Driver = csi.Driver
	}
	result.Plugin = inTreePlugin(&volume.Spec)
	return result
}

// inTreePlugin is the cloud's plugin that a volume was made for; empty for all others.
func inTreePlugin(volume *corev1.PersistentVolumeSpec) string {
	switch {
	case volume.Cinder != nil:
		return "kubernetes.io/cinder"
	case volume.AWSElasticBlockStore != nil:
		return "kubernetes.io/aws-ebs"
	case volume.AzureDisk != nil:
		return "kubernetes.io/azure-disk"
	case volume.GCEPersistentDisk != nil:
		return "kubernetes.io/gce-pd"
	case volume.VsphereVolume != nil:
		return "kubernetes.io/vsphere-volume"
	}
	return ""
}
