package facts

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// maxPods bounds how many pods of a kind are remembered: a cluster may have tens of thousands that all pull from one registry.
const maxPods = 200

// Pods reads all pods, page by page, and remembers the few that matter.
func (p *Preflight) Pods(ctx context.Context, registries observation.Registries) observation.Observed[preflight.Pods] {
	facts := preflight.Pods{Inline: map[string][]observation.Ref{}, Pulling: map[string][]observation.Ref{}}
	err := reads.Pages(ctx, p.client, "Pods", func() *corev1.PodList { return &corev1.PodList{} }, func(list *corev1.PodList) {
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
	name := observation.Ref{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}
	for _, volume := range pod.Spec.Volumes {
		if plugin := inlinePlugin(&volume.VolumeSource); plugin != "" {
			facts.Inline[plugin] = upToMost(facts.Inline[plugin], name)
		}
	}
	if slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return !inlineTranslatable(&v, pod.Namespace) }) {
		facts.Untranslatable = upToMost(facts.Untranslatable, name)
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

func upToMost(pods []observation.Ref, name observation.Ref) []observation.Ref {
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
