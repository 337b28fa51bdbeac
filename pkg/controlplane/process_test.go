package controlplane

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// reported is a process as its pod shows it.
type reported struct {
	change func(pod *corev1.Pod)
	want   observation.Process
}

func (r reported) run(t *testing.T) {
	g := NewWithT(t)
	pod := testPod(testSet(testDeployment(kubeControllerManager, "--v=2"), "1"), "a")
	pod.Spec.TerminationGracePeriodSeconds = new(int64(45))
	setState(pod, running("a"))
	r.change(pod)
	want := r.want
	want.PodName, want.PodUID, want.NodeName = pod.Name, string(pod.UID), pod.Spec.NodeName
	want.Hostname, want.Image = pod.Name, pod.Spec.Containers[0].Image
	want.Arguments = observation.Arguments{Flags: map[string]string{"v": "2"}}
	if want.GracePeriodSeconds == 0 {
		want.GracePeriodSeconds = 45
	}
	g.Expect(newProcess(pod, kubeControllerManager)).To(Equal(want))
}

func crashed() corev1.ContainerStatus {
	return corev1.ContainerStatus{
		ContainerID: "a", RestartCount: 1,
		State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: terminated("a", "Error").State,
	}
}

func restarted() corev1.ContainerStatus {
	status := running("b")
	status.LastTerminationState = terminated("a", "Error").State
	return status
}

func TestNewProcessReadsEnds(t *testing.T) {
	runAll(t, map[string]reported{
		"a running container": {
			change: func(*corev1.Pod) {},
			want:   observation.Process{ContainerID: "a", StartedAt: startTime(), Started: true, Ready: true},
		},
		"a running container of a terminating pod goes on": {
			change: func(pod *corev1.Pod) { deleting(pod).DeletionGracePeriodSeconds = new(int64(90)) },
			want: observation.Process{
				ContainerID: "a", StartedAt: startTime(), Started: true, Ready: true, Terminating: true, GracePeriodSeconds: 90,
			},
		},
		"a terminated container of a terminating pod has ended": {
			change: func(pod *corev1.Pod) { setState(deleting(pod), terminated("a", "Completed")) },
			want:   observation.Process{ContainerID: "a", Started: true, Ended: true, Terminating: true},
		},
		"a terminated container of a failed pod has ended": {
			change: func(pod *corev1.Pod) { setState(pod, terminated("a", "Error")); pod.Status.Phase = corev1.PodFailed },
			want:   observation.Process{ContainerID: "a", Started: true, Ended: true, Finished: true},
		},
		"a terminated container of a pod that stays is started again": {
			change: func(pod *corev1.Pod) { setState(pod, terminated("a", "Error")) },
			want:   observation.Process{ContainerID: "a", Started: true},
		},
		"a container that the kubelet could not find proves nothing": {
			change: func(pod *corev1.Pod) { setState(deleting(pod), terminated("a", statusUnknown)) },
			want:   observation.Process{ContainerID: "a", Started: true, Terminating: true},
		},
		"an end without container ID proves nothing": {
			change: func(pod *corev1.Pod) { setState(deleting(pod), terminated("", "Error")) },
			want:   observation.Process{Started: true, Terminating: true},
		},
		"a crashed container that waits is started again": {
			change: func(pod *corev1.Pod) { setState(pod, crashed()) },
			want:   observation.Process{ContainerID: "a", Started: true},
		},
		"a crashed container that waits in a terminating pod may be started by a kubelet that did not hear of the deletion": {
			change: func(pod *corev1.Pod) { setState(deleting(pod), crashed()) },
			want:   observation.Process{ContainerID: "a", Started: true, Terminating: true},
		},
		"of a restarted container the new one counts": {
			change: func(pod *corev1.Pod) { setState(deleting(pod), restarted()) },
			want:   observation.Process{ContainerID: "b", StartedAt: startTime(), Started: true, Ready: true, Terminating: true},
		},
	})
}

func TestNewProcessReadsStarts(t *testing.T) {
	runAll(t, map[string]reported{
		"a container that waits for its image never started": {
			change: func(pod *corev1.Pod) {
				setState(pod, corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}})
			},
			want: observation.Process{},
		},
		"a pod without a node never started": {
			change: func(pod *corev1.Pod) { pod.Status.ContainerStatuses, pod.Spec.NodeName = nil, "" },
			want:   observation.Process{},
		},
		"a scheduled pod without any status may have started": {
			change: func(pod *corev1.Pod) { pod.Status.ContainerStatuses = nil },
			want:   observation.Process{Started: true},
		},
		"a pod that its kubelet refused never started": {
			change: func(pod *corev1.Pod) { pod.Status.ContainerStatuses, pod.Status.Phase = nil, corev1.PodFailed },
			want:   observation.Process{Finished: true},
		},
	})
}

func TestNewProcessOfAPodWithoutTheContainerIsNotUnderstood(t *testing.T) {
	g := NewWithT(t)
	pod := testPod(testSet(testDeployment(kubeControllerManager, "--v=2"), "1"), "a")
	process := newProcess(pod, "another")
	g.Expect(process.Arguments.Problem).To(ContainSubstring("there is no container another"))
	g.Expect(process.Started).To(BeTrue())
	g.Expect(process.GracePeriodSeconds).To(Equal(int64(30)))
}

func TestTheImageIsWhatTheKubeletSays(t *testing.T) {
	g := NewWithT(t)
	pod := testPod(testSet(testDeployment(kubeControllerManager, "--v=2"), "1"), "a")
	pod.Spec.Containers[0].Image = "kcm:latest"
	g.Expect(newProcess(pod, kubeControllerManager).Image).To(Equal("kcm:latest"), "nothing has started yet")
	state := running("a")
	state.ImageID = "kcm@sha256:1"
	setState(pod, state)
	g.Expect(newProcess(pod, kubeControllerManager).Image).To(Equal("kcm@sha256:1"), "a tag may name another image by now")
}
