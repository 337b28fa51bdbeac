package migration

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Attendance says whether a manager runs the cloud loops of the user cluster. It is judged from the world in every pass, apart
// from the table: a step that waits for something else must not hide that no manager does the work.
type Attendance struct {
	// Status is that of condition CloudLoopsAttended.
	Status  metav1.ConditionStatus
	Reason  string
	Message string
	// Objects that the message names, in its order.
	Objects []observation.Ref
	// Undecided says that a Lease was not watched for long enough: what was said before stands.
	Undecided bool
	// Overdue says that they have been unattended for longer than spec.slo.unattendedSeconds, NeedsPerson for twice that time.
	Overdue, NeedsPerson bool
	// Since when no manager runs them, as it is to be kept; nil: one does, or does not have to.
	Since *metav1.Time
	// LookAfter is when the next pass has to be at the latest; zero: the usual time will do.
	LookAfter time.Duration
}

// Text of the message, to go on with.
func (a *Attendance) Text() observation.Text {
	return observation.Text{Words: a.Message, Objects: a.Objects}
}

// IsOverdue also answers for a cluster of which it is not judged.
func (a *Attendance) IsOverdue() bool { return a != nil && a.Overdue }

// defaultUnattended is longer than the restart of a leader takes: it has to wait for the Lease of the old one, and to retry.
const defaultUnattended = time.Minute

// UnattendedLimit is how long the cloud loops may be unattended before that is an outage.
func UnattendedLimit(cluster *ucv1.Cluster) time.Duration {
	return observation.SecondsOr(cluster.Spec.SLO.UnattendedSeconds, defaultUnattended)
}

// attend judges both managers, and keeps since when neither runs the loops.
func attend(in pass.Input, decision Decision) *Attendance {
	ccm, kcm := ccmAttends(in), kcmAttends(in)
	foreign := start.OtherManagersRun(in)
	switch {
	case ccm.state == runsLoops:
		return attended(metav1.ConditionTrue, ucv1.AttendedReason, ccm.why, ".")
	case kcm.state == runsLoops:
		return attended(metav1.ConditionTrue, ucv1.AttendedReason, kcm.why, ".")
	case hibernated(in):
		return attended(metav1.ConditionUnknown, ucv1.HibernatedReason, "The control plane is scaled to 0.")
	case nothingToRunOn(in):
		return attended(metav1.ConditionUnknown, ucv1.NoNodesReason, "The cluster has no Node that the CCM could run on.")
	case foreign.Words != "":
		// What it does cannot be told; since when none of ours runs them is kept.
		return notSeen(in, attends{why: observation.Say(foreign, " may run them, and is not ours")}, kcm)
	case ccm.state == runsNone && kcm.state == runsNone, in.Facts.UnattendedSince != nil:
		in.Facts.UnattendedSince = unattendedSince(in)
		return unattended(in, ccm, kcm, decision)
	}
	return notSeen(in, ccm, kcm)
}

// attended: they are, or do not have to be.
func attended(status metav1.ConditionStatus, reason string, message ...any) *Attendance {
	said := observation.Say(message...)
	return &Attendance{Status: status, Reason: reason, Message: said.Words, Objects: said.Objects}
}

// unattendedSince is the last moment in which they may have been attended. What was said before holds until a Lease shows that a
// manager led after it: a controller that is killed in every pass sees none of them alive.
func unattendedSince(in pass.Input) *metav1.Time {
	before := in.Facts.UnattendedSince
	since := ptr.Deref(before, metav1.Time{}).Time
	after := func(t time.Time) {
		if t.After(since) && !t.After(in.Now) {
			since = t
		}
	}
	for _, lease := range ccmLeases(in) {
		if before == nil || lease.RenewTime.After(lease.AcquireTime) {
			after(lease.LastRenewal())
		}
	}
	if before == nil {
		after(kcmLed(in))
		endsOfManagers(in, after)
	}
	if since.IsZero() {
		since = in.Now // Nothing tells.
	}
	if before == nil {
		beginsOfService(in, after)
	}
	if before != nil && since.Equal(before.Time) {
		return before
	}
	return new(metav1.NewTime(since))
}

