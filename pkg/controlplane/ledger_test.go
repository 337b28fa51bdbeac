package controlplane

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	clienttesting "k8s.io/utils/clock/testing"
)

func ledgerPod(status corev1.ContainerStatus) *corev1.Pod {
	pod := testPod(testSet(testDeployment(kubeControllerManager, "--v=2"), "1"), "a")
	setState(pod, status)
	return pod
}

// watched is what the Ledger makes of a container after some events.
type watched struct {
	events    func(l *Ledger)
	container string
	ended     bool
}

func (w watched) run(t *testing.T) {
	g := NewWithT(t)
	ledger := NewLedger(clienttesting.NewFakePassiveClock(startTime()))
	ledger.Track(testNamespace)
	w.events(ledger)
	at, why, ok := ledger.Ended("kube-controller-manager-1-a", w.container)
	g.Expect(ok).To(Equal(w.ended))
	if w.ended {
		g.Expect(at).To(Equal(startTime()))
		g.Expect(why).To(ContainSubstring("kube-controller-manager-1-a"))
	}
}

func TestLedgerReadsUpdates(t *testing.T) {
	end := deleting(ledgerPod(terminated("a", "Completed")))
	elsewhere := end.DeepCopy()
	elsewhere.Namespace = "another"
	two := end.DeepCopy()
	two.Status.ContainerStatuses = append(two.Status.ContainerStatuses, running("b"))
	runAll(t, map[string]watched{
		"an end in a terminating pod that is gone afterwards": {
			events: func(l *Ledger) { l.OnUpdate(nil, end); l.OnDelete(end) }, container: "a", ended: true,
		},
		"an end that was there when the watch began": {
			events: func(l *Ledger) { l.OnAdd(end, true) }, container: "a", ended: true,
		},
		"an end in a pod that stays is not for good": {
			events: func(l *Ledger) { l.OnUpdate(nil, ledgerPod(terminated("a", "Error"))) }, container: "a",
		},
		"a container of the same pod that runs now takes the end back": {
			events: func(l *Ledger) { l.OnUpdate(nil, end); l.OnUpdate(nil, deleting(ledgerPod(running("b")))) }, container: "a",
		},
		"the end of another container": {
			events: func(l *Ledger) { l.OnUpdate(nil, end) }, container: "b",
		},
		"a container that the kubelet could not find": {
			events: func(l *Ledger) { l.OnUpdate(nil, deleting(ledgerPod(terminated("a", statusUnknown)))) }, container: "a",
		},
		"the end of all containers of a pod that was recorded before it had one": {
			events: func(l *Ledger) { l.OnUpdate(nil, end); l.OnDelete(end) }, container: "", ended: true,
		},
		"the end of one of two containers of such a pod": {
			events: func(l *Ledger) { l.OnUpdate(nil, two) }, container: "",
		},
		"a namespace that is not tracked": {
			events: func(l *Ledger) { l.OnUpdate(nil, elsewhere) }, container: "a",
		},
		"a namespace that is not tracked any more": {
			events: func(l *Ledger) { l.OnUpdate(nil, end); l.Untrack(testNamespace); l.Track(testNamespace) }, container: "a",
		},
		"something that is no pod": {
			events: func(l *Ledger) { l.OnAdd(1, false); l.OnUpdate(1, 2); l.OnDelete(3) }, container: "a",
		},
	})
}

func TestLedgerReadsDeletions(t *testing.T) {
	finished := ledgerPod(terminated("a", "Error"))
	finished.Status.Phase = corev1.PodFailed
	unbound := ledgerPod(corev1.ContainerStatus{})
	unbound.Spec.NodeName = ""
	end := deleting(ledgerPod(terminated("a", "Completed")))
	runAll(t, map[string]watched{
		"a running container whose pod was deleted by force": {
			events: func(l *Ledger) { l.OnDelete(deleting(ledgerPod(running("a")))) }, container: "a",
		},
		"a crashed container whose pod was deleted by force a moment later may have been restarted": {
			events: func(l *Ledger) { l.OnUpdate(nil, ledgerPod(terminated("a", "Error"))); l.OnDelete(end) }, container: "a",
		},
		"a deleted pod that was finished": {
			events: func(l *Ledger) { l.OnDelete(finished) }, container: "a", ended: true,
		},
		"a missed deletion whose last state shows a running container": {
			events: func(l *Ledger) {
				l.OnDelete(toolscache.DeletedFinalStateUnknown{Obj: deleting(ledgerPod(running("a")))})
			},
			container: "a",
		},
		"a missed deletion whose last state shows the end": {
			events: func(l *Ledger) { l.OnDelete(toolscache.DeletedFinalStateUnknown{Obj: end}) }, container: "a", ended: true,
		},
		"a pod that was deleted before it had a node": {
			events: func(l *Ledger) { l.OnDelete(unbound) }, container: "", ended: true,
		},
		"a missed deletion of a pod that had no node when it was seen last": {
			events: func(l *Ledger) { l.OnDelete(toolscache.DeletedFinalStateUnknown{Obj: unbound}) }, container: "",
		},
	})
}

func TestLedgerKeepsTheFirstSightAndForgetsAfterAnHour(t *testing.T) {
	g, clock := NewWithT(t), clienttesting.NewFakePassiveClock(startTime())
	ledger, pod := NewLedger(clock), deleting(ledgerPod(terminated("a", "Completed")))
	ledger.Track(testNamespace)
	ledger.OnUpdate(nil, pod)
	clock.SetTime(startTime().Add(time.Minute))
	ledger.OnUpdate(nil, pod)
	at, _, ok := ledger.Ended(string(pod.UID), "a")
	g.Expect(ok).To(BeTrue())
	g.Expect(at).To(Equal(startTime()))

	clock.SetTime(startTime().Add(2*time.Minute + time.Hour))
	_, _, ok = ledger.Ended(string(pod.UID), "a")
	g.Expect(ok).To(BeFalse())
	g.Expect(ledger.pods).To(BeEmpty())
}

func TestTransformPodKeepsWhatTheLedgerReads(t *testing.T) {
	g := NewWithT(t)
	pod := deleting(ledgerPod(terminated("a", "Completed")))
	pod.ResourceVersion = "7"
	object, err := TransformPod(pod)
	g.Expect(err).NotTo(HaveOccurred())
	cut := object.(*corev1.Pod)
	g.Expect(cut.Spec.Containers).To(BeEmpty())
	g.Expect(cut.ResourceVersion).To(Equal("7"))
	g.Expect(cut.Spec.NodeName).To(Equal("node-1"))
	g.Expect(cut.UID).To(Equal(pod.UID))
	g.Expect(endsIn(cut)).To(Equal(endsIn(pod)))

	object, err = TransformPod(toolscache.DeletedFinalStateUnknown{Key: "a"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(object).To(Equal(toolscache.DeletedFinalStateUnknown{Key: "a"}))
}
