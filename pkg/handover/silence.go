package handover

import (
	"fmt"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// In is all that the silence of KCM is proven from.
type In struct {
	ControlPlane observation.Observed[observation.ControlPlane]
	KCMLease     observation.Observed[observation.Lease]
	// Processes are those that were recorded before KCM was changed.
	Processes []ucv1.ManagerProcess
	// Static says that KCM runs in static pods.
	Static bool
	Now    time.Time
}

// Doubts lists what stands between us and the proof that KCM runs no cloud loop. A loop runs only in a process, so
// every process that could run one is accounted for; the Lease can only contradict.
//
//	recorded processes ──► each was seen to end
//	live pods ───────────► each one's own arguments show the loops off
//	Lease ───────────────► held by such a pod, or not renewed since its holder's end
func Doubts(in In) []observation.Text {
	var doubts []observation.Text
	for _, item := range prove(in) {
		if item.state != ucv1.ProvenState && item.doubt.Words != "" {
			doubts = append(doubts, item.doubt)
		}
	}
	return doubts
}

// Prove says the same item by item, for people.
func Prove(in In) []ucv1.ProofItem {
	var items []ucv1.ProofItem
	for _, item := range prove(in) {
		items = append(items, ucv1.ProofItem{Name: item.name, State: item.state, Message: item.doubt.Words})
	}
	return items
}

// proofItem is one part of the proof, and the doubt while it is not proven.
type proofItem struct {
	name  string
	state ucv1.ProofState
	doubt observation.Text
}

// prove asks the Lease last: while KCM runs loops it says nothing new.
func prove(in In) []proofItem {
	controlPlane, known := in.ControlPlane.Get()
	if !known {
		why := observation.Say("Could not look at the control plane: " + in.ControlPlane.Why() + ".")
		return []proofItem{{name: "Template", state: ucv1.UnknownState, doubt: why}}
	}
	kcm := controlPlane.KCM
	items := []proofItem{
		itemOf("Template", MayRunLoops(observation.Process{Arguments: kcm.Arguments}), kcm, " would start pods that run cloud loops."),
		itemOf("Rollout", !kcm.RolledOut, kcm, " is still rolling out."),
	}
	if in.Static {
		items = append(items, itemOf("Nodes", len(kcm.Unseen) > 0, observation.FirstOf(kcm.Unseen, "Node", "Nodes")))
	}
	processes := processDoubts(in, kcm)
	items = append(items, itemOf("Processes", len(processes) > 0, observation.FirstOf(processes, "process", "processes")))
	for _, item := range items {
		if item.state != ucv1.ProvenState {
			return append(items, proofItem{name: "Lease", state: ucv1.UnknownState})
		}
	}
	doubt := LeaseDoubt(in)
	lease := itemOf("Lease", doubt.Words != "", doubt)
	if doubt.Words != "" && in.KCMLease.IsUnknown() {
		lease.state = ucv1.UnknownState
	}
	return append(items, lease)
}

func itemOf(name string, doubtful bool, doubt ...any) proofItem {
	if doubtful {
		return proofItem{name: name, state: ucv1.NotProvenState, doubt: observation.Say(doubt...)}
	}
	return proofItem{name: name, state: ucv1.ProvenState}
}

// processDoubts names every process that may run, once.
func processDoubts(in In, kcm observation.Component) []observation.Text {
	ended := map[string]bool{}
	for _, process := range in.Processes {
		ended[process.PodUID] = process.EndedAt != nil
	}
	named := map[string]bool{}
	var doubts []observation.Text
	for _, process := range kcm.Pods {
		// A static pod that shows loops runs them, whatever was concluded of a process before it.
		if process.Ended || ended[process.PodUID] && process.ConfigHash == "" || !MayRunLoops(process) {
			continue
		}
		named[process.PodUID] = true
		doubt := observation.Say(podOf(kcm, process.PodName), " may run cloud loops.")
		if process.Finished {
			doubt.Words += " No one saw its process end: make sure that it has, and name the pod in spec.handover.acceptLostManagers."
		}
		doubts = append(doubts, doubt)
	}
	for _, process := range in.Processes {
		if process.EndedAt == nil && !named[process.PodUID] {
			doubts = append(doubts, unended(kcm, process))
		}
	}
	return observation.SortTexts(doubts)
}

// unended says why a recorded process counts as running, and what a person can do about it.
func unended(kcm observation.Component, process ucv1.ManagerProcess) observation.Text {
	pod, node := podOf(kcm, process.PodName), observation.NodeRef(process.NodeName)
	if process.VanishedAt == nil {
		return observation.Say(pod, " may run cloud loops and was not seen to end.")
	}
	if process.ConfigHash != "" {
		return observation.Say(pod, " vanished and its process was not seen to end; waiting for ", node,
			" to show another one running in its place. If that Node is lost and you know that the process has ended, name the pod in "+
				"spec.handover.acceptLostManagers.")
	}
	return observation.Say(pod, " vanished and its process was not seen to end; waiting for the kubelet of ", node,
		fmt.Sprintf(" to outlive it by %d s. If that Node is lost and you know that the process has ended, name the pod in "+
			"spec.handover.acceptLostManagers.", process.GracePeriodSeconds+30))
}

// LeaseDoubt reads KCM's Lease as a witness against silence, never for it.
func LeaseDoubt(in In) observation.Text {
	kcm := in.ControlPlane.Value().KCM
	if !Elects(kcm) {
		return observation.Text{}
	}
	lease, known := in.KCMLease.Get()
	switch {
	case in.KCMLease.IsAbsent():
		if kcm.Replicas == 0 {
			return observation.Text{}
		}
		namespace, name := kcm.Arguments.LeaderLease()
		lease := observation.Ref{Kind: "Lease", Namespace: namespace, Name: name}
		return observation.Say("KCM elects a leader, but ", lease, " does not exist.")
	case !known:
		return observation.Say("Could not look at KCM's Lease: " + in.KCMLease.Why() + ".")
	case lease.Holder == "" || HeldBySilentPod(lease, kcm) || HeldByTheDead(in.Processes, lease):
		return observation.Text{}
	}
	if wait := LeaseExpiry(lease, kcm.Arguments, in.Now); wait > 0 {
		return observation.Say(lease, " is held by "+lease.Holder+", and we could not prove that this is a stopped KCM.")
	}
	return observation.Text{}
}
