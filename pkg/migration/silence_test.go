package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func onRecord(o *Observation, change func(*ucv1.ManagerProcess)) {
	change(&o.Cluster.Status.Handover.Processes[0])
	change(&o.Processes[0])
}

func onPod(o *Observation, change func(*observation.Process)) {
	edit(&o.ControlPlane, func(c *observation.ControlPlane) { change(&c.KCM.Pods[0]) })
}

func onLease(o *Observation, change func(*observation.Lease)) { edit(&o.KCMLease, change) }

func freeLease(o *Observation) { onLease(o, func(l *observation.Lease) { l.Holder = "" }) }

type doubtTest struct {
	when func(*Observation)
	want []string
}

// runDoubts begins with a KCM that is proven silent and takes one item of the proof away.
func runDoubts(t *testing.T, tests map[string]doubtTest) {
	t.Helper()
	runDoubtsOf(t, fenced, tests)
}

func runDoubtsOf(t *testing.T, given func() Observation, tests map[string]doubtTest) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := given()
			if test.when != nil {
				test.when(&o)
			}
			in := pass.New(o, noon(), o.Cluster.Status.Facts)
			doubts := handover.Doubts(loops.Silence(loops.MergeProcesses(in)))
			g.Expect(doubts).To(HaveLen(len(test.want)), "%q", doubts)
			for i, want := range test.want {
				g.Expect(doubts[i]).To(ContainSubstring(want))
			}
			d := Decide(o, noon())
			g.Expect(d.Next() != nil && d.Next().Kind == outcome.ActionOpenFence).To(Equal(len(test.want) == 0))
		})
	}
}

func TestDoubtsOfProcesses(t *testing.T) {
	runDoubts(t, map[string]doubtTest{
		"a silent KCM leaves no doubt": {},
		"a control plane that cannot be looked at is a doubt": {
			when: func(o *Observation) { o.ControlPlane = observation.Unknown[observation.ControlPlane]("timeout") },
			want: []string{"Could not look at the control plane: timeout."},
		},
		"a template that would start loops is a doubt": {
			when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Arguments = inTree() })
			},
			want: []string{"would start pods that run cloud loops"},
		},
		"a rollout that goes on is a doubt": {
			when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.RolledOut = false })
			},
			want: []string{"is still rolling out"},
		},
		"a live pod with loops is a doubt": {
			when: func(o *Observation) {
				freeLease(o)
				onPod(o, func(p *observation.Process) { p.Arguments = inTree() })
			},
			want: []string{"Pod user-alpha/new may run cloud loops."},
		},
		"a pod whose arguments cannot be read is a doubt": {
			when: func(o *Observation) {
				freeLease(o)
				onPod(o, func(p *observation.Process) { p.Arguments = observation.Arguments{Problem: "a shell"} })
			},
			want: []string{"Pod user-alpha/new may run cloud loops."},
		},
		"a terminating pod with loops is a doubt": {
			when: func(o *Observation) {
				freeLease(o)
				onPod(o, func(p *observation.Process) { p.Arguments, p.Terminating = inTree(), true })
			},
			want: []string{"Pod user-alpha/new may run cloud loops."},
		},
		"a pod with loops that was seen to end is none": {
			when: func(o *Observation) {
				onPod(o, func(p *observation.Process) { p.Arguments, p.Ended = inTree(), true })
				onLease(o, func(l *observation.Lease) { l.Holder = "" })
			},
		},
		"a recorded process that was not seen to end is a doubt": {
			when: func(o *Observation) { onRecord(o, func(p *ucv1.ManagerProcess) { p.EndedAt = nil }) },
			want: []string{"Pod user-alpha/old may run cloud loops and was not seen to end."},
		},
		"a recorded process that vanished is a doubt with its Node and the way out": {
			when: func(o *Observation) {
				onRecord(o, func(p *ucv1.ManagerProcess) { p.EndedAt, p.VanishedAt = nil, microAgo(time.Minute) })
			},
			want: []string{
				"waiting for the kubelet of Node m1 to outlive it by 60 s. If that Node is lost and you know that the process has ended, " +
					"name the pod in spec.handover.acceptLostManagers.",
			},
		},
	})
}

