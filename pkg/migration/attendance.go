package migration

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
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
func (p *pass) attend(decision Decision) *Attendance {
	ccm, kcm := p.ccmAttends(), p.kcmAttends()
	foreign := p.otherManagersRun()
	switch {
	case ccm.state == runsLoops:
		return p.attended(metav1.ConditionTrue, ucv1.AttendedReason, ccm.why, ".")
	case kcm.state == runsLoops:
		return p.attended(metav1.ConditionTrue, ucv1.AttendedReason, kcm.why, ".")
	case p.hibernated():
		return p.attended(metav1.ConditionUnknown, ucv1.HibernatedReason, "The control plane is scaled to 0.")
	case p.nothingToRunOn():
		return p.attended(metav1.ConditionUnknown, ucv1.NoNodesReason, "The cluster has no Node that the CCM could run on.")
	case foreign.Words != "":
		// What it does cannot be told; since when none of ours runs them is kept.
		return notSeen(attends{why: observation.Say(foreign, " may run them, and is not ours")}, kcm)
	case ccm.state == runsNone && kcm.state == runsNone, p.facts.UnattendedSince != nil:
		p.facts.UnattendedSince = p.unattendedSince()
		return p.unattended(ccm, kcm, decision)
	}
	return notSeen(ccm, kcm)
}

// attended: they are, or do not have to be.
func (p *pass) attended(status metav1.ConditionStatus, reason string, message ...any) *Attendance {
	p.facts.UnattendedSince = nil
	said := observation.Say(message...)
	return &Attendance{Status: status, Reason: reason, Message: said.Words, Objects: said.Objects}
}

// unattendedSince is the last moment in which they may have been attended. What was said before holds until a Lease shows that a
// manager led after it: a controller that is killed in every pass sees none of them alive.
func (p *pass) unattendedSince() *metav1.Time {
	before := p.facts.UnattendedSince
	since := ptr.Deref(before, metav1.Time{}).Time
	after := func(t time.Time) {
		if t.After(since) && !t.After(p.now) {
			since = t
		}
	}
	for _, lease := range p.ccmLeases() {
		if before == nil || lease.RenewTime.After(lease.AcquireTime) {
			after(lease.LastRenewal())
		}
	}
	if before == nil {
		after(p.kcmLed())
		p.endsOfManagers(after)
	}
	if since.IsZero() {
		since = p.now // Nothing tells.
	}
	if before == nil {
		p.beginsOfService(after)
	}
	if before != nil && since.Equal(before.Time) {
		return before
	}
	return new(metav1.NewTime(since))
}

// endsOfManagers are those that no Lease tells. While the CCM was not let yet, those of KCM's processes are all there is to know.
func (p *pass) endsOfManagers(after func(time.Time)) {
	if handover := p.facts.Handover; handover != nil {
		for _, process := range handover.Processes {
			vanished := ptr.Deref(process.VanishedAt, metav1.NewMicroTime(p.now))
			after(ptr.Deref(process.EndedAt, vanished).Time)
		}
		after(ptr.Deref(handover.FinishedAt, metav1.Time{}).Time)
	}
	if rollback := p.facts.Rollback; rollback != nil {
		after(ptr.Deref(rollback.WorkloadGoneAt, metav1.MicroTime{}).Time)
	}
	if (p.o.CCMLease.IsUnknown() || p.o.KCMLease.IsUnknown()) && !p.ccmNotAllowed() {
		after(p.now)
	}
}

// beginsOfService: nothing was to be served before there was a Node, nor, when the CCM has taken over, by a control plane that
// was hibernated.
func (p *pass) beginsOfService(after func(time.Time)) {
	nodes, started := time.Time{}, time.Time{}
	for _, node := range p.o.Nodes.Value() {
		nodes = observation.Earlier(nodes, node.CreatedAt)
	}
	controlPlane := p.o.ControlPlane.Value()
	for _, component := range append(slices.Clone(controlPlane.Others), controlPlane.KCM) {
		for _, process := range component.Pods {
			started = observation.Earlier(started, process.StartedAt)
		}
	}
	after(nodes)
	if p.ccmHasTakenOver() {
		after(started)
	}
}

// ccmLeases tell until when a holder ran the loops, but for that of a CCM which was not let yet.
func (p *pass) ccmLeases() []observation.Lease {
	leases := []observation.Lease{}
	if lease := p.o.CCMLease.Value(); (lease.Holder != "" || !lease.RenewTime.IsZero()) && !p.ccmNotAllowed() {
		leases = append(leases, lease)
	}
	if lock := p.o.Lock.Value().Lease; lock.Holder != "" && p.underLock() {
		leases = append(leases, lock)
	}
	return leases
}

// kcmLed is until when KCM led: not one that runs no loop, nor one whose end is known better.
func (p *pass) kcmLed() time.Time {
	lease, kcm := p.o.KCMLease.Value(), p.o.ControlPlane.Value().KCM
	recorded := p.facts.Handover != nil && slices.ContainsFunc(p.facts.Handover.Processes, func(process ucv1.ManagerProcess) bool {
		return process.EndedAt != nil && handover.HeldBy(lease, process.PodName, process.NodeName)
	})
	silent := slices.ContainsFunc(kcm.Pods, func(process observation.Process) bool {
		return !handover.MayRunUnlocked(process.Arguments) &&
			handover.HeldBy(lease, process.PodName, process.NodeName, process.Hostname)
	})
	if lease.Holder == "" || recorded || silent || p.ccmHasTakenOver() && p.facts.Rollback == nil {
		return time.Time{}
	}
	return lease.LastRenewal()
}

