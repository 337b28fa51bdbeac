package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// ProbeSuffix is what the objects of the probe, and its set, are called apart by.
const ProbeSuffix = "-probe"

// noControllersFlag enables no controller: a list without "*" enables what it names, and this one excludes all. The aliases are
// accepted by every minor (https://github.com/kubernetes/cloud-provider/blob/v0.30.14/names/controller_names.go).
const noControllersFlag = "--controllers=-cloud-node,-cloud-node-lifecycle,-route,-service"

// ProbeIdentity is who the probe is, and the Lease it is elected by.
func ProbeIdentity(id manifest.Identity) manifest.Identity {
	id.ServiceAccountName += ProbeSuffix
	id.LeaseName += ProbeSuffix
	id.WorkLease = "" // It does no work.
	return id
}

// Probe renders the probe of a CCM: the same image, arguments and credentials, with a ServiceAccount and a Lease of its
// own, one replica, and no controller enabled. It leads, which is when most of a cloud's set-up runs, and does nothing.
func Probe(ccm manifest.Set, id manifest.Identity) (manifest.Set, error) {
	var objects []*unstructured.Unstructured
	for _, object := range ccm.Objects {
		copied, err := probeObject(object, id)
		if err != nil {
			return manifest.Set{}, fmt.Errorf("render the probe's %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		if copied != nil {
			objects = append(objects, copied)
		}
	}
	lease := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}}
	lease.SetNamespace(id.LeaseNamespace)
	lease.SetName(ProbeIdentity(id).LeaseName)
	// Its Lease is made for it: one that may create Leases makes another one when the probe is deleted and it has not ended yet,
	// and that one would be no one's.
	objects = append(append(objects, leaseObjects(ProbeIdentity(id))...), lease)
	partOf := ccm.Objects[0].GetLabels()[manifest.PartOfLabel] + ProbeSuffix
	set := manifest.SetOf(partOf, ccm.Version, objects)
	if len(set.Workloads) != 1 {
		return manifest.Set{}, errors.New("render the probe: the CCM has not exactly one workload")
	}
	return set, nil
}

// probeObject copies what is the CCM's own; roles and the cloud configuration are shared with it.
func probeObject(object *unstructured.Unstructured, id manifest.Identity) (*unstructured.Unstructured, error) {
	copied := object.DeepCopy()
	copied.SetName(object.GetName() + ProbeSuffix)
	switch object.GetKind() {
	case "ServiceAccount":
		return copied, nil
	case "ClusterRoleBinding", "RoleBinding":
		return copied, unstructured.SetNestedSlice(copied.Object, []any{map[string]any{
			"kind": "ServiceAccount", "namespace": id.ServiceAccountNamespace, "name": ProbeIdentity(id).ServiceAccountName,
		}}, "subjects")
	case "Deployment", "DaemonSet":
		return probeDeployment(copied, id)
	}
	return nil, nil
}

func probeDeployment(object *unstructured.Unstructured, id manifest.Identity) (*unstructured.Unstructured, error) {
	template := &corev1.PodTemplateSpec{}
	content, _, err := unstructured.NestedMap(object.Object, "spec", "template")
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, template); err != nil {
		return nil, err
	}
	labels := map[string]string{"app.kubernetes.io/name": object.GetName()}
	template.Labels = labels
	template.Spec.ServiceAccountName, template.Spec.Affinity = ProbeIdentity(id).ServiceAccountName, nil
	changed := false
	for i := range template.Spec.Containers {
		changed = probeArguments(template.Spec.Containers[i].Args, id) || changed
	}
	if !changed {
		return nil, errors.New("no container has the arguments of the CCM's leader election and its controllers")
	}
	deployment := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: object.GetName(), Annotations: object.GetAnnotations()},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: *template,
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
		},
	}
	rendered, err := runtime.DefaultUnstructuredConverter.ToUnstructured(deployment)
	if err != nil {
		return nil, err
	}
	delete(rendered, "status")
	return &unstructured.Unstructured{Object: rendered}, nil
}

// probeArguments changes a command line in place, and says whether it was the CCM's: both flags have to be there.
func probeArguments(arguments []string, id manifest.Identity) bool {
	lease := slices.Index(arguments, "--leader-elect-resource-name="+id.LeaseName)
	controllers := slices.IndexFunc(arguments, func(argument string) bool { return strings.HasPrefix(argument, "--controllers=") })
	if lease < 0 || controllers < 0 {
		return false
	}
	arguments[lease] = "--leader-elect-resource-name=" + ProbeIdentity(id).LeaseName
	arguments[controllers] = noControllersFlag
	return true
}
