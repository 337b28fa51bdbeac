package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

// attendanceCase is one look at who runs the cloud loops.
type attendanceCase struct {
	given   func() Observation
	when    func(*Observation)
	status  metav1.ConditionStatus
	reason  string
	since   time.Duration // before noon; zero: they are not known to be unattended
	overdue bool
	person  bool
	unsure  bool
	says    string
}

func runAttendance(t *testing.T, cases map[string]attendanceCase) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := test.given()
			if test.when != nil {
				test.when(&o)
			}
			d := Decide(o, noon())
			a := d.Attendance
			g.Expect(a.Status).To(Equal(test.status), a.Message)
			g.Expect(a.Reason).To(Equal(test.reason), a.Message)
			g.Expect([]bool{a.Overdue, a.NeedsPerson, a.Undecided}).To(Equal([]bool{test.overdue, test.person, test.unsure}), a.Message)
			g.Expect(a.Message).To(ContainSubstring(test.says))
			g.Expect(a.Message).NotTo(ContainSubstring("by itself"))
			facts := o.Cluster.Status.Facts
			if d.Facts != nil {
				facts = *d.Facts
			}
			if test.since == 0 {
				g.Expect(facts.UnattendedSince).To(BeNil())
				return
			}
			g.Expect(facts.UnattendedSince.Time).To(Equal(ago(test.since)), a.Message)
			g.Expect(a.LookAfter).To(BeNumerically(">", 0), "no event tells of what does not come")
		})
	}
}

// gap is the hand-over after KCM's loops were switched off and its old process ended: the CCM waits behind its fence.
func gap(ended time.Duration) func() Observation {
	return func() Observation {
		o := fenced()
		o.Cluster.Status.Handover.StartedAt, o.Cluster.Status.Handover.LoopsOffAt = stampAgo(ended+time.Minute),
			stampAgo(ended+time.Minute)
		o.Cluster.Status.Handover.Processes[0].EndedAt = microAgo(ended)
		o.Processes = o.Cluster.Status.Handover.DeepCopy().Processes
		o.Fence, o.CCMLease = observation.Known(
			observation.Fence{Identity: "system:serviceaccount:kube-system:ccm", Lease: "kube-system/ccm"},
		), observation.Absent[observation.Lease]()
		return o
	}
}

// unreadable is a kubeconfig without credentials: nothing of the user cluster can be looked at.
func unreadable(message string) func(*Observation) {
	return cutOff(ucv1.UnauthorizedReason, message)
}

func cutOff(reason, message string) func(*Observation) {
	return func(o *Observation) {
		o.Connection = observation.Connection{Reason: reason, Message: message}
		o.KCMLease, o.CCMLease, o.Lock = observation.Unknown[observation.Lease]("no"), observation.Unknown[observation.Lease]("no"),
			observation.Unknown[observation.Lock]("no")
		o.Addons, o.Fence, o.Nodes, o.ForeignCCMs = observation.Unknown[observation.Addons]("no"),
			observation.Unknown[observation.Fence]("no"), observation.Unknown[[]observation.Node]("no"),
			observation.Unknown[[]observation.ForeignCCM]("no")
	}
}

// stopped is a CCM whose Lease was renewed for the last time.
func stopped(since time.Duration) func(*Observation) {
	return func(o *Observation) {
		edit(&o.CCMLease, func(l *observation.Lease) {
			l.RenewTime, l.ChangedAt, l.RenewedBy = ago(since), ago(since-time.Second), ago(since)
		})
	}
}

