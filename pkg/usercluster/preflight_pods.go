package usercluster

import (
	"context"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// maxPods bounds how many pods of a kind are remembered: a cluster may have tens of thousands that all pull from one registry.
const maxPods = 200

// podFacts reads all pods, page by page, and remembers the few that matter.
func (s *Session) podFacts(ctx context.Context, registries observation.Registries) observation.Observed[preflight.Pods] {
	facts := preflight.Pods{Inline: map[string][]string{}, Pulling: map[string][]string{}}
	err := reads.Pages(ctx, s.client, "Pods", func() *corev1.PodList { return &corev1.PodList{} }, func(list *corev1.PodList) {
		for i := range list.Items {
			addPod(&facts, &list.Items[i], registries)
		}
	})
	if err != nil {
		return observation.Unknown[preflight.Pods](err.Error())
	}
	return observation.Known(facts)
}

func addPod(facts *preflight.Pods, pod *corev1.Pod, registries observation.Registries) {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return
	}
	name := "Pod " + pod.Namespace + "/" + pod.Name
	for _, volume := range pod.Spec.Volumes {
		if plugin := inlinePlugin(&volume.VolumeSource); plugin != "" {
			facts.Inline[plugin] = upToMost(facts.Inline[plugin], name)
		}
	}
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		// What cannot be parsed no kubelet pulls: it has no repository.
		image, _ := manifest.ParseImage(container.Image)
		host, passworded := registries.Of(image.Repository)
		if passworded && len(pod.Spec.ImagePullSecrets) == 0 {
			facts.Pulling[host] = upToMost(facts.Pulling[host], name)
		}
	}
	if isAutoscaler(pod) {
		facts.Autoscalers = upToMost(facts.Autoscalers, name)
	}
}

func upToMost(pods []string, name string) []string {
	if len(pods) < maxPods {
		return append(pods, name)
	}
	return pods
}

func isAutoscaler(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(container corev1.Container) bool {
		return manifest.ImageName(container.Image) == "cluster-autoscaler"
	})
}

// machinePools reads the MachineDeployments as their owners see them.
func (s *Session) machinePools(ctx context.Context) observation.Observed[[]preflight.Pool] {
	items, err := s.machineDeployments(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return observation.Absent[[]preflight.Pool]()
	case err != nil:
		return observation.Unknown[[]preflight.Pool](reads.Because("listing "+machineDeploymentKind+"s", err))
	}
	pools := make([]preflight.Pool, 0, len(items))
	for i := range items {
		pools = append(pools, toPool(&items[i]))
	}
	slices.SortFunc(pools, func(a, b preflight.Pool) int { return reads.Compare(a.Ref, b.Ref) })
	return observation.Known(pools)
}

func toPool(object *unstructured.Unstructured) preflight.Pool {
	pool := preflight.Pool{Ref: reads.RefOf(object), Tool: toolOf(object), Surge: surgeOf(object)}
	for annotation := range object.GetAnnotations() {
		// https://github.com/kubernetes/autoscaler/blob/cluster-autoscaler-1.30.0/cluster-autoscaler/cloudprovider/clusterapi/README.md
		pool.Autoscaled = pool.Autoscaled || strings.HasSuffix(annotation, "cluster-api-autoscaler-node-group-max-size")
	}
	return pool
}

// toolOf is the tool that a MachineDeployment is written by, told by the marks that these leave.
func toolOf(object *unstructured.Unstructured) string {
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	switch {
	case annotations["argocd.argoproj.io/tracking-id"] != "" || labels["argocd.argoproj.io/instance"] != "":
		return "Argo CD"
	case labels["kustomize.toolkit.fluxcd.io/name"] != "" || labels["helm.toolkit.fluxcd.io/name"] != "":
		return "Flux"
	case labels["app.kubernetes.io/managed-by"] == "Helm":
		return "Helm"
	}
	return ""
}

// surgeOf is how many Machines more than wanted there may be; a percentage is rounded up, and one is the default:
// https://github.com/kubermatic/machine-controller/blob/v1.59.3/pkg/apis/cluster/v1alpha1/machinedeployment_types.go
func surgeOf(object *unstructured.Unstructured) int {
	replicas := int(integerOr(object, 1, "spec", "replicas"))
	if replicas == 0 {
		return 0
	}
	value, found, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "strategy", "rollingUpdate", "maxSurge")
	if !found {
		return 1
	}
	if text, isText := value.(string); isText {
		percent, err := strconv.Atoi(strings.TrimSuffix(text, "%"))
		if err != nil {
			return 1
		}
		return (replicas*percent + 99) / 100
	}
	return int(integerOr(object, 1, "spec", "strategy", "rollingUpdate", "maxSurge"))
}