func TestDoubtsOfTheLease(t *testing.T) {
	stranger := func(since time.Duration, lasts int32) func(*Observation) {
		return func(o *Observation) {
			onLease(o, func(l *observation.Lease) { l.Holder, l.ChangedAt, l.DurationSeconds = "stranger_1", ago(since), lasts })
		}
	}
	runDoubts(t, map[string]doubtTest{
		"a Lease that cannot be looked at is a doubt": {
			when: func(o *Observation) { o.KCMLease = observation.Unknown[observation.Lease]("timeout") },
			want: []string{"Could not look at KCM's Lease: timeout."},
		},
		"a Lease that does not exist is a doubt: KCM elects somewhere else": {
			when: func(o *Observation) { o.KCMLease = observation.Absent[observation.Lease]() },
			want: []string{"Lease kube-system/kube-controller-manager does not exist."},
		},
		"a Lease of another name that does not exist is named": {
			when: func(o *Observation) {
				o.KCMLease = observation.Absent[observation.Lease]()
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.KCM.Arguments.Flags["leader-elect-resource-namespace"], c.KCM.Arguments.Flags["leader-elect-resource-name"] = "ns", "kcm"
				})
			},
			want: []string{"Lease ns/kcm does not exist."},
		},
		"a KCM without replicas needs no Lease": {
			when: func(o *Observation) {
				o.KCMLease = observation.Absent[observation.Lease]()
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Replicas = 0 })
			},
		},
		"a Lease without holder is none": {when: func(o *Observation) { onLease(o, func(l *observation.Lease) { l.Holder = "" }) }},
		"without leader election the Lease is not asked": {
			when: func(o *Observation) {
				o.KCMLease = observation.Unknown[observation.Lease]("timeout")
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Arguments.Flags["leader-elect"] = "false" })
			},
		},
		"a Lease that a stranger renews is a doubt": {
			when: func(o *Observation) { onLease(o, func(l *observation.Lease) { l.Holder = "stranger_1" }) },
			want: []string{"Lease kube-system/kube-controller-manager is held by stranger_1"},
		},
		"a Lease that a stranger has not renewed for its duration is none": {when: stranger(16*time.Second, 15)},
		"a Lease that we have watched for less than its duration is a doubt": {
			when: func(o *Observation) {
				stranger(time.Hour, 15)(o)
				onLease(o, func(l *observation.Lease) { l.ChangedAt, l.WatchedAt = time.Time{}, ago(14*time.Second) })
			},
			want: []string{"held by stranger_1"},
		},
		"a longer lease duration is waited for": {when: stranger(59*time.Second, 60), want: []string{"held by stranger_1"}},
		"a longer renew deadline with its retry period is waited for": {
			when: func(o *Observation) {
				stranger(63*time.Second, 60)(o)
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.KCM.Arguments.Flags["leader-elect-renew-deadline"], c.KCM.Arguments.Flags["leader-elect-retry-period"] = "59s", "5s"
				})
			},
			want: []string{"held by stranger_1"},
		},
	})
}

func TestDoubtsOfTheHolder(t *testing.T) {
	runDoubts(t, map[string]doubtTest{
		"a Lease that a recorded process held until its end is none": {
			when: func(o *Observation) {
				onRecord(o, func(p *ucv1.ManagerProcess) { p.EndedAt = microAgo(5 * time.Second) })
				onLease(o, func(l *observation.Lease) { l.Holder, l.ChangedAt = "old_1", ago(4*time.Second) })
			},
		},
		"a Lease that is renewed after its holder's end contradicts the end": {
			when: func(o *Observation) {
				onRecord(o, func(p *ucv1.ManagerProcess) { p.EndedAt = microAgo(5 * time.Second) })
				onLease(o, func(l *observation.Lease) { l.Holder, l.ChangedAt = "old_1", ago(2*time.Second) })
			},
			want: []string{"held by old_1"},
		},
		"a Lease of a host that was acquired before the silent container started is a doubt": {
			when: func(o *Observation) {
				onLease(o, func(l *observation.Lease) { l.Holder, l.AcquireTime = "m1_1", ago(time.Hour) })
			},
			want: []string{"held by m1_1"},
		},
		"a Lease of a host that was acquired since is none": {
			when: func(o *Observation) { onLease(o, func(l *observation.Lease) { l.Holder = "m1_1" }) },
		},
		"a holder whose name only begins like the pod's is a stranger": {
			when: func(o *Observation) { onLease(o, func(l *observation.Lease) { l.Holder = "newer_1" }) },
			want: []string{"held by newer_1"},
		},
		"a Lease that a silent pod holds which has ended is a doubt": {
			when: func(o *Observation) { onPod(o, func(p *observation.Process) { p.Ended = true }) }, want: []string{"held by new_1"},
		},
	})
}
