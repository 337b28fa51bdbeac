package facts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// Inventory reads load balancers, volumes, their attachments and classes, which must be the same before and after. The Nodes are
// read anyway, and join it in migration.WithNodes.
func (r *Reader) Inventory(ctx context.Context) observation.Observed[observation.Inventory] {
	seen := r.loadBalancers(ctx)
	balancers, known := seen.Get()
	if !known {
		return observation.Unknown[observation.Inventory](seen.Why())
	}
	all := r.allVolumes(ctx)
	found, known := all.Get()
	if !known {
		return observation.Unknown[observation.Inventory](all.Why())
	}
	return r.withStorage(ctx, observation.Inventory{LoadBalancers: balancers, Volumes: found})
}

func (r *Reader) loadBalancers(ctx context.Context) observation.Observed[[]observation.LoadBalancer] {
	mark := r.watches.Mark(services())
	return r.balancers.Read(ctx, r.clock.Now(), mark, func() observation.Observed[[]observation.LoadBalancer] {
		found := []observation.LoadBalancer{}
		err := reads.List(ctx, r.client, func() *corev1.ServiceList { return &corev1.ServiceList{} }, func(page *corev1.ServiceList) {
			for i := range page.Items {
				if service := &page.Items[i]; service.Spec.Type == corev1.ServiceTypeLoadBalancer {
					found = append(found, reads.Keep(ctx, toLoadBalancer(service)))
				}
			}
		})
		if err != nil {
			return observation.Unknown[[]observation.LoadBalancer](reads.Because("listing Services", err))
		}
		slices.SortFunc(found, func(a, b observation.LoadBalancer) int {
			return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
		})
		return observation.Known(found)
	})
}

func (r *Reader) allVolumes(ctx context.Context) observation.Observed[[]observation.Volume] {
	return r.volumes.Read(ctx, r.clock.Now(), r.watches.Mark(volumes()), func() observation.Observed[[]observation.Volume] {
		found, empty := []observation.Volume{}, func() *corev1.PersistentVolumeList { return &corev1.PersistentVolumeList{} }
		err := reads.List(ctx, r.client, empty, func(page *corev1.PersistentVolumeList) {
			for i := range page.Items {
				found = append(found, reads.Keep(ctx, toVolume(&page.Items[i])))
			}
		})
		if err != nil {
			return observation.Unknown[[]observation.Volume](reads.Because("listing PersistentVolumes", err))
		}
		slices.SortFunc(found, func(a, b observation.Volume) int { return strings.Compare(a.Name, b.Name) })
		return observation.Known(found)
	})
}

func (r *Reader) withStorage(ctx context.Context, inventory observation.Inventory) observation.Observed[observation.Inventory] {
	seen := r.Attachments(ctx)
	attachments, known := seen.Get()
	if !known {
		return observation.Unknown[observation.Inventory](seen.Why())
	}
	all := r.StorageClasses(ctx)
	classes, known := all.Get()
	if !known {
		return observation.Unknown[observation.Inventory](all.Why())
	}
	if len(attachments) > 0 {
		inventory.Attachments = slices.SortedFunc(slices.Values(attachments), func(a, b observation.Attachment) int {
			return strings.Compare(a.Node+" "+a.Volume, b.Node+" "+b.Volume)
		})
	}
	for _, class := range classes {
		inventory.StorageClasses = append(inventory.StorageClasses,
			observation.ClassRecord{Name: class.Name, Provisioner: class.Provisioner, Default: class.Default})
	}
	slices.SortFunc(inventory.StorageClasses, func(a, b observation.ClassRecord) int { return strings.Compare(a.Name, b.Name) })
	return observation.Known(inventory)
}

func toLoadBalancer(service *corev1.Service) observation.LoadBalancer {
	ingress := []string{}
	for _, address := range service.Status.LoadBalancer.Ingress {
		ingress = append(ingress, address.IP+address.Hostname)
	}
	slices.Sort(ingress)
	return observation.LoadBalancer{Namespace: service.Namespace, Name: service.Name, UID: string(service.UID), Ingress: ingress,
		Annotations: annotationsOf(service)}
}

// annotationsOf leaves out what kubectl keeps there, a copy of the whole object.
func annotationsOf(service *corev1.Service) map[string]string {
	const longest = 256
	kept := map[string]string{}
	for key, value := range service.Annotations {
		if len(value) > longest {
			sum := sha256.Sum256([]byte(value))
			value = "sha256:" + hex.EncodeToString(sum[:])
		}
		if key != corev1.LastAppliedConfigAnnotation {
			kept[key] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

func toVolume(volume *corev1.PersistentVolume) observation.Volume {
	result := observation.Volume{Name: volume.Name, UID: string(volume.UID), Phase: string(volume.Status.Phase),
		Path: pathToRegister(volume), CreatedAt: volume.CreationTimestamp.Time}
	if claim := volume.Spec.ClaimRef; claim != nil {
		result.Claim = claim.Namespace + "/" + claim.Name
	}
	if csi := volume.Spec.CSI; csi != nil {
		result.Driver = csi.Driver
	}
	result.Plugin = inTreePlugin(&volume.Spec.PersistentVolumeSource)
	return result
}
