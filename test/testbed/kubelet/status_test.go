package kubelet

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// at is a moment so many seconds after noon.
func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// testWorker looks after a Pod with one init container and one main container.
func testWorker(policy corev1.RestartPolicy) *worker {
	nodes := corelisters.NewNodeLister(cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}))
	k := &Kubelet{options: Options{Cluster: "east"}, addresses: newAddresses(2), nodes: nodes}
	return newWorker(k, &corev1.Pod{Spec: corev1.PodSpec{
		RestartPolicy:  policy,
		InitContainers: []corev1.Container{{Name: "init", Image: "init:1"}},
		Containers:     []corev1.Container{{Name: "main", Image: "main:1"}},
	}})
}

func TestRender(t *testing.T) {
	initDone := func(w *worker) { w.inits[0].begin(at(0)); w.inits[0].end(0, at(1)) }
	runs := func(w *worker) { initDone(w); w.mains[0].begin(at(2)) }
	ended := func(code int) func(*worker) { return func(w *worker) { runs(w); w.mains[0].end(code, at(3)) } }
	deleted := func(then func(*worker)) func(*worker) {
		return func(w *worker) { then(w); w.pod.DeletionTimestamp = &metav1.Time{Time: noon} }
	}
	tests := map[string]struct {
		policy corev1.RestartPolicy
		given  func(*worker)
		phase  corev1.PodPhase
		state  string
		ready  bool
	}{
		"before anything starts the pod is pending":               {given: func(*worker) {}, phase: corev1.PodPending, state: "PodInitializing"},
		"while an init container runs the pod is pending":         {given: func(w *worker) { w.inits[0].begin(at(0)) }, phase: corev1.PodPending, state: "PodInitializing"},
		"after the init containers the others are created":        {given: initDone, phase: corev1.PodPending, state: "ContainerCreating"},
		"a pod whose container runs is ready":                     {given: runs, phase: corev1.PodRunning, state: "running", ready: true},
		"a pod whose container will restart goes on running":      {given: ended(0), phase: corev1.PodRunning, state: "Completed"},
		"so does one whose container waits for its restart":       {given: func(w *worker) { ended(3)(w); w.mains[0].hold("CrashLoopBackOff", "") }, phase: corev1.PodRunning, state: "CrashLoopBackOff"},
		"a pod that need not restart has succeeded":               {policy: corev1.RestartPolicyOnFailure, given: ended(0), phase: corev1.PodSucceeded, state: "Completed"},
		"a pod that tries again has not failed":                   {policy: corev1.RestartPolicyOnFailure, given: ended(3), phase: corev1.PodRunning, state: "Error"},
		"a pod that never restarts has failed":                    {policy: corev1.RestartPolicyNever, given: ended(137), phase: corev1.PodFailed, state: "Error"},
		"a pod that is being deleted stays ready until it ends":   {given: deleted(runs), phase: corev1.PodRunning, state: "running", ready: true},
		"a deleted pod that ended well has succeeded":             {given: deleted(ended(0)), phase: corev1.PodSucceeded, state: "Completed"},
		"a deleted pod that was killed has failed":                {given: deleted(ended(137)), phase: corev1.PodFailed, state: "Error"},
		"a failed init container fails a pod that never restarts": {policy: corev1.RestartPolicyNever, given: func(w *worker) { w.inits[0].begin(at(0)); w.inits[0].end(1, at(1)) }, phase: corev1.PodFailed, state: "PodInitializing"},
		"a pod whose readiness gate is missing is not ready": {given: func(w *worker) {
			runs(w)
			w.pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "gate"}}
		}, phase: corev1.PodRunning, state: "running"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			if test.policy == "" {
				test.policy = corev1.RestartPolicyAlways
			}
			w := testWorker(test.policy)
			test.given(w)
			status := w.render(w.pod, metav1.NewTime(noon))
			g.Expect(status.Phase).To(Equal(test.phase))
			g.Expect(stateOf(status.ContainerStatuses[0].State)).To(Equal(test.state))
			want := corev1.ConditionFalse
			if test.ready {
				want = corev1.ConditionTrue
			}
			g.Expect(conditionStatus(status, corev1.PodReady)).To(Equal(want))
		})
	}
}

