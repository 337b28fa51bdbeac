package render

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// lockSuffix is what the objects of the migration lock are called apart by.
const lockSuffix = "-leader-migration"

// WithLock gives the CCM the migration lock: its file as a ConfigMap of the set, and the flags. The probe is made before:
// it must not take the lock.
func WithLock(ccm manifest.Set, id manifest.Identity, configuration handover.LockConfiguration) (manifest.Set, error) {
	objects := make([]*unstructured.Unstructured, 0, len(ccm.Objects)+1)
	for _, object := range ccm.Objects {
		objects = append(objects, object.DeepCopy())
	}
	name, changed := id.LeaseName+lockSuffix, false
	err := manifest.ChangePods(objects, func(pod *corev1.PodTemplateSpec) {
		for i := range pod.Spec.Containers {
			changed = lockContainer(&pod.Spec.Containers[i], id, configuration) || changed
		}
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
			Name: configuration.File.Volume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: name},
			}},
		})
	})
	switch {
	case err != nil:
		return manifest.Set{}, err
	case len(ccm.Workloads) != 1 || !changed:
		return manifest.Set{}, errors.New("give the CCM the migration lock: no single workload has the arguments of its leader " +
			"election")
	}
	file := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{configuration.File.Key: configuration.File.Data},
	}}
	file.SetNamespace(ccm.Workloads[0].Namespace)
	file.SetName(name)
	partOf := ccm.Objects[0].GetLabels()[manifest.PartOfLabel]
	return manifest.SetOf(partOf, ccm.Version, slices.Insert(objects, 0, file)), nil
}

// lockContainer says whether the container is the CCM: that one elects with its Lease.
func lockContainer(container *corev1.Container, id manifest.Identity, configuration handover.LockConfiguration) bool {
	if !slices.Contains(container.Args, "--leader-elect-resource-name="+id.LeaseName) {
		return false
	}
	for _, flag := range configuration.Flags {
		container.Args = append(container.Args, flag.Name+"="+flag.Value)
	}
	container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{
		Name: configuration.File.Volume, MountPath: configuration.File.Folder, ReadOnly: true,
	})
	return true
}

// LockObjects are the Role and the RoleBinding that let both managers hold the Lease of the migration lock: the roles
// that Kubernetes itself gives to KCM name its main Lease only.
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go
//
// They do not let anybody create Leases, because a rule for that cannot have a name, and the CCM behind its fence could
// then create its main one. LockLease is created for them.
func LockObjects(id manifest.Identity) []*unstructured.Unstructured {
	name := "ccm-migration:" + handover.LockName + "-lease"
	role := rbacObject("Role", id.LeaseNamespace, name)
	hold := leaseRule("get", "update")
	hold["resourceNames"] = []any{handover.LockName}
	role.Object["rules"] = []any{hold}
	binding := rbacObject("RoleBinding", id.LeaseNamespace, name)
	binding.Object["roleRef"] = map[string]any{"apiGroup": rbacGroup, "kind": "Role", "name": name}
	binding.Object["subjects"] = []any{
		map[string]any{"kind": "ServiceAccount", "namespace": id.ServiceAccountNamespace, "name": id.ServiceAccountName},
		map[string]any{"kind": "User", "apiGroup": rbacGroup, "name": handover.KCMUser},
	}
	return []*unstructured.Unstructured{role, binding}
}

// LockLease is the Lease of the migration lock without a holder.
func LockLease(id manifest.Identity) *unstructured.Unstructured {
	lease := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}}
	lease.SetNamespace(id.LeaseNamespace)
	lease.SetName(handover.LockName)
	return lease
}