// endsOfManagers are those that no Lease tells. While the CCM was not let yet, those of KCM's processes are all there is to know.
func endsOfManagers(in pass.Input, after func(time.Time)) {
	if handover := in.Facts.Handover; handover != nil {
		for _, process := range handover.Processes {
			vanished := ptr.Deref(process.VanishedAt, metav1.NewMicroTime(in.Now))
			after(ptr.Deref(process.EndedAt, vanished).Time)
		}
		after(ptr.Deref(handover.FinishedAt, metav1.Time{}).Time)
	}
	if rollback := in.Facts.Rollback; rollback != nil {
		after(ptr.Deref(rollback.WorkloadGoneAt, metav1.MicroTime{}).Time)
	}
	if (in.CCMLease.IsUnknown() || in.KCMLease.IsUnknown()) && !ccmNotAllowed(in) {
		after(in.Now)
	}
}

// beginsOfService: nothing was to be served before there was a Node, nor, when the CCM has taken over, by a control plane that
// was hibernated.
func beginsOfService(in pass.Input, after func(time.Time)) {
	nodes, started := time.Time{}, time.Time{}
	for _, node := range in.Nodes.Value() {
		nodes = observation.Earlier(nodes, node.CreatedAt)
	}
	controlPlane := in.ControlPlane.Value()
	for _, component := range append(slices.Clone(controlPlane.Others), controlPlane.KCM) {
		for _, process := range component.Pods {
			started = observation.Earlier(started, process.StartedAt)
		}
	}
	after(nodes)
	if ccmHasTakenOver(in) {
		after(started)
	}
}

// ccmLeases tell until when a holder ran the loops, but for that of a CCM which was not let yet. In a rollback no one knows that
// any more: we may have been killed between opening the fence and saying so.
func ccmLeases(in pass.Input) []observation.Lease {
	leases, allowed := []observation.Lease{}, !ccmNotAllowed(in) || in.Facts.Rollback != nil
	if lease := in.CCMLease.Value(); (lease.Holder != "" || !lease.RenewTime.IsZero()) && allowed {
		leases = append(leases, lease)
	}
	if lock := in.Lock.Value().Lease; lock.Holder != "" && underLock(in) {
		leases = append(leases, lock)
	}
	return leases
}

// kcmLed is until when KCM led: not one that runs no loop, nor one whose end is known better.
func kcmLed(in pass.Input) time.Time {
	lease, kcm := in.KCMLease.Value(), in.ControlPlane.Value().KCM
	recorded := in.Facts.Handover != nil && slices.ContainsFunc(in.Facts.Handover.Processes, func(process ucv1.ManagerProcess) bool {
		return process.EndedAt != nil && handover.HeldBy(lease, process.PodName, process.NodeName)
	})
	silent := slices.ContainsFunc(kcm.Pods, func(process observation.Process) bool {
		return !handover.MayRunUnlocked(process.Arguments) &&
			handover.HeldBy(lease, process.PodName, process.NodeName, process.Hostname)
	})
	if lease.Holder == "" || recorded || silent || ccmHasTakenOver(in) && in.Facts.Rollback == nil {
		return time.Time{}
	}
	return lease.LastRenewal()
}

func ccmHasTakenOver(in pass.Input) bool {
	return in.Facts.Handover != nil && in.Facts.Handover.FinishedAt != nil
}

func unattended(in pass.Input, ccm, kcm attends, decision Decision) *Attendance {
	since, loops := in.Facts.UnattendedSince, ""
	if inherited := in.Facts.Inherited; inherited != nil && len(inherited.Loops) > 0 {
		loops = " (" + strings.Join(inherited.Loops, ", ") + ")"
	}
	said := observation.Say("No manager has run the cloud loops"+loops+" since "+since.UTC().Format(time.RFC3339)+": ",
		kcm.why, ", and ", ccm.why, "; new Nodes stay tainted, and load balancers and routes do not change", whatToDo(in, decision))
	a := &Attendance{
		Status: metav1.ConditionFalse, Reason: ucv1.CloudLoopsUnattendedReason, Message: said.Words, Objects: said.Objects,
		Undecided: ccm.state == tooEarly || kcm.state == tooEarly,
		LookAfter: leaderElection, Since: since,
	}
	if in.Facts.Origin == ucv1.OriginExternal && !ccmHasTakenOver(in) {
		return a // It had no manager yet; that its CCM comes has a deadline of its own.
	}
	limit := UnattendedLimit(in.Cluster)
	for _, threshold := range []struct {
		after  time.Duration
		passed *bool
	}{{limit, &a.Overdue}, {2 * limit, &a.NeedsPerson}} {
		left := threshold.after - in.Now.Sub(since.Time)
		*threshold.passed = left <= 0
		a.LookAfter = observation.Sooner(a.LookAfter, left)
	}
	return a
}

