package controlplane

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/utils/clock/testing"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func TestFormerRemembersEnds(t *testing.T) {
	g := NewWithT(t)
	clock := clienttesting.NewFakePassiveClock(startTime())
	former := NewFormer(clock)
	pod := ledgerPod(running("a"))
	former.See(pod)
	only := func() observation.Process {
		processes := former.Processes(testNamespace, kubeControllerManager)
		g.Expect(processes).To(HaveLen(1))
		return processes[0]
	}
	g.Expect(only().Ended).To(BeFalse())
	g.Expect(only().Hostname).To(Equal(pod.Name))

	clock.SetTime(startTime().Add(time.Minute))
	end := terminated("a", "Completed")
	end.State.Terminated.FinishedAt = metav1.NewTime(startTime().Add(50 * time.Second))
	setState(deleting(pod), end)
	former.See(pod)
	clock.SetTime(startTime().Add(2 * time.Minute))
	former.See(pod)
	former.Gone(pod)
	g.Expect(only().EndedAt).To(Equal(startTime().Add(time.Minute)), "when it was seen first")
	g.Expect(only().FinishedAt).To(Equal(startTime().Add(50 * time.Second)))
	g.Expect(former.Processes("another", "")).To(BeEmpty())
	g.Expect(former.Processes(testNamespace, "another")).To(BeEmpty())

	clock.SetTime(startTime().Add(2*time.Minute + forgetAfter + time.Second))
	other := ledgerPod(running("b"))
	other.UID, other.Name = "other", "other"
	former.See(other)
	g.Expect(only().PodName).To(Equal("other"), "what is gone is forgotten after an hour")
	former.Forget(testNamespace)
	g.Expect(former.Processes(testNamespace, "")).To(BeEmpty())
}

func TestFormerKeepsWhatVanished(t *testing.T) {
	g := NewWithT(t)
	ledger := NewLedger(clienttesting.NewFakePassiveClock(startTime()))
	ledger.Track(testNamespace)
	pod := ledgerPod(running("a"))
	ledger.OnAdd(pod, false)
	ledger.OnDelete(pod)
	g.Expect(ledger.Former.Processes(testNamespace, "")).To(
		HaveExactElements(HaveField("Ended", false)),
		"that a pod is gone is no end",
	)
	ledger.Untrack(testNamespace)
	g.Expect(ledger.Former.Processes(testNamespace, "")).To(BeEmpty())
}

func TestFormerIsBounded(t *testing.T) {
	g := NewWithT(t)
	clock := clienttesting.NewFakePassiveClock(startTime())
	former := NewFormer(clock)
	for i := range 2 * maxFormer {
		clock.SetTime(startTime().Add(time.Duration(i) * time.Millisecond))
		pod := ledgerPod(running("a"))
		pod.UID, pod.Name = types.UID(fmt.Sprint(i)), fmt.Sprint(i)
		for c := range 2 * maxContainers {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: fmt.Sprint(c)})
		}
		former.See(pod)
	}
	g.Expect(former.Processes(testNamespace, kubeControllerManager)).To(HaveLen(maxFormer))
	g.Expect(former.Processes(testNamespace, "")).To(HaveLen(maxFormer * maxContainers))
	g.Expect(former.pods).To(HaveKey(types.UID(fmt.Sprint(2*maxFormer - 1))))
}

func TestMerge(t *testing.T) {
	g := NewWithT(t)
	process := func(pod, container string, ended bool) observation.Process {
		return observation.Process{PodUID: pod, ContainerID: container, Ended: ended}
	}
	seen := func(p observation.Process) observation.Process {
		p.EndedAt, p.FinishedAt = startTime(), startTime()
		return p
	}
	merged, gone := Merge(
		[]observation.Process{process("a", "1", true), process("b", "2", true), process("c", "3", false)},
		[]observation.Process{
			seen(process("a", "1", true)),
			seen(process("b", "1", true)),
			seen(process("c", "3", true)),
			seen(process("d", "1", true)),
		},
	)
	g.Expect(merged).To(
		Equal([]observation.Process{seen(process("a", "1", true)), process("b", "2", true), process("c", "3", false)}),
	)
	g.Expect(gone).To(Equal([]observation.Process{seen(process("d", "1", true))}))
}

func TestHostnames(t *testing.T) {
	g := NewWithT(t)
	pod := ledgerPod(running("a"))
	g.Expect(hostnameOf(pod)).To(Equal(pod.Name))
	pod.Name = fmt.Sprintf("%063d", 0) + "tail"
	g.Expect(hostnameOf(pod)).To(HaveLen(maxHostname))
	pod.Spec.Hostname = "own"
	g.Expect(hostnameOf(pod)).To(Equal("own"))
	pod.Spec.HostNetwork = true
	g.Expect(hostnameOf(pod)).To(Equal("node-1"))
}