// stateOf is the reason of a state.
func stateOf(state corev1.ContainerState) string {
	switch {
	case state.Running != nil:
		return "running"
	case state.Terminated != nil:
		return state.Terminated.Reason
	}
	return state.Waiting.Reason
}

func TestRestartedContainer(t *testing.T) {
	g := NewWithT(t)
	w := testWorker(corev1.RestartPolicyAlways)
	c := w.mains[0]
	c.begin(at(0))
	first := c.id
	g.Expect(first).To(HavePrefix("testbed://"))
	c.end(3, at(5))
	terminated := c.status(corev1.ContainerStateWaiting{}).State.Terminated
	g.Expect(terminated).To(Equal(&corev1.ContainerStateTerminated{
		ExitCode: 3, Reason: "Error", StartedAt: metav1.NewTime(at(0)), FinishedAt: metav1.NewTime(at(5)), ContainerID: first,
	}))
	c.hold("CrashLoopBackOff", "")
	c.begin(at(6))
	status := c.status(corev1.ContainerStateWaiting{})
	g.Expect(status.RestartCount).To(BeEquivalentTo(1))
	g.Expect(status.ContainerID).NotTo(Equal(first))
	g.Expect(status.LastTerminationState.Terminated).To(Equal(terminated))
	g.Expect(status.State.Running.StartedAt).To(Equal(metav1.NewTime(at(6))))
}

func TestBackoff(t *testing.T) {
	g := NewWithT(t)
	c := &container{spec: &corev1.Container{}}
	var waits []time.Duration
	now := noon
	for range 7 {
		c.begin(now)
		c.end(1, now)
		waits = append(waits, c.retryAt.Sub(now))
		now = c.retryAt
	}
	const s = time.Second
	g.Expect(waits).To(Equal([]time.Duration{0, 1 * s, 2 * s, 4 * s, 8 * s, 10 * s, 10 * s}))
	c.begin(now)
	c.end(1, now.Add(backoffReset))
	g.Expect(c.retryAt).To(Equal(now.Add(backoffReset)), "a container that ran long enough starts again at once")
}

func TestConditionsKeepTheirDate(t *testing.T) {
	g := NewWithT(t)
	w := testWorker(corev1.RestartPolicyAlways)
	w.written = w.render(w.pod, metav1.NewTime(at(0)))
	w.inits[0].begin(at(1))
	w.inits[0].end(0, at(1))
	status := w.render(w.pod, metav1.NewTime(at(2)))
	dates := map[corev1.PodConditionType]metav1.Time{}
	for _, c := range status.Conditions {
		dates[c.Type] = c.LastTransitionTime
	}
	g.Expect(dates).To(HaveKeyWithValue(corev1.PodInitialized, metav1.NewTime(at(2))))
	g.Expect(dates).To(HaveKeyWithValue(corev1.PodReady, metav1.NewTime(at(0))))
}