func TestWhoRunsTheCloudLoops(t *testing.T) {
	const yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	runAttendance(t, map[string]attendanceCase{
		"KCM in-tree, before anything is touched": {given: loud, status: yes, reason: ucv1.AttendedReason, says: "KCM leads"},
		"the CCM of a finished cluster":           {given: finished, status: yes, reason: ucv1.AttendedReason, says: "The CCM leads"},
		"a CCM that leads forgets that none did": {
			given: finished, when: func(o *Observation) { o.Cluster.Status.UnattendedSince = stampAgo(time.Hour) }, status: yes,
			reason: ucv1.AttendedReason,
		},
		"the holder of the migration lock": {
			given: gap(time.Minute), when: func(o *Observation) {
				o.Cluster.Status.Handover.LockArmedAt = stampAgo(time.Minute)
				o.Lock = observation.Known(observation.Lock{Lease: observation.Lease{Holder: "new_1", DurationSeconds: 15,
					AcquireTime: ago(time.Minute), RenewTime: ago(time.Second), ChangedAt: ago(time.Second), WatchedAt: ago(time.Hour)}})
			}, status: yes, reason: ucv1.AttendedReason, says: "migration lock",
		},
		"a static pod with the migration lock, while others have none yet": {
			given: halfArmed, when: func(o *Observation) {
				leads := observation.Lease{Holder: "host-b_1", DurationSeconds: 15, AcquireTime: ago(time.Minute),
					RenewTime: ago(time.Second), ChangedAt: ago(time.Second), WatchedAt: ago(time.Hour)}
				o.KCMLease = observation.Known(leads)
				o.Lock = observation.Known(observation.Lock{Granted: true, Lease: leads})
			}, status: yes, reason: ucv1.AttendedReason, says: "migration lock",
		},
		"a Lease that is not renewed is no manager": {
			given: finished, when: stopped(30 * time.Second), status: no, reason: ucv1.CloudLoopsUnattendedReason, since: 30 * time.Second,
			says: "any more",
		},
		"a Lease that was only acquired may be of a manager that crashes": {
			given: finished, when: func(o *Observation) { edit(&o.CCMLease, func(l *observation.Lease) { l.AcquireTime = l.RenewTime }) },
			status: unknown, reason: ucv1.LookingReason, unsure: true,
		},
		"a Lease that is seen for the first time proves no manager": {
			given: finished, when: func(o *Observation) {
				edit(&o.CCMLease, func(l *observation.Lease) { l.WatchedAt, l.ChangedAt = ago(0), ago(0) })
			}, status: unknown, reason: ucv1.LookingReason, unsure: true,
		},
		"one that was attended and cannot be looked at is unknown": {
			given: finished, when: cutOff(ucv1.UnreachableReason, "The API server refuses connections"), status: unknown,
			reason: ucv1.CouldNotLookReason,
		},
		"also when the Secret is gone": {
			given: finished, when: cutOff(ucv1.KubeconfigMissingReason, "The Secret is missing"), status: unknown,
			reason: ucv1.CouldNotLookReason,
		},
	})
}

func TestThatNoManagerRunsTheCloudLoops(t *testing.T) {
	const no, unknown = metav1.ConditionFalse, metav1.ConditionUnknown
	runAttendance(t, map[string]attendanceCase{
		"a control plane that is scaled to 0 is hibernated": {
			given: finished, when: func(o *Observation) {
				unreadable("The API server refuses connections")(o)
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Replicas, c.KCM.Pods = 0, nil })
			}, status: unknown, reason: ucv1.HibernatedReason,
		},
		"a cluster without Nodes has nothing to run the CCM on": {
			given: finished, when: func(o *Observation) {
				stopped(time.Hour)(o)
				o.Nodes = observation.Known([]observation.Node{})
			}, status: unknown, reason: ucv1.NoNodesReason,
		},
		"its first Node begins the time": {
			given: finished, when: func(o *Observation) {
				stopped(time.Hour)(o)
				edit(&o.Nodes, func(nodes *[]observation.Node) { (*nodes)[0].CreatedAt = ago(5 * time.Second) })
			}, status: no, reason: ucv1.CloudLoopsUnattendedReason, since: 5 * time.Second,
		},
		"and so does a control plane that wakes": {
			given: finished, when: func(o *Observation) {
				stopped(30 * time.Minute)(o)
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods[0].StartedAt = ago(20 * time.Second) })
				edit(&o.KCMLease, func(l *observation.Lease) { l.AcquireTime = ago(10 * time.Second) })
			}, status: no, reason: ucv1.CloudLoopsUnattendedReason, since: 20 * time.Second,
		},
		"a CCM that crashes says so": {
			given: finished, when: func(o *Observation) {
				stopped(30 * time.Second)(o)
				o.Addons = observation.Known(
					observation.Addons{CCM: observation.AddonSet{Unhealthy: messages.Said("Deployment kube-system/ccm crashes.")}},
				)
			}, status: no, reason: ucv1.CloudLoopsUnattendedReason, since: 30 * time.Second,
			says: "the CCM does not lead (Deployment kube-system/ccm crashes)",
		},
		"a CCM that is left to another tool says who has to apply it": {
			given: finished, when: released(stopped(30 * time.Second)),
			status: no, reason: ucv1.CloudLoopsUnattendedReason, since: 30 * time.Second, says: "Another tool has to apply the CCM",
		},
		"a fence that a person closed says how it is opened": {
			given: finished, when: func(o *Observation) {
				stopped(5 * time.Minute)(o)
				o.Fence = observation.Known(observation.Fence{Identity: "system:serviceaccount:kube-system:ccm", Lease: "kube-system/ccm"})
			}, status: no, reason: ucv1.CloudLoopsUnattendedReason, since: 5 * time.Minute, overdue: true, person: true, says: "fence",
		},
		"a cluster that was created with the feature had no manager yet": {
			given: external, when: func(o *Observation) {
				o.Cluster.Status.Facts = ucv1.Facts{Origin: ucv1.OriginExternal, UnattendedSince: stampAgo(time.Hour)}
				o.CCMLease = observation.Absent[observation.Lease]()
			}, status: no, reason: ucv1.CloudLoopsUnattendedReason, since: time.Hour,
		},
	})
}

