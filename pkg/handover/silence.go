package handover

import (
	"fmt"
	"slices"
	"strings"
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
func Doubts(in In) []string {
	var doubts []string
	for _, item := range Prove(in) {
		if item.State != ucv1.ProvenState && item.Message != "" {
			doubts = append(doubts, item.Message)
		}
	}
	return doubts
}

// Prove says the same item by item, for people. The Lease is asked last: while KCM runs loops it says nothing new.
func Prove(in In) []ucv1.ProofItem {
	controlPlane, known := in.ControlPlane.Get()
	if !known {
		why := "Could not look at the control plane: " + in.ControlPlane.Why() + "."
		return []ucv1.ProofItem{{Name: "Template", State: ucv1.UnknownState, Message: why}}
	}
	kcm := controlPlane.KCM
	items := []ucv1.ProofItem{
		proofItem("Template", MayRunLoops(observation.Process{Arguments: kcm.Arguments}), kcm.String()+" would start pods that run "+
			"cloud loops."),
		proofItem("Rollout", !kcm.RolledOut, kcm.String()+" is still rolling out."),
	}
	if in.Static {
		items = append(items, proofItem("Nodes", len(kcm.Unseen) > 0, strings.Join(kcm.Unseen, " ")))
	}
	processes := processDoubts(in, kcm)
	items = append(items, proofItem("Processes", len(processes) > 0, strings.Join(processes, " ")))
	for _, item := range items {
		if item.State != ucv1.ProvenState {
			return append(items, ucv1.ProofItem{Name: "Lease", State: ucv1.UnknownState})
		}
	}
	doubt := LeaseDoubt(in)
	lease := proofItem("Lease", doubt != "", doubt)
	if doubt != "" && in.KCMLease.IsUnknown() {
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
func processDoubts(in In, kcm observation.Component) []string {
	ended := map[string]bool{}
	for _, process := range in.Processes {
		ended[process.PodUID] = process.EndedAt != nil
	}
	named := map[string]bool{}
	var doubts []string
	for _, process := range kcm.Pods {
		// A static pod that shows loops runs them, whatever was concluded of a process before it.
		if process.Ended || ended[process.PodUID] && process.ConfigHash == "" || !MayRunLoops(process) {
			continue
		}
		named[process.PodUID] = true
		doubt := "Pod " + kcm.Namespace + "/" + process.PodName + " may run cloud loops."
		if process.Finished {
			doubt += " No one saw its process end: make sure that it has, and name the pod in spec.handover.acceptLostManagers."
		}
		doubts = append(doubts, doubt)
	}
	for _, process := range in.Processes {
		if process.EndedAt == nil && !named[process.PodUID] {
			doubts = append(doubts, unended(kcm, process))
		}
	}
	slices.Sort(doubts)
	return doubts
}

// unended says why a recorded process counts as running, and what a person can do about it.
func unended(kcm observation.Component, process ucv1.ManagerProcess) string {
	name := "Pod " + kcm.Namespace + "/" + process.PodName
	if process.VanishedAt == nil {
		return name + " may run cloud loops and was not seen to end."
	}
	if process.ConfigHash != "" {
		return name + " vanished and its process was not seen to end; waiting for Node " + process.NodeName +
			" to show another one running in its place. If that Node is lost and you know that the process has ended, name the pod in " +
			"spec.handover.acceptLostManagers."
	}
	return fmt.Sprintf("%s vanished and its process was not seen to end; waiting for the kubelet of Node %s to outlive it by %d s. "+
		"If that Node is lost and you know that the process has ended, name the pod in spec.handover.acceptLostManagers.",
		name, process.NodeName, process.GracePeriodSeconds+30)
}

// LeaseDoubt reads KCM's Lease as a witness against silence, never for it.
func LeaseDoubt(in In) string {
	kcm := in.ControlPlane.Value().KCM
	if !Elects(kcm) {
		return ""
	}
	lease, known := in.KCMLease.Get()
	switch {
	case in.KCMLease.IsAbsent():
		if kcm.Replicas == 0 {
			return ""
		}
		namespace, name := kcm.Arguments.LeaderLease()
		return "KCM elects a leader, but Lease " + namespace + "/" + name + " does not exist."
	case !known:
		return "Could not look at KCM's Lease: " + in.KCMLease.Why() + "."
	case lease.Holder == "" || HeldBySilentPod(lease, kcm) || HeldByTheDead(in.Processes, lease):
		return ""
	}
	if wait := LeaseExpiry(lease, kcm.Arguments, in.Now); wait > 0 {
		return lease.String() + " is held by " + lease.Holder + ", which is no KCM process that is known to be silent."
	}
	return ""
}
