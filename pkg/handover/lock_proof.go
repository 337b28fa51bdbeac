package handover

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Armed says that a process has our lock: it runs the migrated loops only while it holds that.
func Armed(arguments observation.Arguments) bool {
	path, _ := arguments.Flag("leader-migration-config")
	return arguments.Understood() && path == LockPath && arguments.True("enable-leader-migration", false) &&
		arguments.True("leader-elect", true)
}

// KeepsLock says that the arguments have anything of the lock. KCM was refused when it had a lock of its own, so it is ours; and
// one without the path has the lock of upstream's default, which has the same name.
// https://github.com/kubernetes/controller-manager/blob/v0.30.14/pkg/leadermigration/config/default.go
func KeepsLock(arguments observation.Arguments) bool {
	_, path := arguments.Flag("leader-migration-config")
	return path || arguments.True("enable-leader-migration", false)
}

// MayRunUnlocked says that a process may run cloud loops whoever holds the lock.
func MayRunUnlocked(arguments observation.Arguments) bool {
	return MayRunLoops(observation.Process{Arguments: arguments}) && !Armed(arguments)
}

// LockDoubts is what stands between us and a CCM that leads with the lock: every KCM process that could run cloud loops
// without it has to have ended. It is the proof of silence, with armed processes taken for silent.
func LockDoubts(in In) []observation.Text {
	controlPlane, known := in.ControlPlane.Get()
	if !known {
		return []observation.Text{observation.Say("Could not look at the control plane: " + in.ControlPlane.Why() + ".")}
	}
	kcm := controlPlane.KCM
	var doubts []observation.Text
	if MayRunUnlocked(kcm.Arguments) {
		doubts = append(doubts, observation.Say(kcm, " would start pods that run cloud loops without the migration lock."))
	}
	if !kcm.RolledOut {
		doubts = append(doubts, observation.Say(kcm, " is still rolling out."))
	}
	if in.Static && len(kcm.Unseen) > 0 {
		doubts = append(doubts, observation.FirstOf(kcm.Unseen, "Node", "Nodes"))
	}
	if processes := unlockedProcesses(in, kcm); len(processes) > 0 {
		doubts = append(doubts, observation.FirstOf(processes, "process", "processes"))
	}
	if len(doubts) > 0 {
		return doubts
	}
	lease, known := in.KCMLease.Get()
	if known && HeldByArmedPod(lease, kcm) {
		return nil
	}
	if doubt := LeaseDoubt(in); doubt.Words != "" {
		return []observation.Text{doubt}
	}
	return nil
}

func unlockedProcesses(in In, kcm observation.Component) []observation.Text {
	ended, seen := map[string]bool{}, map[string]bool{}
	for _, process := range in.Processes {
		ended[process.PodUID] = process.EndedAt != nil
	}
	var doubts []observation.Text
	for _, process := range kcm.Pods {
		seen[process.PodUID] = true
		// A static pod that shows loops runs them, whatever was concluded of a process before it.
		gone := process.Ended || ended[process.PodUID] && process.ConfigHash == ""
		if !gone && MayRunUnlocked(process.Arguments) {
			doubts = append(doubts, observation.Say(podOf(kcm, process.PodName), " may run cloud loops without the migration lock."))
		}
	}
	for _, process := range in.Processes {
		if process.EndedAt == nil && !seen[process.PodUID] {
			doubts = append(doubts, unended(kcm, process))
		}
	}
	return observation.SortTexts(doubts)
}

// HeldByArmedPod is HeldBySilentPod for pods with the lock.
func HeldByArmedPod(lease observation.Lease, kcm observation.Component) bool {
	return slices.ContainsFunc(kcm.Pods, func(process observation.Process) bool {
		return Armed(process.Arguments) && process.Started && !process.Ended &&
			HeldBy(lease, process.PodName, process.NodeName, process.Hostname) && !lease.AcquireTime.Before(process.StartedAt)
	})
}