// whatToDo ends the message: with what keeps the controller from doing it, or what a person can do.
func whatToDo(in pass.Input, decision Decision) observation.Text {
	cluster := in.Cluster
	switch {
	case !in.Connection.Reachable && in.Connection.Message != "":
		return observation.Say("; ", in.Connection.Text(), ".")
	case decision.Calls() != nil:
		return observation.Say("; ", decision.Calls().Text())
	case cluster.Spec.Paused:
		return observation.Say("; the controller changes nothing, because spec.paused is true.")
	case fenceWasClosed(in):
		return observation.Say("; the CCM's fence is closed." + openFence(in))
	case decision.Wait != nil && decision.Wait.Unknown:
		return observation.Say(". The controller cannot look at all that step " + string(decision.Step) +
			" rests on; see the condition of that step.")
	case decision.Wait != nil:
		return observation.Say("; ", decision.Wait.Text())
	case decision.Step == ucv1.StepInTree:
		return observation.Say(". Look at its pods and their logs.")
	case !ccmHasTakenOver(in):
		return observation.Say(".")
	}
	return observation.Say("." + lookAtCCM(in))
}

// openFence is how a person does it where the controller does not.
func openFence(in pass.Input) string {
	return " Open it with 'ccm-migration-controller fence open " + in.Cluster.Name + " -n " + in.Cluster.Namespace + "'."
}

func lookAtCCM(in pass.Input) string {
	if in.Cluster.AddonsReleased() {
		return " Another tool has to apply the CCM, because spec.addons.management is Released."
	}
	return " Look at the pods of the CCM and their logs."
}

// fenceWasClosed says that the CCM, which had led, may not lead any more.
func fenceWasClosed(in pass.Input) bool {
	fence, known := in.Fence.Get()
	return known && !fence.Open && len(fence.Allowed) == 0 && ccmHasTakenOver(in) && in.Facts.Rollback == nil
}

// notSeen: they were attended when it was last looked at.
func notSeen(in pass.Input, ccm, kcm attends) *Attendance {
	said := observation.Say("Whether a manager runs the cloud loops is not known: ", kcm.why, ", and ", ccm.why, ".")
	a := &Attendance{
		Status: metav1.ConditionUnknown, Reason: ucv1.CouldNotLookReason, Message: said.Words, Objects: said.Objects,
		Since: in.Facts.UnattendedSince,
	}
	if ccm.state == tooEarly || kcm.state == tooEarly {
		a.Reason, a.Undecided, a.LookAfter = ucv1.LookingReason, true, leaderElection
	}
	return a
}

// leaderElection is the duration of a Lease that upstream elects leaders with
// (https://github.com/kubernetes/component-base/blob/v0.30.14/config/v1alpha1/defaults.go).
const leaderElection = 15 * time.Second

func nothingToRunOn(in pass.Input) bool {
	nodes, known := in.Nodes.Get()
	return known && len(nodes) == 0 && !in.Cluster.CCMInControlPlane()
}

// hibernated: there is no API server either, as far as the spec names it.
func hibernated(in pass.Input) bool {
	controlPlane, known := in.ControlPlane.Get()
	if !known || in.Connection.Reachable || in.Cluster.Spec.ControlPlane.Static() {
		return false
	}
	for _, component := range append(slices.Clone(controlPlane.Others), controlPlane.KCM) {
		if component.Replicas > 0 ||
			slices.ContainsFunc(component.Pods, func(process observation.Process) bool { return !process.Ended }) {
			return false
		}
	}
	return true
}
