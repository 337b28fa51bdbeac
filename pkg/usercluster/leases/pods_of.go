package leases

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// PodsOf names the pods that run as an identity and have not finished, whoever made them: those of its ServiceAccount, and
// those beside the control plane that read its Secret there.
func (e *Elections) PodsOf(ctx context.Context, id manifest.Identity, access *manifest.Access) observation.Observed[[]string] {
	names := []string{}
	err := reads.List(ctx, e.client, func() *corev1.PodList { return &corev1.PodList{} }, func(page *corev1.PodList) {
		names = append(
			names,
			reads.Keep(
				ctx,
				unfinished(page, func(pod *corev1.Pod) bool { return pod.Spec.ServiceAccountName == id.ServiceAccountName }),
			)...)
	}, client.InNamespace(id.ServiceAccountNamespace))
	if err != nil {
		return observation.Unknown[[]string](reads.Because("listing Pods of "+id.ServiceAccountNamespace, err))
	}
	slices.Sort(names)
	if access == nil {
		return observation.Known(names)
	}
	pods := &corev1.PodList{}
	if err := e.management.List(ctx, pods, client.InNamespace(access.Secret.Namespace)); err != nil {
		return observation.Unknown[[]string]("listing Pods of " + access.Secret.Namespace + ": " + err.Error())
	}
	return observation.Known(
		append(names, unfinished(pods, func(pod *corev1.Pod) bool { return readsSecret(pod, access.Secret.Name) })...),
	)
}

func readsSecret(pod *corev1.Pod, secret string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool {
		return volume.Secret != nil && volume.Secret.SecretName == secret
	})
}

// unfinished pods of a kind, by name.
func unfinished(pods *corev1.PodList, is func(*corev1.Pod) bool) []string {
	names := []string{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		finished := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		if is(pod) && !finished {
			names = append(names, pod.Name)
		}
	}
	slices.Sort(names)
	return names
}