func (p *pass) ccmHasTakenOver() bool {
	return p.facts.Handover != nil && p.facts.Handover.FinishedAt != nil
}

func (p *pass) unattended(ccm, kcm attends, decision Decision) *Attendance {
	since, loops := p.facts.UnattendedSince, ""
	if inherited := p.facts.Inherited; inherited != nil && len(inherited.Loops) > 0 {
		loops = " (" + strings.Join(inherited.Loops, ", ") + ")"
	}
	said := observation.Say("No manager has run the cloud loops"+loops+" since "+since.UTC().Format(time.RFC3339)+": ",
		kcm.why, ", and ", ccm.why, ". New Nodes stay tainted, and load balancers and routes do not change.", p.whatToDo(decision))
	a := &Attendance{
		Status: metav1.ConditionFalse, Reason: ucv1.CloudLoopsUnattendedReason, Message: said.Words, Objects: said.Objects,
		Undecided: ccm.state == tooEarly || kcm.state == tooEarly,
		LookAfter: leaderElection,
	}
	if p.facts.Origin == ucv1.OriginExternal && !p.ccmHasTakenOver() {
		return a // It had no manager yet; that its CCM comes has a deadline of its own.
	}
	limit := UnattendedLimit(p.o.Cluster)
	for _, threshold := range []struct {
		after  time.Duration
		passed *bool
	}{{limit, &a.Overdue}, {2 * limit, &a.NeedsPerson}} {
		left := threshold.after - p.now.Sub(since.Time)
		*threshold.passed = left <= 0
		a.LookAfter = observation.Sooner(a.LookAfter, left)
	}
	return a
}

// whatToDo begins with what keeps the controller from doing it.
func (p *pass) whatToDo(decision Decision) observation.Text {
	cluster := p.o.Cluster
	switch {
	case !p.o.Connection.Reachable && p.o.Connection.Message != "":
		return observation.Say(" ", p.o.Connection.Text(), ".")
	case decision.Failure != nil:
		return observation.Say(" ", decision.Failure.Text())
	case cluster.Spec.Paused:
		return observation.Say(" The controller changes nothing, because spec.paused is true.")
	case p.fenceWasClosed():
		return observation.Say(" The CCM's fence is closed." + p.openFence())
	case decision.Wait != nil && decision.Wait.Unknown:
		return observation.Say(" The controller cannot look at all that step " + string(decision.Step) +
			" rests on; see the condition of that step.")
	case decision.Wait != nil:
		return observation.Say(" ", decision.Wait.Text())
	case decision.Step == ucv1.StepInTree:
		return observation.Say(" Look at its pods and their logs.")
	case !p.ccmHasTakenOver():
		return observation.Text{}
	}
	return observation.Say(p.lookAtCCM())
}

// openFence is how a person does it where the controller does not.
func (p *pass) openFence() string {
	return " Open it with: ccm-migration-controller fence open " + p.o.Cluster.Name + " -n " + p.o.Cluster.Namespace + "."
}

func (p *pass) lookAtCCM() string {
	if p.o.Cluster.AddonsReleased() {
		return " Another tool has to apply the CCM, because spec.addons.management is Released."
	}
	return " Look at the pods of the CCM and their logs."
}

// fenceWasClosed says that the CCM, which had led, may not lead any more.
func (p *pass) fenceWasClosed() bool {
	fence, known := p.o.Fence.Get()
	return known && !fence.Open && len(fence.Allowed) == 0 && p.ccmHasTakenOver() && p.facts.Rollback == nil
}

// notSeen: they were attended when it was last looked at.
func notSeen(ccm, kcm attends) *Attendance {
	said := observation.Say("Whether a manager runs the cloud loops is not known: ", kcm.why, ", and ", ccm.why, ".")
	a := &Attendance{
		Status: metav1.ConditionUnknown, Reason: ucv1.CouldNotLookReason, Message: said.Words, Objects: said.Objects,
	}
	if ccm.state == tooEarly || kcm.state == tooEarly {
		a.Reason, a.Undecided, a.LookAfter = ucv1.LookingReason, true, leaderElection
	}
	return a
}

// leaderElection is the duration of a Lease that upstream elects leaders with
// (https://github.com/kubernetes/component-base/blob/v0.30.14/config/v1alpha1/defaults.go).
const leaderElection = 15 * time.Second

func (p *pass) nothingToRunOn() bool {
	nodes, known := p.o.Nodes.Get()
	return known && len(nodes) == 0 && !p.o.Cluster.CCMInControlPlane()
}

// hibernated: there is no API server either, as far as the spec names it.
func (p *pass) hibernated() bool {
	controlPlane, known := p.o.ControlPlane.Get()
	if !known || p.o.Connection.Reachable || p.o.Cluster.Spec.ControlPlane.Static() {
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