func TestWhatIsNoManagerOfTheCloudLoops(t *testing.T) {
	const no = metav1.ConditionFalse
	runAttendance(t, map[string]attendanceCase{
		"another CCM that elects by the same Lease runs nothing either": {
			given: finished, when: func(o *Observation) {
				stopped(10 * time.Minute)(o)
				edit(&o.Fence, func(f *observation.Fence) { f.Lease = "kube-system/ccm" })
				beside(ourLease)(o)
			}, status: no, reason: ucv1.CloudLoopsUnattendedReason, since: 10 * time.Minute, overdue: true, person: true,
		},
		"a KCM without election that crashes runs nothing": {
			given: loud, when: func(o *Observation) {
				arguments := inTree()
				arguments.Flags["leader-elect"] = "false"
				setKCM(o, arguments)
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods[0].Ready = false })
				o.KCMLease = observation.Absent[observation.Lease]()
				o.Cluster.Status.UnattendedSince = stampAgo(30 * time.Second)
			}, status: no, reason: ucv1.CloudLoopsUnattendedReason, since: 30 * time.Second,
		},
	})
}

func TestTheGapOfAHandOver(t *testing.T) {
	const no, unattended = metav1.ConditionFalse, ucv1.CloudLoopsUnattendedReason
	const refused, closed = "The kubeconfig in Secret user-alpha/alpha-kubeconfig has no credentials",
		"The API server refuses connections"
	const missing = "Secret user-alpha/alpha-kubeconfig, key value is missing or empty"
	runAttendance(t, map[string]attendanceCase{
		"they are unattended since the end of KCM's process": {given: gap(3 * time.Second), status: no, reason: unattended, since: 3 * time.Second, says: "no process of Deployment"},
		"also when the credentials are lost in it": {
			given: gap(30 * time.Second), when: unreadable(refused), status: no, reason: unattended, since: 30 * time.Second,
			says: refused,
		},
		"after a minute they are overdue, and the loops are named": {
			given: gap(time.Minute), when: unreadable(refused), status: no, reason: unattended, since: time.Minute, overdue: true,
			says: "No manager has run the cloud loops (cloud-node-lifecycle-controller, node-route-controller, service-lb-controller) " +
				"since 2026-01-01T11:59:00Z",
		},
		"after two a person is called, whatever else is waited for": {
			given: gap(2 * time.Minute), when: unreadable(refused), status: no, reason: unattended, since: 2 * time.Minute, overdue: true,
			person: true, says: refused,
		},
		"a server that refuses connections hides nothing": {
			given: gap(time.Minute), when: cutOff(ucv1.UnreachableReason, closed), status: no, reason: unattended, since: time.Minute,
			overdue: true, says: closed,
		},
		"nor does a Secret that is gone": {
			given: gap(2 * time.Minute), when: cutOff(ucv1.KubeconfigMissingReason, missing), status: no, reason: unattended,
			since: 2 * time.Minute, overdue: true, person: true, says: missing,
		},
		"the limit is the spec's": {
			given: gap(2 * time.Minute), when: func(o *Observation) { o.Cluster.Spec.SLO.UnattendedSeconds = new(int32(300)) },
			status: no, reason: unattended, since: 2 * time.Minute,
		},
		"a CCM that is not ours may run them": {
			given: gap(5 * time.Minute), when: beside(free), status: metav1.ConditionUnknown, reason: ucv1.CouldNotLookReason,
			says: "is not ours",
		},
		"a pause holds up no call": {
			given: gap(5 * time.Minute), when: func(o *Observation) { o.Cluster.Spec.Paused = true },
			status: no, reason: unattended, since: 5 * time.Minute, overdue: true, person: true, says: "spec.paused",
		},
	})
}

