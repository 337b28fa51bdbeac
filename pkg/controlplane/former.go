package controlplane

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// What is remembered of one namespace at most: a user cluster may have any number of pods.
const (
	maxFormer     = 256
	maxContainers = 8
)

// Former remembers the processes that a watch of pods shows, those that go on included, and when it first showed their ends. It
// is kept in memory only: the Lease of a holder that ended while we were away runs out by itself.
type Former struct {
	clock clock.PassiveClock

	mu   sync.Mutex
	pods map[types.UID]formerPod
}

type formerPod struct {
	namespace string
	seenAt    time.Time
	gone      bool
	// processes by the name of their container: a kubelet starts one when the one before has ended.
	processes map[string]observation.Process
}

// NewFormer returns an empty Former.
func NewFormer(clock clock.PassiveClock) *Former {
	return &Former{clock: clock, pods: map[types.UID]formerPod{}}
}

// See notes the processes of a pod.
func (f *Former) See(pod *corev1.Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock.Now()
	entry, known := f.pods[pod.UID]
	if !known {
		f.forget(pod.Namespace, now)
		entry = formerPod{namespace: pod.Namespace, processes: map[string]observation.Process{}}
	}
	entry.seenAt = now
	for i := range pod.Status.ContainerStatuses[:min(len(pod.Status.ContainerStatuses), maxContainers)] {
		status := &pod.Status.ContainerStatuses[i]
		process := newProcess(pod, status.Name)
		process.Arguments = observation.Arguments{}
		if process.Ended {
			process.EndedAt, process.FinishedAt = now, lastEnd(status).FinishedAt.Time
		}
		if before := entry.processes[status.Name]; process.Ended && before.Ended && before.ContainerID == process.ContainerID {
			process.EndedAt = before.EndedAt
		}
		entry.processes[status.Name] = process
	}
	f.pods[pod.UID] = entry
}

// Gone notes that the pod's object is deleted, which says nothing about its processes.
func (f *Former) Gone(pod *corev1.Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if entry, known := f.pods[pod.UID]; known {
		entry.gone, entry.seenAt = true, f.clock.Now()
		f.pods[pod.UID] = entry
	}
}

// forget drops what is gone for long, and of too many pods the one that was seen last the longest ago.
func (f *Former) forget(namespace string, now time.Time) {
	maps.DeleteFunc(f.pods, func(_ types.UID, pod formerPod) bool { return pod.gone && now.Sub(pod.seenAt) > forgetAfter })
	oldest, count := types.UID(""), 0
	for uid, pod := range f.pods {
		if pod.namespace != namespace {
			continue
		}
		count++
		if oldest == "" || pod.seenAt.Before(f.pods[oldest].seenAt) {
			oldest = uid
		}
	}
	if count >= maxFormer {
		delete(f.pods, oldest)
	}
}

// Forget drops a namespace.
func (f *Former) Forget(namespace string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.pods, func(_ types.UID, pod formerPod) bool { return pod.namespace == namespace })
}

// Processes are those that were seen in a namespace, sorted. An empty container stands for all.
func (f *Former) Processes(namespace, container string) []observation.Process {
	f.mu.Lock()
	defer f.mu.Unlock()
	var processes []observation.Process
	for _, pod := range f.pods {
		for name, process := range pod.processes {
			if pod.namespace == namespace && (container == "" || name == container) {
				processes = append(processes, process)
			}
		}
	}
	slices.SortFunc(processes, func(a, b observation.Process) int {
		return strings.Compare(a.PodName+" "+a.PodUID+" "+a.ContainerID, b.PodName+" "+b.PodUID+" "+b.ContainerID)
	})
	return processes
}

// Merge has the ends that a watch showed in the processes that were listed, and tells those whose pods are not listed any more.
func Merge(listed, former []observation.Process) (merged, gone []observation.Process) {
	merged = slices.Clone(listed)
	for _, process := range former {
		there := false
		for i := range merged {
			there = there || merged[i].PodUID == process.PodUID
			if merged[i].PodUID == process.PodUID && merged[i].ContainerID == process.ContainerID && merged[i].Ended {
				merged[i].EndedAt, merged[i].FinishedAt = process.EndedAt, process.FinishedAt
			}
		}
		if !there {
			gone = append(gone, process)
		}
	}
	return merged, gone
}
