package controlplane

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// staticEnd is a recorded static pod, what its Node shows for a while, and whether that proves its end.
type staticEnd struct {
	recorded ucv1.ManagerProcess
	objects  []client.Object
	accept   []string
	// watched is how long it is seen so; the settle time, unless given.
	watched time.Duration
	// because says that it has ended; why not otherwise.
	because string
	// want is looked at besides.
	want func(g Gomega, process ucv1.ManagerProcess)
}

func (e staticEnd) run(t *testing.T) {
	g := NewWithT(t)
	reader, clock := testReader(nil)
	cluster := staticCluster(e.recorded)
	cluster.Spec.Handover.AcceptLostManagers = e.accept
	user := testClient(interceptor.Funcs{}, append(e.objects, controlPlaneNode("cp-1"), mirrorOf("cp-1", "new", silentFlag))...)
	if e.watched == 0 {
		e.watched = settled()
	}
	for _, at := range []time.Duration{0, e.watched} {
		clock.SetTime(startTime().Add(at))
		plane, known := reader.StaticControlPlane(t.Context(), cluster, user).Get()
		g.Expect(known).To(BeTrue())
		cluster.Status.Handover.Processes = reader.Processes(cluster, plane)
	}
	process := cluster.Status.Handover.Processes[0]
	g.Expect(process.EndedAt != nil).To(Equal(e.because != ""), "%+v", process)
	g.Expect(process.EndedBecause).To(ContainSubstring(e.because))
	if e.want != nil {
		e.want(g, process)
	}
}

func settled() time.Duration { return observation.RealDeadlines().Settle }

func bootedAgain(node *corev1.Node) { node.Status.NodeInfo.BootID = "boot-2" }

func machine(id string) func(*corev1.Node) {
	return func(node *corev1.Node) { node.Status.NodeInfo.SystemUUID = id }
}

func TestTheEndOfAStaticPod(t *testing.T) {
	runAll(t, map[string]staticEnd{
		"another manifest that runs on the same Ready Node proves it, from when it was first seen": {
			recorded: staticRecord(), objects: objects(controlPlaneNode("cp-0"), mirrorOf("cp-0", "new", silentFlag)),
			because: "Node cp-0 runs Pod kube-controller-manager-cp-0 from another manifest",
			want: func(g Gomega, p ucv1.ManagerProcess) {
				g.Expect(p.EndedAt.Time).To(Equal(startTime()))
				g.Expect(p.VanishedAt).To(BeNil(), "it was seen")
			},
		},
		"a manifest with loops does, too: it is a process of its own": {
			recorded: staticRecord(),
			objects:  objects(controlPlaneNode("cp-0"), mirrorOf("cp-0", "new", loudFlag)),
			because:  "from another manifest",
		},
		"one that has not run for long enough does not": {
			recorded: staticRecord(),
			objects:  objects(controlPlaneNode("cp-0"), mirrorOf("cp-0", "new", silentFlag)),
			watched:  settled() - 1,
		},
		"one whose container does not run does not": {
			recorded: staticRecord(), objects: objects(controlPlaneNode("cp-0"), waiting(mirrorOf("cp-0", "new", silentFlag))),
		},
		"one that shows the recorded container does not": {
			recorded: staticRecord(func(p *ucv1.ManagerProcess) { p.ContainerID = "containerd://cp-0new" }),
			objects:  objects(controlPlaneNode("cp-0"), mirrorOf("cp-0", "new", silentFlag)),
		},
		"one on a Node that is not Ready does not": {
			recorded: staticRecord(), objects: objects(controlPlaneNode("cp-0", notReady), mirrorOf("cp-0", "new", silentFlag)),
		},
		"one on a Node that is gone does not": {
			recorded: staticRecord(), objects: objects(mirrorOf("cp-0", "new", silentFlag)),
		},
		"one of another machine of that name does not": {
			recorded: staticRecord(),
			objects:  objects(controlPlaneNode("cp-0", bootedAgain, machine("other")), mirrorOf("cp-0", "new", silentFlag)),
		},
		"one of another name does not": {
			recorded: staticRecord(func(p *ucv1.ManagerProcess) { p.PodName = "kcm-cp-0" }),
			objects:  objects(controlPlaneNode("cp-0"), mirrorOf("cp-0", "new", silentFlag)),
		},
		"a record without a boot cannot be compared": {
			recorded: staticRecord(func(p *ucv1.ManagerProcess) { p.BootID = "" }),
			objects:  objects(controlPlaneNode("cp-0"), mirrorOf("cp-0", "new", silentFlag)),
		},
		"a mirror pod that was deleted proves nothing, however long its Node is Ready": {
			recorded: staticRecord(), objects: objects(controlPlaneNode("cp-0")), watched: time.Hour,
			want: func(g Gomega, p ucv1.ManagerProcess) { g.Expect(p.VanishedAt.Time).To(Equal(startTime())) },
		},
		"a mirror pod that is being deleted proves nothing when its container crashes": {
			recorded: staticRecord(), objects: objects(controlPlaneNode("cp-0"), deleting(crashedPod(mirrorOf("cp-0", "old", loudFlag)))),
		},
		"a finished mirror pod whose container was seen terminated proves it": {
			recorded: staticRecord(),
			objects:  objects(controlPlaneNode("cp-0"), finishedPod(crashedPod(mirrorOf("cp-0", "old", loudFlag)))),
			because:  "was seen terminated",
		},
	})
}

