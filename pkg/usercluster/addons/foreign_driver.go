package addons

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// driverProblem says why a driver of someone else, which is registered on no Node, does not satisfy: on how many it is not,
// and which of its workloads are not there. It is a hint for a person; what cannot be listed is left out.
func (in *Installer) driverProblem(ctx context.Context, set manifest.Set, driver observation.Text) observation.Text {
	nodes := len(in.nodes(ctx).Value())
	problem := observation.Say(driver, " does not satisfy what is wanted: it is registered on 0 of ", nodes, " Nodes")
	images := programsOf(set)
	var workloads []observation.Text
	note := func(kind string, object metav1.ObjectMeta, pod corev1.PodSpec, available, wanted int32) {
		if runs(pod, images) {
			ref := reads.Keep(ctx, observation.Ref{Kind: kind, Namespace: object.Namespace, Name: object.Name})
			workloads = append(workloads, observation.Say(ref, fmt.Sprintf(" (%d of %d pods available)", available, wanted)))
		}
	}
	deployments := func(list *appsv1.DeploymentList) []appsv1.Deployment { return list.Items }
	_ = reads.Each(ctx, in.client, "Deployments", deployments, func(item *appsv1.Deployment) {
		note("Deployment", item.ObjectMeta, item.Spec.Template.Spec, item.Status.AvailableReplicas, item.Status.Replicas)
	})
	statefulSets := func(list *appsv1.StatefulSetList) []appsv1.StatefulSet { return list.Items }
	_ = reads.Each(ctx, in.client, "StatefulSets", statefulSets, func(item *appsv1.StatefulSet) {
		note("StatefulSet", item.ObjectMeta, item.Spec.Template.Spec, item.Status.AvailableReplicas, item.Status.Replicas)
	})
	daemonSets := func(list *appsv1.DaemonSetList) []appsv1.DaemonSet { return list.Items }
	_ = reads.Each(ctx, in.client, "DaemonSets", daemonSets, func(item *appsv1.DaemonSet) {
		note("DaemonSet", item.ObjectMeta, item.Spec.Template.Spec, item.Status.NumberAvailable, item.Status.DesiredNumberScheduled)
	})
	if len(workloads) == 0 {
		return observation.Say(problem, ", and no workload runs its program. Repair it, or uninstall it with its CSIDriver.")
	}
	return observation.Say(problem, "; by its image it is run by ", observation.Join(observation.SortTexts(workloads), ", "),
		". Repair it, or uninstall it with its CSIDriver.")
}

// programsOf are the images of a set's own program, by the last element of their names, so that mirrors count. Sidecars are
// the same for every driver.
func programsOf(set manifest.Set) []string {
	var names []string
	for _, object := range set.Objects {
		content, found, err := unstructured.NestedMap(object.Object, "spec", "template", "spec")
		pod := corev1.PodSpec{}
		if !found || err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(content, &pod) != nil ||
			len(pod.Containers) == 0 {
			continue
		}
		names = append(names, manifest.ImageName(pod.Containers[len(pod.Containers)-1].Image))
	}
	return names
}

func runs(pod corev1.PodSpec, programs []string) bool {
	return slices.ContainsFunc(pod.Containers, func(c corev1.Container) bool {
		return slices.Contains(programs, manifest.ImageName(c.Image))
	})
}
