package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

const silentControllers = "--controllers=*,tokencleaner,-cloud-node-lifecycle,-route,-service"

func instruct(o *Observation) {
	o.Cluster.Spec.ControlPlane.Change = ucv1.InstructChange
	if handover := o.Cluster.Status.Handover; handover != nil {
		handover.KCMLeaseGrantedAt = nil
	}
}

func instructedLoud() Observation {
	o := loud()
	instruct(&o)
	return o
}

func instructedFenced() Observation {
	o := fenced()
	instruct(&o)
	o.Cluster.Status.Handover.ChangingSince = stampAgo(2 * time.Minute)
	return o
}

// staticPod is KCM's static pod on a Node.
func staticPod(node string, arguments observation.Arguments) observation.Process {
	return observation.Process{
		PodName: "kcm-" + node, PodUID: "uid-" + node, NodeName: node, Hostname: "host-" + node, BootID: "boot-" + node,
		SystemUUID:  "machine-" + node,
		ContainerID: "c-" + node, ConfigHash: "hash-" + node, StartedAt: ago(20 * time.Minute), RunningSince: ago(20 * time.Minute),
		Arguments: arguments, GracePeriodSeconds: 30, Ready: true, Started: true,
	}
}

// staticPlane is KCM on Nodes a, b, and c, whose arguments are given; a holds the Lease.
func staticPlane(o *Observation, a, b, c observation.Arguments) {
	o.Cluster.Spec.ControlPlane.Type = ucv1.ExternalControlPlane
	pods := []observation.Process{staticPod("a", a), staticPod("b", b), staticPod("c", c)}
	kcm := observation.Component{
		Ref: observation.Ref{
			Kind: "StaticPod", Namespace: "kube-system", Name: "kube-controller-manager",
		}, Container: "kube-controller-manager",
		Arguments: a, RolledOut: true, Replicas: 3, Pods: pods,
	}
	for _, pod := range pods {
		if len(pod.Arguments.CloudLoops()) > 0 {
			kcm.Arguments = pod.Arguments
		}
	}
	o.ControlPlane = observation.Known(observation.ControlPlane{KCM: kcm})
	edit(&o.KCMLease, func(lease *observation.Lease) { lease.Holder, lease.AcquireTime = "host-a_1", ago(10*time.Minute) })
}

// recordStatic records the processes of the Nodes; those named have ended.
func recordStatic(o *Observation, ended ...string) {
	o.Cluster.Status.Handover.Processes = nil
	for _, node := range []string{"a", "b", "c"} {
		process := ucv1.ManagerProcess{
			PodUID: "uid-old-" + node, PodName: "kcm-" + node, NodeName: node, BootID: "boot-" + node, ConfigHash: "old",
			GracePeriodSeconds: 30,
		}
		for _, one := range ended {
			if one == node {
				process.EndedAt = microAgo(time.Minute)
			}
		}
		o.Cluster.Status.Handover.Processes = append(o.Cluster.Status.Handover.Processes, process)
	}
	o.Processes = o.Cluster.Status.Handover.DeepCopy().Processes
}

// half is a hand-over whose administrator has changed Nodes b and c.
func half() Observation {
	o := loud()
	staticPlane(&o, inTree(), silentArguments(), silentArguments())
	recordStatic(&o, "b", "c")
	o.Cluster.Status.Handover.ChangingSince = stampAgo(5 * time.Minute)
	return o
}

