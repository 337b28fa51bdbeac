package controlplane

import (
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// Ledger remembers which containers a watch saw end, also when the pod was gone before anybody looked. It is a
// ResourceEventHandler for the management cluster's pod informer, for which TransformPod is the transform. It keeps
// nothing about namespaces that it was not told to track, and nothing for longer than an hour after a pod's last event.
type Ledger struct {
	clock clock.PassiveClock
	// Former remembers whose ends they are.
	Former *Former

	mu         sync.Mutex
	namespaces map[string]bool
	pods       map[types.UID]podEnds
}

var _ toolscache.ResourceEventHandler = (*Ledger)(nil)

// podEnds are the ends seen in one pod, by container ID; the empty ID stands for all containers that the pod ever had.
type podEnds struct {
	namespace string
	seenAt    time.Time
	ends      map[string]end
}

type end struct {
	at  time.Time
	why string
}

// NewLedger returns an empty Ledger.
func NewLedger(clock clock.PassiveClock) *Ledger {
	return &Ledger{clock: clock, Former: NewFormer(clock), namespaces: map[string]bool{}, pods: map[types.UID]podEnds{}}
}

// Track begins to remember ends in a namespace; doing it again changes nothing.
func (l *Ledger) Track(namespace string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.namespaces[namespace] = true
}

// Untrack forgets a namespace that no Cluster is read in any more. The proofs of one that comes there meanwhile fall back to the
// slower evidence of the node's Lease.
func (l *Ledger) Untrack(namespace string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.namespaces, namespace)
	for uid, pod := range l.pods {
		if pod.namespace == namespace {
			delete(l.pods, uid)
		}
	}
	l.Former.Forget(namespace)
}

// OnAdd implements ResourceEventHandler.
func (l *Ledger) OnAdd(obj any, _ bool) {
	if pod, ok := obj.(*corev1.Pod); ok {
		l.observe(pod, endsIn(pod))
	}
}

// OnUpdate implements ResourceEventHandler.
func (l *Ledger) OnUpdate(_, obj any) {
	if pod, ok := obj.(*corev1.Pod); ok {
		l.observe(pod, endsIn(pod))
	}
}

// OnDelete implements ResourceEventHandler. That a pod is gone proves nothing about its containers. A kubelet reports
// the end in an update before it lets the pod go, so only what updates showed counts, and what the last state shows
// beyond doubt: a finished pod, or one that never had a node. A last state that was missed does not even show that.
func (l *Ledger) OnDelete(obj any) {
	if unknown, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		l.OnAdd(unknown.Obj, false)
		if pod, ok := unknown.Obj.(*corev1.Pod); ok {
			l.Former.Gone(pod)
		}
		return
	}
	pod, ok := obj.(*corev1.Pod)
	if ok {
		defer l.Former.Gone(pod)
	}
	switch {
	case !ok:
	case pod.Spec.NodeName == "":
		l.observe(pod, map[string]string{"": fmt.Sprintf("Pod %s was deleted before it had a node", pod.Name)})
	case hasFinished(pod):
		l.observe(pod, endsIn(pod))
	}
}

// endsIn are the containers that the pod's status shows as ended for good, and why.
func endsIn(pod *corev1.Pod) map[string]string {
	ends := map[string]string{}
	for i := range pod.Status.ContainerStatuses {
		if status := &pod.Status.ContainerStatuses[i]; endedForGood(pod, status) {
			ends[lastEnd(status).ContainerID] = fmt.Sprintf("a watch saw container %s of Pod %s terminated", status.Name, pod.Name)
		}
	}
	// A kubelet reports all containers of a pod together.
	if len(ends) > 0 && len(ends) == len(pod.Status.ContainerStatuses) {
		ends[""] = fmt.Sprintf("a watch saw every container of Pod %s terminated", pod.Name)
	}
	return ends
}

// observe replaces what is remembered of the pod: an end that its status does not show any more was not the last.
func (l *Ledger) observe(pod *corev1.Pod, ends map[string]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.namespaces[pod.Namespace] {
		return
	}
	now := l.clock.Now()
	l.forget(now)
	l.Former.See(pod)
	former := l.pods[pod.UID]
	delete(l.pods, pod.UID)
	if len(ends) == 0 {
		return
	}
	entry := podEnds{namespace: pod.Namespace, seenAt: now, ends: map[string]end{}}
	for id, why := range ends {
		entry.ends[id] = end{at: now, why: why}
		if before, known := former.ends[id]; known {
			entry.ends[id] = before
		}
	}
	l.pods[pod.UID] = entry
}

func (l *Ledger) forget(now time.Time) {
	for uid, pod := range l.pods {
		if now.Sub(pod.seenAt) > forgetAfter {
			delete(l.pods, uid)
		}
	}
}

// Ended says when a watch first saw the container ended for good, and how that was seen. An empty container ID is that
// of a pod which was recorded before it had a container: it asks for all that the pod ever had, which may be none.
func (l *Ledger) Ended(podUID, containerID string) (at time.Time, why string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(l.clock.Now())
	seen, ok := l.pods[types.UID(podUID)].ends[containerID]
	return seen.at, seen.why, ok
}
