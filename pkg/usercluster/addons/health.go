package addons

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/ownership"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

// health of the workloads. What is known of one is kept until it changes.
type health struct {
	*places

	clock   clock.PassiveClock
	watches *watches.Watches

	mu    sync.Mutex
	known map[observation.Ref]*kept.Value[observation.Text]
}

// unhealthy is one sentence for each workload that is not ready. One that does not exist is drift, and not said twice. Each is
// kept until that workload changes; why its pods do not start may be said a little later.
func (h *health) unhealthy(ctx context.Context, workloads []*unstructured.Unstructured) ([]observation.Text, error) {
	var sentences []observation.Text
	for _, want := range workloads {
		seen := h.of(want).Read(ctx, h.clock.Now(), h.markOf(want), func() observation.Observed[observation.Text] {
			return h.read(ctx, want)
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

// of is what is kept of the health of a workload: a sentence while it is not ready.
func (h *health) of(workload *unstructured.Unstructured) *kept.Value[observation.Text] {
	h.mu.Lock()
	defer h.mu.Unlock()
	ref := reads.RefOf(workload)
	if h.known[ref] == nil {
		h.known[ref] = &kept.Value[observation.Text]{}
	}
	return h.known[ref]
}

func (h *health) markOf(workload *unstructured.Unstructured) kept.Mark {
	if manifest.BesideControlPlane(workload) {
		return h.beside.mark()
	}
	resource, _ := meta.UnsafeGuessKindToResource(workload.GroupVersionKind())
	return h.watches.MarkOfLastingObject(resource, client.ObjectKeyFromObject(workload))
}

func (h *health) read(ctx context.Context, want *unstructured.Unstructured) observation.Observed[observation.Text] {
	live, err := h.get(ctx, want)
	switch {
	case apierrors.IsNotFound(err):
		return observation.Absent[observation.Text]()
	case err != nil:
		return observation.Unknown[observation.Text](reads.Because("reading "+reads.RefOf(want).String(), err))
	}
	return h.judge(ctx, live)
}

func (h *health) judge(ctx context.Context, live *unstructured.Unstructured) observation.Observed[observation.Text] {
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
	if reasons := h.podReasons(ctx, live); len(reasons) > 0 {
		sentence.Words += " (" + strings.Join(reasons, "; ") + ")"
	}
	return observation.Known(sentence)
}

// podReasons says what holds the pods of a workload up. It names no pod, so that the message stays the same from pod to
// pod; it is a hint only, and none when the pods cannot be read.
func (h *health) podReasons(ctx context.Context, workload *unstructured.Unstructured) []string {
	labels, found, err := unstructured.NestedStringMap(workload.Object, "spec", "selector", "matchLabels")
	if err != nil || !found {
		return nil
	}
	var reasons []string
	err = reads.List(ctx, h.readerOf(workload), func() *corev1.PodList { return &corev1.PodList{} }, func(page *corev1.PodList) {
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

// describeOwner names an object and whoever seems to manage it.
func describeOwner(object *unstructured.Unstructured) string {
	if hints := ownership.Hints(object); hints != "" {
		return reads.RefOf(object).String() + " (" + hints + ")"
	}
	return reads.RefOf(object).String()
}
