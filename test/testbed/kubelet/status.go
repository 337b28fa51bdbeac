package kubelet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// LogFile is where a container's output goes.
func (k *Kubelet) LogFile(namespace, pod, container string) string {
	return filepath.Join(k.options.RunDir, "logs", k.options.Cluster, namespace+"_"+pod+"_"+container+".log")
}

// publish writes the Pod's status when it changed, or when someone else made the
// API say something different about readiness.
func (w *worker) publish(ctx context.Context, pod *corev1.Pod) error {
	status := w.render(pod, metav1.Now())
	agreed := time.Since(w.writtenAt) < resync ||
		conditionStatus(pod.Status, corev1.PodReady) == conditionStatus(status, corev1.PodReady)
	if agreed && equality.Semantic.DeepEqual(status, w.written) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
	if err != nil {
		return fmt.Errorf("encode status of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	_, err = w.kubelet.client.CoreV1().Pods(pod.Namespace).
		Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	// A Pod that is gone, or another of its name, has no use for the status.
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("patch status of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	w.written, w.writtenAt = status, time.Now()
	return nil
}

// remove deletes the Pod from the API for good.
func (w *worker) remove(ctx context.Context, pod *corev1.Pod) error {
	err := w.kubelet.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To[int64](0), Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// render is the Pod's status as this kubelet knows it.
func (w *worker) render(pod *corev1.Pod, now metav1.Time) corev1.PodStatus {
	status := corev1.PodStatus{Phase: w.phase(pod)}
	// A patch merges the list by address: another address of the Node would become a second one, which the API server refuses.
	status.HostIP = cmp.Or(w.written.HostIP, w.kubelet.hostIP(pod.Spec.NodeName))
	status.HostIPs = []corev1.HostIP{{IP: status.HostIP}}
	if w.ip != "" {
		status.PodIP, status.PodIPs = w.ip, []corev1.PodIP{{IP: w.ip}}
		status.StartTime = w.startTime.DeepCopy()
	}
	for _, c := range w.inits {
		status.InitContainerStatuses = append(status.InitContainerStatuses, c.status(w.waiting()))
	}
	for _, c := range w.mains {
		status.ContainerStatuses = append(status.ContainerStatuses, c.status(w.waiting()))
	}
	status.Conditions = w.conditions(pod, status.Phase)
	for i := range status.Conditions {
		keepTransition(&status.Conditions[i], w.written.Conditions, now)
	}
	return status
}

// waiting says why containers that never started have not.
func (w *worker) waiting() corev1.ContainerStateWaiting {
	if len(w.inits) > 0 && !w.initialized() {
		return corev1.ContainerStateWaiting{Reason: "PodInitializing", Message: w.problem}
	}
	return corev1.ContainerStateWaiting{Reason: "ContainerCreating", Message: w.problem}
}

func (c *container) status(waiting corev1.ContainerStateWaiting) corev1.ContainerStatus {
	state := *c.state.DeepCopy()
	if state == (corev1.ContainerState{}) {
		state.Waiting = &waiting
	}
	status := corev1.ContainerStatus{
		Name: c.spec.Name, Image: c.spec.Image, ContainerID: c.id,
		State: state, LastTerminationState: *c.last.DeepCopy(),
		Ready: c.ready(), Started: new(c.started()), RestartCount: c.restarts,
	}
	if c.id != "" {
		status.ImageID = containerIDPrefix + "image/" + c.spec.Image
	}
	return status
}

func (w *worker) initialized() bool {
	return !slices.ContainsFunc(w.inits, func(c *container) bool { return !c.succeeded() })
}

// phase follows the real kubelet: a Pod that is being deleted ends, too, in
// Succeeded or Failed before the API forgets it.
func (w *worker) phase(pod *corev1.Pod) corev1.PodPhase {
	policy := pod.Spec.RestartPolicy
	if pod.DeletionTimestamp != nil {
		policy = corev1.RestartPolicyNever
	}
	if !w.initialized() {
		if slices.ContainsFunc(w.inits, func(c *container) bool { return c.failed(policy) }) {
			return corev1.PodFailed
		}
		return corev1.PodPending
	}
	phase := corev1.PodSucceeded
	for _, c := range w.mains {
		switch {
		case c.id == "" && pod.DeletionTimestamp == nil:
			return corev1.PodPending
		case c.running(), c.restartable(policy):
			return corev1.PodRunning
		case !c.succeeded():
			phase = corev1.PodFailed
		}
	}
	return phase
}

func (w *worker) conditions(pod *corev1.Pod, phase corev1.PodPhase) []corev1.PodCondition {
	conditions := []corev1.PodCondition{
		condition("PodReadyToStartContainers", w.prepared, "", ""),
		condition(
			corev1.PodInitialized,
			w.initialized(),
			"ContainersNotInitialized",
			"containers with incomplete status: "+names(w.inits),
		),
	}
	if conditionStatus(pod.Status, corev1.PodScheduled) == "" {
		conditions = append(conditions, condition(corev1.PodScheduled, true, "", ""))
	}
	unready := names(w.mains)
	reason, message := "ContainersNotReady", "containers with unready status: "+unready
	if phase == corev1.PodSucceeded {
		reason, message = "PodCompleted", ""
	}
	ready := condition(corev1.ContainersReady, unready == "", reason, message)
	conditions = append(conditions, ready)
	for _, gate := range pod.Spec.ReadinessGates {
		if unready == "" && conditionStatus(pod.Status, gate.ConditionType) != corev1.ConditionTrue {
			ready = condition(
				corev1.PodReady,
				false,
				"ReadinessGatesNotReady",
				fmt.Sprintf("readiness gate %s is not true", gate.ConditionType),
			)
		}
	}
	ready.Type = corev1.PodReady
	return append(conditions, ready)
}

// names lists the containers that are not ready.
func names(containers []*container) string {
	var unready []string
	for _, c := range containers {
		if !c.ready() {
			unready = append(unready, c.spec.Name)
		}
	}
	return strings.Join(unready, ", ")
}

// condition has a reason only when it is false.
func condition(kind corev1.PodConditionType, met bool, reason, message string) corev1.PodCondition {
	if met {
		return corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue}
	}
	return corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, Reason: reason, Message: message}
}

// keepTransition dates a condition by its last change of status.
func keepTransition(c *corev1.PodCondition, before []corev1.PodCondition, now metav1.Time) {
	c.LastTransitionTime = now
	for _, old := range before {
		if old.Type == c.Type && old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
	}
}

func conditionStatus(status corev1.PodStatus, kind corev1.PodConditionType) corev1.ConditionStatus {
	for _, c := range status.Conditions {
		if c.Type == kind {
			return c.Status
		}
	}
	return ""
}
