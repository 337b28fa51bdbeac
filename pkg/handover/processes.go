package handover

import (
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// RecordProcesses adds those of KCM that may run loops and are not recorded.
func RecordProcesses(processes []ucv1.ManagerProcess, kcm observation.Component) []ucv1.ManagerProcess {
	recorded := map[string]bool{}
	for _, process := range processes {
		recorded[process.PodUID] = true
	}
	for _, process := range kcm.Pods {
		if recorded[process.PodUID] || process.Ended || !MayRunLoops(process) {
			continue
		}
		processes = append(processes, ucv1.ManagerProcess{
			PodUID: process.PodUID, PodName: process.PodName, NodeName: process.NodeName, BootID: process.BootID,
			ContainerID: process.ContainerID, GracePeriodSeconds: process.GracePeriodSeconds,
			ConfigHash: process.ConfigHash, SystemUUID: process.SystemUUID,
		})
	}
	return dropEnded(processes, len(processes)-MaxProcesses)
}

// dropEnded forgets the oldest of those that have ended, at most that many. One that may still run is never forgotten:
// a list of those that is too long is refused by the API, and nothing goes on.
func dropEnded(processes []ucv1.ManagerProcess, most int) []ucv1.ManagerProcess {
	return slices.DeleteFunc(processes, func(process ucv1.ManagerProcess) bool {
		drop := most > 0 && process.EndedAt != nil
		if drop {
			most--
		}
		return drop
	})
}

// MayRunLoops says that a process may run cloud loops. One whose readable arguments show the loops off never can; one that we
// cannot read may.
func MayRunLoops(process observation.Process) bool {
	return !process.Arguments.Understood() || len(process.Arguments.CloudLoops()) > 0
}

// MaxProcesses is the bound of status.handover.processes.
const MaxProcesses = 20