func TestAStaticPodGoesOn(t *testing.T) {
	runAll(t, map[string]staticEnd{
		"under a mirror pod that was made again": {
			recorded: staticRecord(func(p *ucv1.ManagerProcess) { p.PodUID, p.VanishedAt = "before", microTime(startTime()) }),
			objects:  objects(controlPlaneNode("cp-0"), mirrorOf("cp-0", "old", loudFlag)),
			want:     func(g Gomega, p ucv1.ManagerProcess) { g.Expect(p).To(Equal(staticRecord())) },
		},
		"in a container that was started again": {
			recorded: staticRecord(func(p *ucv1.ManagerProcess) { p.ContainerID = "before" }),
			objects:  objects(controlPlaneNode("cp-0"), mirrorOf("cp-0", "old", loudFlag)),
			want:     func(g Gomega, p ucv1.ManagerProcess) { g.Expect(p).To(Equal(staticRecord())) },
		},
		"in another boot of its machine with the same manifest": {
			recorded: staticRecord(), objects: objects(controlPlaneNode("cp-0", bootedAgain), mirrorOf("cp-0", "old", loudFlag)),
			want: func(g Gomega, p ucv1.ManagerProcess) { g.Expect(p.BootID).To(Equal("boot-2")) },
		},
		"after a person vouched for its Node and that is back": {
			recorded: staticRecord(
				func(p *ucv1.ManagerProcess) { p.VanishedAt, p.EndedAt = microTime(startTime()), microTime(startTime()) },
			),
			accept:  []string{"kube-controller-manager-cp-0"},
			objects: objects(controlPlaneNode("cp-0"), mirrorOf("cp-0", "old", loudFlag)),
			want:    func(g Gomega, p ucv1.ManagerProcess) { g.Expect(p).To(Equal(staticRecord())) },
		},
		"on its own machine when another one takes over its Node": {
			recorded: staticRecord(),
			objects:  objects(controlPlaneNode("cp-0", bootedAgain, machine("other")), mirrorOf("cp-0", "old", loudFlag)),
			want:     func(g Gomega, p ucv1.ManagerProcess) { g.Expect(p.SystemUUID).To(Equal("machine-cp-0")) },
		},
		"with the boot that is known when its Node is gone": {
			recorded: staticRecord(), objects: objects(mirrorOf("cp-0", "old", loudFlag)),
			want: func(g Gomega, p ucv1.ManagerProcess) { g.Expect(p).To(Equal(staticRecord())) },
		},
	})
}