func TestWhatWeDoNotChangeIsInstructed(t *testing.T) {
	runDecisions(t, map[string]decision{
		"the loops of a Deployment that is not ours to change are switched off by others": {
			given: instructedLoud, step: ucv1.StepHandover, line: "LoopsOff", wait: ucv1.WaitingForAdministratorReason,
			says: []string{
				"have to be switched off, one after the other, in Deployment user-alpha/kube-controller-manager, as status.instructions says",
			},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.LoopsOffAt).To(BeNil()) },
		},
		"nothing is asked for while a Node is NotReady": {
			given: instructedLoud, when: notReady, step: ucv1.StepHandover, line: "LoopsOff", wait: ucv1.NodesNotReadyReason,
		},
		"the moment at which the loops are off is noted": {
			given: instructedFenced, when: func(o *Observation) {
				o.Cluster.Status.Handover.LoopsOffAt, o.Cluster.Status.Handover.ChangingSince = nil, nil
			},
			step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Handover.LoopsOffAt.Time).To(Equal(noon()))
				g.Expect(f.Handover.ChangingSince.Time).To(Equal(noon()))
			},
		},
		"the proof is the same: a process that was not seen to end is waited for": {
			given: instructedFenced, when: func(o *Observation) { onRecord(o, func(p *ucv1.ManagerProcess) { p.EndedAt = nil }) },
			step: ucv1.StepHandover, line: "Silent", wait: ucv1.ProvingSilenceReason,
		},
		"with the proof the fence is opened": {given: instructedFenced, step: ucv1.StepHandover, line: "FenceOpen", action: outcome.ActionOpenFence},
		"loops that are on again are contended": {
			given: instructedFenced, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Arguments = inTree() })
			},
			step: ucv1.StepHandover, line: "LoopsOff", fails: ucv1.CloudLoopsContendedReason,
		},
		"an unreadable command line is not waited for": {
			given: instructedLoud, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Arguments = observation.Arguments{Problem: "a shell"} })
			},
			step: ucv1.StepHandover, line: "LoopsOff", fails: ucv1.InputInvalidReason,
		},
		"the in-tree flags are taken out by others, too": {
			given: completed, when: instruct, step: ucv1.StepFinalize, wait: ucv1.WaitingForAdministratorReason,
			says: []string{"in Deployment user-alpha/kube-controller-manager"},
		},
		"when they are gone the migration is finished": {given: finished, when: instruct, step: ucv1.StepFinished},
		"a deleted Cluster whose KCM no one has changed goes": {
			given: instructedLoud, when: func(o *Observation) { o.Cluster.DeletionTimestamp = new(metav1.NewTime(noon())) },
			step: ucv1.StepHandover, action: outcome.ActionRelease,
		},
		"a deleted Cluster of which one Node is changed stays until the hand-over is done": {
			given: half, when: func(o *Observation) { o.Cluster.DeletionTimestamp = new(metav1.NewTime(noon())) },
			step: ucv1.StepHandover, line: "LoopsOff", wait: ucv1.WaitingForAdministratorReason,
		},
		"a deleted Cluster whose first change is seen only now stays, too": {
			given: half, when: func(o *Observation) {
				o.Cluster.DeletionTimestamp, o.Cluster.Status.Handover.ChangingSince = new(metav1.NewTime(noon())), nil
			},
			step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionRecord,
		},
	})
}

func TestTheAdministratorsTime(t *testing.T) {
	runDecisions(t, map[string]decision{
		"before the first change it does not count": {
			given: instructedLoud, when: func(o *Observation) { o.Cluster.Status.Handover.StartedAt = stampAgo(90 * 24 * time.Hour) },
			step: ucv1.StepHandover, line: "LoopsOff", wait: ucv1.WaitingForAdministratorReason,
		},
		"the first change is noted": {
			given: half, when: func(o *Observation) { o.Cluster.Status.Handover.ChangingSince = nil },
			step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.ChangingSince.Time).To(Equal(noon())) },
		},
		"from then on the rest is waited for, and named": {
			given: half, step: ucv1.StepHandover, line: "LoopsOff", wait: ucv1.WaitingForAdministratorReason,
			says:  []string{"one after the other, in kube-controller-manager on Node a, as"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.LoopsOffAt).To(BeNil()) },
		},
		"a NotReady Node is no reason to stop half way": {
			given: half, when: notReady, step: ucv1.StepHandover, line: "LoopsOff", wait: ucv1.WaitingForAdministratorReason,
		},
		"ten minutes later a person is called": {
			given: half, when: func(o *Observation) { o.Cluster.Status.Handover.ChangingSince = stampAgo(11 * time.Minute) },
			step: ucv1.StepHandover, line: "LoopsOff", fails: ucv1.WaitingForAdministratorReason,
			says: []string{"no one may be running the cloud loops since the hand-over began at 2026-01-01T11:49:00Z", "on Node a"},
		},
		"a Node that cannot be seen is no Node whose loops are off": {
			given: half, when: func(o *Observation) {
				staticPlane(o, silentArguments(), silentArguments(), silentArguments())
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.KCM.Pods, c.KCM.Unseen, c.KCM.RolledOut = c.KCM.Pods[1:], messages.Said("Node a shows no static pod."), false
				})
			},
			step: ucv1.StepHandover, line: "LoopsOff", wait: ucv1.ProvingSilenceReason,
			says:  []string{"Node a shows no static pod; ", "Pod kube-system/kcm-a"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.LoopsOffAt).To(BeNil()) },
		},
		"a change that was taken back is forgotten": {
			given: half, when: func(o *Observation) {
				staticPlane(o, inTree(), inTree(), inTree())
				recordStatic(o)
			},
			step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.ChangingSince).To(BeNil()) },
		},
	})
}

type instructionTest struct {
	given func() Observation
	when  func(*Observation)
	want  []ucv1.Instruction
}

