package addons

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// unhealthy is one sentence for each workload that is not ready. One that does not exist is drift, and not said twice. Each is
// kept until that workload changes; why its pods do not start may be said a little later.
func (in *Installer) unhealthy(ctx context.Context, workloads []*unstructured.Unstructured) ([]observation.Text, error) {
	var sentences []observation.Text
	for _, want := range workloads {
		seen := in.healthOf(want).Read(ctx, in.clock.Now(), in.markOf(want), func() observation.Observed[observation.Text] {
			return in.readHealth(ctx, want)
		})
		if seen.IsUnknown() {
			return nil, reads.Unseen(seen.Why())
		}
		if sentence := seen.Value(); sentence.Words != "" {
			sentences = append(sentences, sentence)
		}
	}
	return sentences, nil
}

// healthOf is what is kept of the health of a workload: a sentence while it is not ready.
func (in *Installer) healthOf(workload *unstructured.Unstructured) *kept.Value[observation.Text] {
	in.mu.Lock()
	defer in.mu.Unlock()
	ref := reads.RefOf(workload)
	if in.health[ref] == nil {
		in.health[ref] = &kept.Value[observation.Text]{}
	}
	return in.health[ref]
}

func (in *Installer) markOf(workload *unstructured.Unstructured) kept.Mark {
	if manifest.BesideControlPlane(workload) {
		return in.beside.mark()
	}
	resource, _ := meta.UnsafeGuessKindToResource(workload.GroupVersionKind())
	return in.watches.MarkOfLastingObject(resource, client.ObjectKeyFromObject(workload))
}

func (in *Installer) readHealth(ctx context.Context, want *unstructured.Unstructured) observation.Observed[observation.Text] {
	live, err := in.get(ctx, want)
	switch {
	case apierrors.IsNotFound(err):
		return observation.Absent[observation.Text]()
	case err != nil:
		return observation.Unknown[observation.Text](reads.Because("reading "+reads.RefOf(want).String(), err))
	}
	return in.judgeHealth(ctx, live)
}

func (in *Installer) judgeHealth(ctx context.Context, live *unstructured.Unstructured) observation.Observed[observation.Text] {
	ref := reads.RefOf(live)
	ref.UID = ""
	result, err := status.Compute(live)
	switch {
	case err != nil:
		return observation.Unknown[observation.Text](fmt.Sprintf("computing the status of %s: %s", ref, err))
	case result.Status == status.CurrentStatus:
		return observation.Absent[observation.Text]()
	}
	sentence := observation.Say(ref, ": "+result.Message)
	if reasons := in.podReasons(ctx, live); len(reasons) > 0 {
		sentence.Words += " (" + strings.Join(reasons, "; ") + ")"
	}
	return observation.Known(sentence)
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