func TestALostStaticPod(t *testing.T) {
	accept := []string{"kube-controller-manager-cp-0"}
	runAll(t, map[string]staticEnd{
		"ended with the boot of its machine": {
			recorded: staticRecord(), objects: objects(controlPlaneNode("cp-0", bootedAgain)), because: "Node cp-0 was booted again",
		},
		"did not end with the boot of a machine that cannot be told from it": {
			recorded: staticRecord(func(p *ucv1.ManagerProcess) { p.SystemUUID = "" }),
			objects:  objects(controlPlaneNode("cp-0", bootedAgain, machine(""))),
		},
		"is not known to have ended with its Node": {recorded: staticRecord()},
		"may be vouched for when its Node is gone": {recorded: staticRecord(), accept: accept, because: "acceptLostManagers"},
		"may be vouched for when its mirror pod is gone": {
			recorded: staticRecord(),
			accept:   accept,
			objects:  objects(controlPlaneNode("cp-0")),
			because:  "acceptLostManagers",
		},
		"cannot be vouched for while its Node is Ready": {
			recorded: staticRecord(),
			accept:   accept,
			objects:  objects(controlPlaneNode("cp-0"), mirrorOf("cp-0", "old", loudFlag)),
		},
		"cannot be vouched for while its successor has only begun to prove it": {
			recorded: staticRecord(),
			accept:   accept,
			objects:  objects(controlPlaneNode("cp-0"), mirrorOf("cp-0", "new", silentFlag)),
			watched:  settled() - 1,
		},
		"cannot be vouched for by the name of another": {
			recorded: staticRecord(),
			accept:   []string{"kube-controller-manager-cp-1"},
		},
		"may be vouched for when its Node is another one": {
			recorded: staticRecord(),
			accept:   accept,
			objects:  objects(controlPlaneNode("cp-0", bootedAgain, machine("other")), mirrorOf("cp-0", "new", silentFlag)),
			because:  "acceptLostManagers",
		},
		"may be vouched for when its Node is not Ready": {
			recorded: staticRecord(),
			accept:   accept,
			objects:  objects(controlPlaneNode("cp-0", notReady), mirrorOf("cp-0", "old", loudFlag)),
			because:  "acceptLostManagers",
		},
		"stays as it is when its Node is not Ready, unseen": {
			recorded: staticRecord(),
			objects:  objects(controlPlaneNode("cp-0", notReady), mirrorOf("cp-0", "old", loudFlag)),
		},
	})
}

func waiting(pod *corev1.Pod) *corev1.Pod {
	setState(
		pod,
		corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}},
	)
	return pod
}

func crashedPod(pod *corev1.Pod) *corev1.Pod {
	setState(pod, terminated(pod.Status.ContainerStatuses[0].ContainerID, "Error"))
	return pod
}

func finishedPod(pod *corev1.Pod) *corev1.Pod {
	pod.Status.Phase = corev1.PodFailed
	return pod
}

func TestRunWatch(t *testing.T) {
	g := NewWithT(t)
	reader, clock := testReader(nil)
	user := testClient(interceptor.Funcs{}, controlPlaneNode("cp-0"), mirrorOf("cp-0", "new", silentFlag))
	since := func() time.Time {
		return reader.StaticControlPlane(t.Context(), staticCluster(), user).Value().KCM.Pods[0].RunningSince
	}
	g.Expect(since()).To(Equal(startTime()), "the first look")
	clock.SetTime(startTime().Add(time.Minute))
	g.Expect(since()).To(Equal(startTime()), "the same container")
	pod := mirrorOf("cp-0", "new", silentFlag)
	setState(pod, running("containerd://again"))
	user = testClient(interceptor.Funcs{}, controlPlaneNode("cp-0"), pod)
	g.Expect(since()).To(Equal(startTime().Add(time.Minute)), "another container")
	clock.SetTime(startTime().Add(3 * time.Hour))
	g.Expect(reader.runs.look(types.NamespacedName{Name: "other"}, "c", clock.Now())).To(Equal(clock.Now()))
	g.Expect(reader.runs.seen).To(HaveLen(1), "no one has looked at the first for long")
}
