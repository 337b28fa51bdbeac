package controlplane

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// statusUnknown is the reason that the kubelet gives a container that it could not find: no proof of an end.
const statusUnknown = "ContainerStatusUnknown"

// defaultGracePeriod is that of pods that do not say one.
const defaultGracePeriod = 30

// newProcess is the component's container in the pod, as its kubelet last reported it.
func newProcess(pod *corev1.Pod, container string) observation.Process {
	process := observation.Process{
		PodName: pod.Name, PodUID: string(pod.UID), NodeName: pod.Spec.NodeName,
		GracePeriodSeconds: gracePeriod(pod),
		Terminating:        pod.DeletionTimestamp != nil,
		DeletionCost:       pod.Annotations[observation.DeletionCostAnnotation],
		Hostname:           hostnameOf(pod),
		HostNetwork:        pod.Spec.HostNetwork,
		Finished:           hasFinished(pod),
		Arguments:          argumentsOf(pod.Spec.Containers, container),
	}
	if spec := containerNamed(pod.Spec.Containers, container); spec != nil {
		process.Image = spec.Image
	}
	status := statusOf(pod, container)
	if status == nil {
		// Scheduled, and the kubelet said nothing yet: it may have started the container a moment ago. A pod that failed
		// without any container status was refused by the kubelet.
		process.Started = pod.Spec.NodeName != "" && !hasFinished(pod)
		return process
	}
	process.Ready = status.Ready
	process.Image = cmp.Or(status.ImageID, process.Image)
	process.ContainerID, process.StartedAt, process.Started = current(status)
	process.Ended = endedForGood(pod, status)
	return process
}

// hostnameOf is what a process of the pod takes part in elections under: the pod's name, unless it shares that of its Node.
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/kubelet/kubelet_pods.go (GeneratePodHostNameAndDomain)
func hostnameOf(pod *corev1.Pod) string {
	switch {
	case pod.Spec.HostNetwork:
		return pod.Spec.NodeName
	case pod.Spec.Hostname != "":
		return pod.Spec.Hostname
	}
	return strings.TrimRight(pod.Name[:min(len(pod.Name), maxHostname)], "-.")
}

// maxHostname is what the kubelet cuts a pod's name down to.
const maxHostname = 63

// argumentsOf parses the arguments of the named container.
func argumentsOf(containers []corev1.Container, name string) observation.Arguments {
	container := containerNamed(containers, name)
	if container == nil {
		return observation.Arguments{Problem: fmt.Sprintf("there is no container %s; name the right one in the Cluster's spec", name)}
	}
	return ParseArguments(container)
}

func gracePeriod(pod *corev1.Pod) int64 {
	if pod.DeletionGracePeriodSeconds != nil {
		return *pod.DeletionGracePeriodSeconds
	}
	if pod.Spec.TerminationGracePeriodSeconds != nil {
		return *pod.Spec.TerminationGracePeriodSeconds
	}
	return defaultGracePeriod
}

func statusOf(pod *corev1.Pod, container string) *corev1.ContainerStatus {
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].Name == container {
			return &pod.Status.ContainerStatuses[i]
		}
	}
	return nil
}

// current is the newest container that was started, as far as the kubelet reported.
func current(status *corev1.ContainerStatus) (id string, startedAt time.Time, started bool) {
	last := lastEnd(status)
	switch {
	case status.State.Running != nil:
		return status.ContainerID, status.State.Running.StartedAt.Time, true
	case last != nil && last.ContainerID != "":
		return last.ContainerID, last.StartedAt.Time, true
	case last != nil:
		return status.ContainerID, last.StartedAt.Time, true
	}
	return status.ContainerID, time.Time{}, status.ContainerID != "" || status.RestartCount > 0
}

// lastEnd is the end of the newest container unless that runs.
func lastEnd(status *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	switch {
	case status.State.Running != nil:
		return nil
	case status.State.Terminated != nil:
		return status.State.Terminated
	}
	return status.LastTerminationState.Terminated
}

// endedForGood says that the newest container was seen to end and that its kubelet will not start another one in this
// pod: one that crashed in a pod that stays comes back a moment later, with the same arguments.
func endedForGood(pod *corev1.Pod, status *corev1.ContainerStatus) bool {
	end := lastEnd(status)
	if end == nil || end.ContainerID == "" || end.Reason == statusUnknown {
		return false
	}
	// A container that waits between crashes is started again by a kubelet that did not see the deletion.
	return hasFinished(pod) || (pod.DeletionTimestamp != nil && status.State.Terminated != nil)
}

// hasFinished says that no container of the pod will be started again.
func hasFinished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// ProcessesOf are those of all containers of a pod, whatever their names are.
func ProcessesOf(pod *corev1.Pod) []observation.Process {
	processes := make([]observation.Process, 0, len(pod.Spec.Containers))
	for i := range pod.Spec.Containers {
		processes = append(processes, newProcess(pod, pod.Spec.Containers[i].Name))
	}
	return processes
}