func runInstructions(t *testing.T, tests map[string]instructionTest) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := test.given()
			if test.when != nil {
				test.when(&o)
			}
			g.Expect(Decide(o, noon()).Instructions).To(Equal(test.want))
		})
	}
}

func TestInstructions(t *testing.T) {
	runInstructions(t, map[string]instructionTest{
		"a Deployment has one": {
			given: instructedLoud, want: []ucv1.Instruction{{
				Order: 1, Component: "kube-controller-manager", Object: "Deployment user-alpha/kube-controller-manager",
				Set: []string{silentControllers},
			}},
		},
		"of three Nodes the leader's is last, and those that are proven are done": {
			given: half, when: func(o *Observation) { staticPlane(o, inTree(), inTree(), silentArguments()) }, want: []ucv1.Instruction{
				{Order: 1, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-b", Node: "b", Set: []string{silentControllers}},
				{Order: 2, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-c", Node: "c", Set: []string{silentControllers}, Done: true},
				{Order: 3, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-a", Node: "a", Set: []string{silentControllers}, Leader: true},
			},
		},
		"loops that were switched off in another way are as good": {
			given: half, when: func(o *Observation) {
				staticPlane(o, inTree(), silentArguments(), observation.Arguments{Flags: map[string]string{"cloud-provider": "external"}})
			},
			want: []ucv1.Instruction{
				{Order: 1, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-b", Node: "b", Set: []string{silentControllers}, Done: true},
				{Order: 2, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-c", Node: "c", Done: true},
				{Order: 3, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-a", Node: "a", Set: []string{silentControllers}, Leader: true},
			},
		},
		"a hand-over that was begun keeps its list while something before it waits": {
			given: half, when: func(o *Observation) {
				edit(&o.Addons, func(a *observation.Addons) { a.CCM.Unhealthy = messages.Said("Deployment kube-system/ccm has no pod") })
			},
			want: []ucv1.Instruction{
				{Order: 1, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-b", Node: "b", Set: []string{silentControllers}, Done: true},
				{Order: 2, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-c", Node: "c", Set: []string{silentControllers}, Done: true},
				{Order: 3, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-a", Node: "a", Set: []string{silentControllers}, Leader: true},
			},
		},
		"a flag that is to go is named": {
			given: completed, when: func(o *Observation) {
				instruct(o)
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Arguments.Flags["cloud-config"] = "/etc/x" })
			}, want: []ucv1.Instruction{{
				Order: 1, Component: "kube-controller-manager", Object: "Deployment user-alpha/kube-controller-manager",
				Set: []string{"--cloud-provider=external", "--controllers=*,tokencleaner"}, Remove: []string{"--cloud-config"},
			}},
		},
		"there are none when nothing is to be done":  {given: finished, when: instruct},
		"there are none while a Node is NotReady":    {given: instructedLoud, when: notReady},
		"there are none while the Cluster is paused": {given: half, when: func(o *Observation) { o.Cluster.Spec.Paused = true }},
		"there are none where we change KCM":         {given: loud},
	})
}

func TestInstructionsThatAreNotDone(t *testing.T) {
	runInstructions(t, map[string]instructionTest{
		"a Node whose former process is not proven to have ended is not done": {
			given: half, when: func(o *Observation) { recordStatic(o, "b") }, want: []ucv1.Instruction{
				{Order: 1, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-b", Node: "b", Set: []string{silentControllers}, Done: true},
				{Order: 2, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-c", Node: "c", Set: []string{silentControllers}},
				{Order: 3, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-a", Node: "a", Set: []string{silentControllers}, Leader: true},
			},
		},
		"a Node that shows no pod for now comes first: the others wait for it": {
			given: half, when: func(o *Observation) {
				recordStatic(o, "c")
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.KCM.Pods, c.KCM.Missing = []observation.Process{c.KCM.Pods[0], c.KCM.Pods[2]}, []string{"b"}
				})
			},
			want: []ucv1.Instruction{
				{Order: 1, Component: "kube-controller-manager", Object: "StaticPod kube-system/kube-controller-manager", Node: "b"},
				{Order: 2, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-c", Node: "c", Set: []string{silentControllers}, Done: true},
				{Order: 3, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-a", Node: "a", Set: []string{silentControllers}, Leader: true},
			},
		},
		"a Node whose new container does not run is not done": {
			given: half, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods[1].RunningSince = time.Time{} })
			},
			want: []ucv1.Instruction{
				{Order: 1, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-b", Node: "b", Set: []string{silentControllers}},
				{Order: 2, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-c", Node: "c", Set: []string{silentControllers}, Done: true},
				{Order: 3, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-a", Node: "a", Set: []string{silentControllers}, Leader: true},
			},
		},
	})
}
