package addons

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// unhealthy is one sentence for each workload that is not ready. One that does not exist is drift, and not said twice. They are
// kept until a workload changes; why its pods do not start may be said a little later.
func (in *Installer) unhealthy(
	ctx context.Context, name outcome.AddonSetName, workloads []*unstructured.Unstructured,
) ([]observation.Text, error) {
	mark := in.watches.MarkOfLasting(workloadResources()...)
	if slices.ContainsFunc(workloads, manifest.BesideControlPlane) {
		mark = in.beside.mark().And(mark)
	}
	sentences := in.health[name].Read(ctx, in.clock.Now(), mark, func() observation.Observed[[]observation.Text] {
		found, err := in.readUnhealthy(ctx, workloads)
		if err != nil {
			return observation.Unknown[[]observation.Text](err.Error())
		}
		return observation.Known(found)
	})
	if sentences.IsUnknown() {
		return nil, reads.Unseen(sentences.Why())
	}
	return sentences.Value(), nil
}

func (in *Installer) readUnhealthy(ctx context.Context, workloads []*unstructured.Unstructured) ([]observation.Text, error) {
	var sentences []observation.Text
	for _, want := range workloads {
		ref := reads.RefOf(want)
		live, err := in.get(ctx, want)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, reads.Unseen(reads.Because("reading "+ref.String(), err))
		}
		result, err := status.Compute(live)
		if err != nil {
			return nil, reads.Unseen(fmt.Sprintf("computing the status of %s: %s", ref, err))
		}
		if result.Status == status.CurrentStatus {
			continue
		}
		sentence := observation.Say(ref, ": "+result.Message)
		if reasons := in.podReasons(ctx, live); len(reasons) > 0 {
			sentence.Words += " (" + strings.Join(reasons, "; ") + ")"
		}
		sentences = append(sentences, sentence)
	}
	return sentences, nil
}

// podReasons says what holds the pods of a workload up. It names no pod, so that the message stays the same from pod to
// pod; it is a hint only, and none when the pods cannot be read.
func (in *Installer) podReasons(ctx context.Context, workload *unstructured.Unstructured) []string {
	labels, found, err := unstructured.NestedStringMap(workload.Object, "spec", "selector", "matchLabels")
	if err != nil || !found {
		return nil
	}
	var reasons []string
	err = reads.List(ctx, in.readerOf(workload), func() *corev1.PodList { return &corev1.PodList{} }, func(page *corev1.PodList) {
		for i := range page.Items {
			reasons = append(reasons, reads.Keep(ctx, whatHolds(&page.Items[i]))...)
		}
		slices.Sort(reasons)
		reasons = slices.Compact(reasons)
	}, client.InNamespace(workload.GetNamespace()), client.MatchingLabels(labels))
	if err != nil {
		return nil
	}
	return reasons
}

func whatHolds(pod *corev1.Pod) (reasons []string) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			reasons = append(reasons, "not scheduled: "+condition.Message)
		}
	}
	starting := []string{"ContainerCreating", "PodInitializing"}
	for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if waiting := container.State.Waiting; waiting != nil && !slices.Contains(starting, waiting.Reason) {
			reasons = append(reasons, fmt.Sprintf("container %s: %s%s", container.Name, waiting.Reason, lastExit(container)))
		}
	}
	return reasons
}

// lastExit is what is known of a crash without its log; a count would change the message at every restart.
func lastExit(container corev1.ContainerStatus) string {
	end := container.LastTerminationState.Terminated
	if end == nil {
		return ""
	}
	return fmt.Sprintf(", last exit code %d %s", end.ExitCode, end.Reason)
}

func (in *Installer) hasNoNodes(ctx context.Context) (bool, error) {
	observed := in.nodes(ctx)
	if observed.IsUnknown() {
		return false, reads.Unseen(observed.Why())
	}
	return len(observed.Value()) == 0, nil
}

// describeOwner names an object and whoever seems to manage it.
func describeOwner(object *unstructured.Unstructured) string {
	if hints := OwnerHints(object); hints != "" {
		return reads.RefOf(object).String() + " (" + hints + ")"
	}
	return reads.RefOf(object).String()
}

// OwnerHints say who seems to manage an object; empty when nothing tells.
func OwnerHints(object metav1.Object) string {
	var hints []string
	if release := object.GetAnnotations()["meta.helm.sh/release-name"]; release != "" {
		hints = append(hints, "Helm release "+release)
	}
	if id := object.GetAnnotations()["argocd.argoproj.io/tracking-id"]; id != "" {
		hints = append(hints, "Argo CD "+id)
	}
	if name := object.GetLabels()["kustomize.toolkit.fluxcd.io/name"]; name != "" {
		hints = append(hints, "Flux Kustomization "+name)
	}
	if name := object.GetLabels()["helm.toolkit.fluxcd.io/name"]; name != "" {
		hints = append(hints, "Flux HelmRelease "+name)
	}
	if owner := metav1.GetControllerOf(object); owner != nil {
		hints = append(hints, "owned by "+owner.Kind+" "+owner.Name)
	}
	if names := fieldManagers(object); len(names) > 0 {
		hints = append(hints, "managed by "+strings.Join(names, ", "))
	}
	return strings.Join(hints, "; ")
}

// fieldManagers are those who wrote more than the status.
func fieldManagers(object metav1.Object) []string {
	var names []string
	for _, field := range object.GetManagedFields() {
		if field.Subresource == "" && field.Manager != "" {
			names = append(names, field.Manager)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