// A manager may be killed between opening the fence and recording that it did.
func TestInARollbackACCMThatLedCounts(t *testing.T) {
	led := func(o *Observation) {
		o.CCMLease = observation.Known(observation.Lease{
			Ref: observation.Ref{Kind: "Lease", Namespace: "kube-system", Name: "ccm"}, Holder: "ccm_1", DurationSeconds: 15,
			AcquireTime: ago(2 * time.Minute), RenewTime: ago(40 * time.Second), ChangedAt: ago(40 * time.Second), WatchedAt: ago(time.Hour),
		})
		o.Cluster.Spec.Handover.Rollback = true
		o.Cluster.Status.Rollback = &ucv1.RollbackStatus{StartedAt: stampAgo(20 * time.Second)}
		o.Cluster.Status.Handover.FenceOpenedAt = nil
	}
	runAttendance(t, map[string]attendanceCase{
		"the loops are unattended since it renewed its Lease last": {
			given: gap(5 * time.Minute), when: led, status: metav1.ConditionFalse, reason: ucv1.CloudLoopsUnattendedReason,
			since: 40 * time.Second,
		},
	})
}

func TestSinceWhenOutlivesTheManager(t *testing.T) {
	const no, unattended = metav1.ConditionFalse, ucv1.CloudLoopsUnattendedReason
	before := func(o *Observation) {
		o.Cluster.Status.UnattendedSince = stampAgo(40 * time.Minute)
		stopped(50 * time.Second)(o)
	}
	runAttendance(t, map[string]attendanceCase{
		"a manager that was killed in the gap finds when it began": {
			given: gap(5 * time.Minute), when: func(o *Observation) {
				edit(&o.KCMLease, func(l *observation.Lease) {
					l.Holder, l.ChangedAt, l.WatchedAt, l.RenewTime = "old_1", ago(20*time.Second), ago(20*time.Second), ago(5*time.Minute)
				})
			}, status: no, reason: unattended, since: 5 * time.Minute, overdue: true, person: true,
		},
		"what was persisted before it was killed stays": {
			given: finished, when: func(o *Observation) {
				o.Cluster.Status.UnattendedSince = stampAgo(10 * time.Minute)
				edit(&o.CCMLease, func(l *observation.Lease) {
					l.WatchedAt, l.ChangedAt, l.RenewTime = ago(0), ago(0), ago(11*time.Minute)
				})
			}, status: no, reason: unattended, since: 10 * time.Minute, overdue: true, person: true, unsure: true,
		},
		"a manager that led in between begins it again, although none was seen alive": {
			given: finished, when: before, status: no, reason: unattended, since: 50 * time.Second,
		},
		"one that only acquired the Lease does not": {
			given: finished, when: func(o *Observation) {
				before(o)
				edit(&o.CCMLease, func(l *observation.Lease) { l.AcquireTime = l.RenewTime })
			}, status: no, reason: unattended, since: 40 * time.Minute, overdue: true, person: true,
		},
	})
}