func TestDesiredNodeStatus(t *testing.T) {
	g := NewWithT(t)
	node := &corev1.Node{Status: corev1.NodeStatus{
		NodeInfo:  corev1.NodeSystemInfo{KubeletVersion: "v1.29.1"},
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "192.0.2.1"}},
		Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionFalse},
			{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown"},
		},
	}}
	first := desiredNodeStatus(node, "boot-1", metav1.NewTime(at(0)))
	g.Expect(first.NodeInfo.KubeletVersion).To(Equal("v1.29.1"), "who created the node knows its version")
	g.Expect(first.NodeInfo.BootID).To(Equal("boot-1"))
	g.Expect(first.Allocatable.Pods().Value()).To(BeEquivalentTo(110))
	g.Expect(first.Conditions).To(HaveLen(5))
	g.Expect(first.Conditions[1].Status).To(Equal(corev1.ConditionTrue), "a node that was given up is ready again")
	g.Expect(first.Conditions[1].LastTransitionTime.Time).To(Equal(at(0)))

	node.Status = first
	g.Expect(desiredNodeStatus(node, "boot-1", metav1.NewTime(at(5)))).To(Equal(first), "nothing changed, nothing to write")
	reported := desiredNodeStatus(node, "boot-1", metav1.NewTime(at(300)))
	g.Expect(reported.Conditions[1].LastHeartbeatTime.Time).To(Equal(at(300)), "a status of five minutes is reported again")
	g.Expect(reported.Conditions[1].LastTransitionTime.Time).To(Equal(at(0)))
	g.Expect(desiredNodeStatus(node, "boot-2", metav1.NewTime(at(5)))).NotTo(Equal(first))
}

func TestAddresses(t *testing.T) {
	g := NewWithT(t)
	a := newAddresses(3)
	first, err := a.take()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(first).To(Equal("127.3.0.10"))
	a.release(first)
	g.Expect(a.take()).To(Equal("127.3.0.11"), "an address is not reused at once")
	a.next = 256
	g.Expect(a.take()).To(Equal("127.3.1.0"))
	a.next = lastAddress
	g.Expect(a.take()).To(Equal("127.3.255.254"))
	g.Expect(a.take()).To(Equal("127.3.0.10"))
	g.Expect(a.take()).To(Equal("127.3.0.12"), "0.11 is still in use")
}

func TestRegister(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	entry := Entry{
		PID: 7, Cluster: "east", Namespace: "user-east", Pod: "kcm-1", PodUID: "u", Container: "kcm",
		Args: []string{"kcm", "--v=1"}, StartedAt: noon,
	}
	path, err := register(dir, entry)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(path).To(Equal(filepath.Join(dir, "processes", "east", "kcm-1_kcm.json")))
	content, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	var read Entry
	g.Expect(json.Unmarshal(content, &read)).To(Succeed())
	g.Expect(read).To(Equal(entry))

	entry.PID = 8
	other, err := register(dir, entry)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(other).To(HaveSuffix("kcm-1_kcm.8.json"), "a process that still runs stays visible")
	g.Expect(path).To(BeAnExistingFile())

	entry.EndedAt = noon.Add(time.Minute)
	g.Expect(deregister(dir, other, entry)).To(Succeed())
	g.Expect(other).NotTo(BeAnExistingFile())
	content, err = os.ReadFile(filepath.Join(dir, EndedFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(content).To(HaveSuffix("\n"))
	var ended Entry
	g.Expect(json.Unmarshal(content, &ended)).To(Succeed())
	g.Expect(ended).To(Equal(entry), "who ran when is known when it has ended, too")
}

func TestMirrorPod(t *testing.T) {
	g := NewWithT(t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "control-1", UID: "n"}}
	manifest := "metadata: {name: kube-controller-manager, namespace: kube-system}\n" +
		"spec: {containers: [{name: kcm, image: 'a:1'}]}\n"
	pod, err := mirrorPod(node, []byte(manifest))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pod.Name).To(Equal("kube-controller-manager-control-1"))
	g.Expect(pod.Spec.NodeName).To(Equal("control-1"))
	g.Expect(pod.Annotations).To(HaveKeyWithValue(sourceAnnotation, "file"))
	g.Expect(pod.Annotations[mirrorAnnotation]).To(Equal(pod.Annotations[hashAnnotation]))
	changed, err := mirrorPod(node, []byte(manifest+"#\n"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(changed.Annotations[hashAnnotation]).NotTo(Equal(pod.Annotations[hashAnnotation]))
	_, err = mirrorPod(node, []byte("spec: {containres: []}"))
	g.Expect(err).To(MatchError(ContainSubstring("containres")))
}
