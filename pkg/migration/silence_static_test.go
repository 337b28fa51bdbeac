package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

// staticFenced is ready to open the fence beside static pods; Node a leads since its restart.
func staticFenced() Observation {
	o := fenced()
	staticPlane(&o, silentArguments(), silentArguments(), silentArguments())
	recordStatic(&o, "a", "b", "c")
	o.Cluster.Status.Handover.ChangingSince = stampAgo(2 * time.Minute)
	return o
}

func TestStaticPodsArePartOfTheProof(t *testing.T) {
	runDoubtsOf(t, staticFenced, map[string]doubtTest{
		"silent static pods leave no doubt": {},
		"a Node that cannot be looked at is a doubt": {
			when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.KCM.Unseen, c.KCM.RolledOut = messages.Said("Node b is not Ready."), false
				})
			},
			want: []string{"is still rolling out", "Node b is not Ready."},
		},
		"a Node whose former process is not proven to have ended is a doubt": {
			when: func(o *Observation) { recordStatic(o, "a", "b") }, want: []string{"Pod kube-system/kcm-c may run cloud loops and " +
				"was not seen to end."},
		},
		"a Node that does not show a successor yet is a doubt with the way out": {
			when: func(o *Observation) {
				recordStatic(o, "a", "b")
				o.Processes[2].VanishedAt = microAgo(time.Second)
			},
			want: []string{"waiting for Node c to show another one running in its place. If that Node is lost"},
		},
		"a static pod with loops is a doubt, whatever was concluded of its record": {
			when: func(o *Observation) {
				onPod(o, func(p *observation.Process) { p.Arguments = inTree() })
				o.Cluster.Status.Handover.Processes[0].PodUID, o.Processes[0].PodUID = "uid-a", "uid-a"
				freeLease(o)
			},
			want: []string{"Pod kube-system/kcm-a may run cloud loops."},
		},
	})
}

func TestTheLeaseOfStaticPods(t *testing.T) {
	runDoubtsOf(t, staticFenced, map[string]doubtTest{
		"a Lease held under the Node's hostname since the restart is none": {
			when: func(o *Observation) { onLease(o, func(l *observation.Lease) { l.Holder = "host-b_1" }) },
		},
		"a Lease held under the Node's hostname from before it is a doubt": {
			when: func(o *Observation) { onLease(o, func(l *observation.Lease) { l.AcquireTime = ago(time.Hour) }) },
			want: []string{"held by host-a_1"},
		},
		"without leader election the pods are the proof": {
			when: func(o *Observation) {
				o.KCMLease = observation.Absent[observation.Lease]()
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.KCM.Arguments.Flags["leader-elect"] = "false"
					for i := range c.KCM.Pods {
						c.KCM.Pods[i].Arguments = c.KCM.Arguments
					}
				})
			},
		},
		"one of them that elects a leader has the Lease asked": {
			when: func(o *Observation) {
				o.KCMLease = observation.Absent[observation.Lease]()
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.KCM.Arguments = observation.Arguments{Flags: map[string]string{"leader-elect": "false"}}
					c.KCM.Pods[0].Arguments = c.KCM.Arguments
				})
			},
			want: []string{"Lease kube-system/kube-controller-manager does not exist"},
		},
	})
}

func TestStaticPodsBeforeTheStart(t *testing.T) {
	static := func(o *Observation) { staticPlane(o, inTree(), inTree(), inTree()) }
	runDecisions(t, map[string]decision{
		"static pods are recorded with what identifies them": {
			given:  starting,
			when:   func(o *Observation) { recorded(o); static(o) },
			step:   ucv1.StepHandover,
			line:   "ProcessesRecorded",
			action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Handover.Processes).To(HaveLen(3))
				g.Expect(f.Handover.Processes[1]).To(Equal(ucv1.ManagerProcess{
					PodUID: "uid-b", PodName: "kcm-b", NodeName: "b", BootID: "boot-b", SystemUUID: "machine-b", ConfigHash: "hash-b",
					ContainerID: "c-b", GracePeriodSeconds: 30,
				}))
			},
		},
		"they are recorded only when every Node was looked at": {
			given: starting, when: func(o *Observation) {
				recorded(o)
				static(o)
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Unseen = messages.Said("Node b is gone.") })
			},
			step: ucv1.StepHandover, line: "ProcessesRecorded", wait: ucv1.CouldNotLookReason, says: []string{"Node b is gone"},
		},
		"preflight waits for them, too": {
			given: fresh, when: func(o *Observation) {
				static(o)
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Unseen = messages.Said("Node b is gone.") })
			},
			step: ucv1.StepPreflight, wait: ucv1.CouldNotLookReason, says: []string{"every static pod of kube-controller-manager: Node " +
				"b is gone"},
		},
		"Nodes that disagree on what the CCM inherits are an objection": {
			given: fresh, when: func(o *Observation) {
				static(o)
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.KCM.Pods[2].Arguments = inTree()
					c.KCM.Pods[2].Arguments.Flags["cluster-name"] = "other"
				})
			},
			step: ucv1.StepPreflight, fails: ucv1.InputInvalidReason, says: []string{"Pod kube-system/kcm-c has another --cluster-name"},
		},
		"a cluster without static pods is told which container is looked for": {
			given: fresh, when: func(o *Observation) {
				static(o)
				o.ControlPlane = observation.Absent[observation.ControlPlane]()
			},
			step: ucv1.StepPreflight, fails: ucv1.InputInvalidReason, says: []string{"No Node of the user cluster shows a static pod " +
				"with container kube-controller-manager"},
		},
		"a kubeconfig that another Cluster names is an objection": {
			given: fresh, when: func(o *Observation) {
				static(o)
				o.Contenders = observation.Known([]string{"user-alpha/beta"})
			},
			step: ucv1.StepPreflight, fails: ucv1.InputInvalidReason, says: []string{"The kubeconfig Secret is also named by Cluster " +
				"user-alpha/beta"},
		},
	})
}
