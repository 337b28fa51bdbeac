package migration

import (
	"fmt"
	"slices"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// deliverySkew is how much later than a process's end we may see a renewal that it made before its end: the two come
// from different API servers. A later one contradicts the end.
const deliverySkew = 2 * time.Second

// doubts lists what stands between us and the proof that KCM runs no cloud loop. A loop runs only in a process, so
// every process that could run one is accounted for; the Lease can only contradict.
//
//	recorded processes ──► each was seen to end
//	live pods ───────────► each one's own arguments show the loops off
//	Lease ───────────────► held by such a pod, or not renewed since its holder's end
func (p *pass) doubts() []string {
	var doubts []string
	for _, item := range p.proof() {
		if item.State != ucv1.ProvenState && item.Message != "" {
			doubts = append(doubts, item.Message)
		}
	}
	return doubts
}

// proof is the same item by item, for people. The Lease is asked last: while KCM runs loops it says nothing new.
func (p *pass) proof() []ucv1.ProofItem {
	controlPlane, known := p.o.ControlPlane.Get()
	if !known {
		why := "Could not look at the control plane: " + p.o.ControlPlane.Why() + "."
		return []ucv1.ProofItem{{Name: "Template", State: ucv1.UnknownState, Message: why}}
	}
	kcm := controlPlane.KCM
	items := []ucv1.ProofItem{
		proofItem("Template", mayRunLoops(observation.Process{Arguments: kcm.Arguments}), kcm.String()+" would start pods that run cloud loops."),
		proofItem("Rollout", !kcm.RolledOut, kcm.String()+" is still rolling out."),
	}
	if p.o.Cluster.Spec.ControlPlane.Static() {
		items = append(items, proofItem("Nodes", len(kcm.Unseen) > 0, strings.Join(kcm.Unseen, " ")))
	}
	processes := p.processDoubts(kcm)
	items = append(items, proofItem("Processes", len(processes) > 0, strings.Join(processes, " ")))
	for _, item := range items {
		if item.State != ucv1.ProvenState {
			return append(items, ucv1.ProofItem{Name: "Lease", State: ucv1.UnknownState})
		}
	}
	doubt := p.leaseDoubt(kcm)
	lease := proofItem("Lease", doubt != "", doubt)
	if doubt != "" && p.o.KCMLease.IsUnknown() {
		lease.State = ucv1.UnknownState
	}
	return append(items, lease)
}

func proofItem(name string, doubtful bool, doubt string) ucv1.ProofItem {
	if doubtful {
		return ucv1.ProofItem{Name: name, State: ucv1.NotProvenState, Message: doubt}
	}
	return ucv1.ProofItem{Name: name, State: ucv1.ProvenState}
}

// processDoubts names every process that may run, once.
func (p *pass) processDoubts(kcm observation.Component) []string {
	ended := map[string]bool{}
	for _, process := range p.facts.Handover.Processes {
		ended[process.PodUID] = process.EndedAt != nil
	}
	named := map[string]bool{}
	var doubts []string
	for _, process := range kcm.Pods {
		// A static pod that shows loops runs them, whatever was concluded of a process before it.
		if process.Ended || ended[process.PodUID] && process.ConfigHash == "" || !mayRunLoops(process) {
			continue
		}
		named[process.PodUID] = true
		doubt := "Pod " + kcm.Namespace + "/" + process.PodName + " may run cloud loops."
		if process.Finished {
			doubt += " No one saw its process end: make sure that it has, and name the pod in spec.handover.acceptLostManagers."
		}
		doubts = append(doubts, doubt)
	}
	for _, process := range p.facts.Handover.Processes {
		if process.EndedAt == nil && !named[process.PodUID] {
			doubts = append(doubts, p.unended(kcm, process))
		}
	}
	slices.Sort(doubts)
	return doubts
}

// unended says why a recorded process counts as running, and what a person can do about it.
func (p *pass) unended(kcm observation.Component, process ucv1.ManagerProcess) string {
	name := "Pod " + kcm.Namespace + "/" + process.PodName
	if process.VanishedAt == nil {
		return name + " may run cloud loops and was not seen to end."
	}
	if process.ConfigHash != "" {
		return name + " vanished and its process was not seen to end; waiting for Node " + process.NodeName + " to show another one running in its place. " +
			"If that Node is lost and you know that the process has ended, name the pod in spec.handover.acceptLostManagers."
	}
	return fmt.Sprintf("%s vanished and its process was not seen to end; waiting for the kubelet of Node %s to outlive it by %d s. "+
		"If that Node is lost and you know that the process has ended, name the pod in spec.handover.acceptLostManagers.",
		name, process.NodeName, process.GracePeriodSeconds+30)
}

// leaseDoubt reads KCM's Lease as a witness against silence, never for it.
func (p *pass) leaseDoubt(kcm observation.Component) string {
	if !elects(kcm) {
		return ""
	}
	lease, known := p.o.KCMLease.Get()
	switch {
	case p.o.KCMLease.IsAbsent():
		if kcm.Replicas == 0 {
			return ""
		}
		namespace, name := kcm.Arguments.LeaderLease()
		return "KCM elects a leader, but Lease " + namespace + "/" + name + " does not exist."
	case !known:
		return "Could not look at KCM's Lease: " + p.o.KCMLease.Why() + "."
	case lease.Holder == "" || heldBySilentPod(lease, kcm) || p.heldByTheDead(lease):
		return ""
	}
	if wait := leaseExpiry(lease, kcm.Arguments, p.now); wait > 0 {
		return lease.String() + " is held by " + lease.Holder + ", which is no KCM process that is known to be silent."
	}
	return ""
}

// heldBySilentPod: the identity begins with the pod's hostname, and with hostNetwork old and new pods share that, so
// the Lease must have been acquired after the container started.
func heldBySilentPod(lease observation.Lease, kcm observation.Component) bool {
	return slices.ContainsFunc(kcm.Pods, func(process observation.Process) bool {
		return !mayRunLoops(process) && process.Started && !process.Ended &&
			heldBy(lease, process.PodName, process.NodeName, process.Hostname) && !lease.AcquireTime.Before(process.StartedAt)
	})
}

// heldByTheDead rests on an end that was seen. One that was concluded after the pod had vanished says only when we
// concluded it, and a holder that still renews contradicts it: there the Lease has to run out.
func (p *pass) heldByTheDead(lease observation.Lease) bool {
	return slices.ContainsFunc(p.facts.Handover.Processes, func(process ucv1.ManagerProcess) bool {
		return process.EndedAt != nil && process.VanishedAt == nil && heldBy(lease, process.PodName, process.NodeName) &&
			!lease.ChangedAt.After(process.EndedAt.Add(deliverySkew))
	})
}

// elects: of static pods, one that takes part in the election is enough.
func elects(kcm observation.Component) bool {
	return kcm.Arguments.True("leader-elect", true) || slices.ContainsFunc(kcm.Pods, func(process observation.Process) bool {
		return process.ConfigHash != "" && !process.Ended && process.Arguments.True("leader-elect", true)
	})
}

func heldBy(lease observation.Lease, hostnames ...string) bool {
	return slices.ContainsFunc(hostnames, func(hostname string) bool {
		return hostname != "" && strings.HasPrefix(lease.Holder, hostname+"_")
	})
}

// leaseExpiry is how long an unknown holder still has to be waited for, on our clock: the larger of the lease duration
// and the renew deadline plus retry period. The three default to 15, 10 and 2 seconds upstream.
func leaseExpiry(lease observation.Lease, arguments observation.Arguments, now time.Time) time.Duration {
	last := lease.ChangedAt
	if lease.WatchedAt.After(last) {
		last = lease.WatchedAt
	}
	deadline := arguments.Duration("leader-elect-renew-deadline", 10*time.Second) + arguments.Duration("leader-elect-retry-period", 2*time.Second)
	return max(time.Duration(lease.DurationSeconds)*time.Second, 15*time.Second, deadline) - now.Sub(last)
}

// guard is the proof's re-check at every pass after the hand-over.
func (p *pass) guard() outcome.Outcome {
	controlPlane, known := p.o.ControlPlane.Get()
	switch {
	case p.o.ControlPlane.IsAbsent():
		return outcome.Fails(ucv1.CloudLoopsContendedReason, p.kcmMissing())
	case !known:
		return outcome.CannotLook("the control plane", p.o.ControlPlane.Why())
	}
	if loud := p.loud(controlPlane.KCM); loud != "" {
		return outcome.Fails(ucv1.CloudLoopsContendedReason, loud)
	}
	return outcome.Holds(ucv1.HoldsReason, "KCM is silent and the CCM was handed the cloud loops.")
}

// loud names what may run cloud loops in KCM again, and who made it so; empty when nothing does.
func (p *pass) loud(kcm observation.Component) string {
	if mayRunLoops(observation.Process{Arguments: kcm.Arguments}) {
		return contended(kcm)
	}
	for _, process := range kcm.Pods {
		if !process.Ended && mayRunLoops(process) {
			return "Pod " + kcm.Namespace + "/" + process.PodName + " may run cloud loops again. End it; nothing is rolled until then."
		}
	}
	return ""
}

func contended(kcm observation.Component) string {
	return kcm.String() + " may run cloud loops again; its arguments were changed by " + owner(kcm) +
		". Switch the loops off where that gets its arguments from; nothing is rolled until then."
}

// closesFence says that KCM was seen to run cloud loops again, and not only that it could: where no one runs them, the
// fence stays open.
func (p *pass) closesFence() bool {
	controlPlane, known := p.o.ControlPlane.Get()
	return known && p.o.Fence.IsKnown() && len(runningLoops(controlPlane.KCM)) > 0 &&
		p.o.Cluster.Spec.Handover.OnContention != ucv1.ReportContention
}

// beginAgain notes that the hand-over is undone: it is walked again, and begins with who runs the cloud loops now. KCM is
// not changed again: that would be a fight. It is noted before the fence is closed, so that nothing opens it again
// without the proof.
func (p *pass) beginAgain() outcome.Outcome {
	kcm, handover := p.o.ControlPlane.Value().KCM, p.facts.Handover
	handover.ContendedAt, handover.StartedAt, handover.LoopsOffAt = p.stamp(), p.stamp(), p.stamp()
	handover.FinishedAt, handover.FenceOpenedAt, handover.WorkloadAllowedAt = nil, nil, nil
	handover.Processes = nil
	p.addProcesses(kcm)
	out := outcome.Fails(ucv1.CloudLoopsContendedReason, p.loud(kcm))
	out.Verb = &outcome.Verb{Kind: outcome.VerbRecord, Why: "Recording that KCM may run cloud loops again."}
	return out
}

// contention takes the cloud loops from the CCM while KCM runs them: two managers must not.
func (p *pass) contention(message string) outcome.Outcome {
	out := outcome.Fails(ucv1.CloudLoopsContendedReason, message)
	if fence := p.o.Fence.Value(); fence.Open && p.closesFence() {
		out.Verb = &outcome.Verb{Kind: outcome.VerbCloseFence, Why: "Closing the fence, so that the CCM ends. " + message}
	}
	return out
}

// loopsAreBack is known when KCM runs cloud loops that we had switched off, and absent when it does not.
func (p *pass) loopsAreBack() observation.Observed[bool] {
	controlPlane, known := p.o.ControlPlane.Get()
	handover := p.facts.Handover
	switch {
	case handover == nil || handover.LoopsOffAt == nil && handover.LockArmedAt == nil || p.o.ControlPlane.IsAbsent():
		return observation.Absent[bool]()
	case !known:
		return observation.Unknown[bool](p.o.ControlPlane.Why())
	case handover.LoopsOffAt == nil && armed(controlPlane.KCM.Arguments):
		return observation.Absent[bool]() // It runs them while it holds the migration lock.
	case len(controlPlane.KCM.Arguments.CloudLoops()) > 0, handover.ContendedAt != nil && p.loud(controlPlane.KCM) != "":
		return observation.Known(true)
	}
	return observation.Absent[bool]()
}

// noStrangerLeads looks at KCM's Lease before Machines are replaced and before the end: a KCM of another Deployment shows
// there only. It waits instead of failing, because every restart of KCM leaves a Lease of a pod that is gone for a moment.
func (p *pass) noStrangerLeads() outcome.Outcome {
	controlPlane, known := p.o.ControlPlane.Get()
	if !known {
		return outcome.CannotLook("the control plane", p.o.ControlPlane.Why())
	}
	if doubt := p.leaseDoubt(controlPlane.KCM); doubt != "" {
		return outcome.WaitsUntil(ucv1.ProvingSilenceReason, doubt, 2*time.Second)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}
