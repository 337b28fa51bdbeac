package simulation

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// truth is what was so at the moment of looking: the controller can know no better.
type truth struct {
	// busy is the number of MachineDeployments that roll or do not serve in full, names their UIDs.
	busy  int
	names []string
	// back is the number of those that are being rolled back.
	back int
	// led says that the CCM led a moment ago, or that there is no Node to lead for.
	led bool
	// initializing says that a CCM with the loop cloud-node led a moment ago, or that there is no Node to lead for.
	initializing bool
	// unconfigured is a Deployment of the machine-controller with a process without its flag.
	unconfigured string
	// configured is one with a process that has its flag.
	configured string
	// free is a CCM of someone else's that no Lease of ours holds.
	free string
	// defaults are the names of the default StorageClasses, and those of the in-tree plugin among them.
	defaults, inTreeDefaults []string
	// attached is how many in-tree volumes the CSI driver has attached.
	attached int
	// unproven are Nodes and Machines that are not what the migration promises.
	unproven []string
}

// idle are those of the objects that are not counted as busy yet.
func (t truth) idle(objects []observation.Ref) []observation.Ref {
	return slices.DeleteFunc(
		slices.Clone(objects),
		func(object observation.Ref) bool { return slices.Contains(t.names, object.UID) },
	)
}

func (w *World) truth() truth {
	lately := func(t time.Time) bool { return len(w.nodes.all) == 0 || w.now.Sub(t) <= leaseDuration+retryPeriod }
	t := truth{led: lately(w.invariants.lastLed), initializing: lately(w.invariants.lastInitializing)}
	for _, d := range w.machines.deployments {
		if !d.guard.canary && busy(w, d) {
			t.busy++
			t.names = append(t.names, d.uid)
			if w.undoing() && d.restart != "" && d.restart == w.generation() {
				t.back++
			}
		}
	}
	t.unconfigured, t.configured = machineControllerFlags(w)
	t.unproven, t.free = unproven(w), freeManager(w)
	t.defaults, t.attached = w.storage.defaults(), len(w.storage.attachments)
	for _, name := range t.defaults {
		if w.storage.class(name).Provisioner == InTreePlugin {
			t.inTreeDefaults = append(t.inTreeDefaults, name)
		}
	}
	return t
}

func machineControllerFlags(w *World) (unconfigured, configured string) {
	for _, d := range w.controlPlane.workloads {
		if denied(w, d) {
			continue
		}
		for _, p := range d.pods {
			on := p.arguments[strings.TrimLeft(d.flag, "-")] == "true"
			switch {
			case d.flag == "" || !p.process.alive():
			case on:
				configured = d.name
			default:
				unconfigured = d.name
			}
		}
	}
	return unconfigured, configured
}

// denied is an operating-system-manager of which a person says that there is none: what it does is not the controller's doing.
func denied(w *World, d *workload) bool {
	none := w.cluster.Spec.MachineController.OperatingSystemManager.Mode == ucv1.OperatingSystemManagerNone
	return none && d.name == string(observation.OperatingSystemManager)
}

func busy(w *World, d *machineDeployment) bool {
	if !d.settled || d.observed != d.generation {
		return !d.deleting
	}
	for _, m := range w.machines.all {
		s := w.machines.setOf(m)
		if s == nil || s.deployment != d.uid {
			continue
		}
		if n := w.nodes.of(m); m.deleting() || n == nil || !n.ready || n.tainted {
			return true
		}
	}
	return false
}

func unproven(w *World) []string {
	var names []string
	for _, n := range w.nodes.all {
		proven := n.external && !n.tainted && n.csi && n.machine != "" && strings.HasPrefix(n.providerID, providerIDPrefix)
		if !proven && !slices.Contains(w.cluster.Spec.Rollout.AcceptNodes, n.name) {
			names = append(names, "Node "+n.name)
		}
	}
	for _, m := range w.machines.all {
		if !m.external {
			names = append(names, "Machine "+m.name)
		}
	}
	return names
}

// undoTurned says that KCM may run the loops already: the rows of an undo have another order then.
func undoTurned(w *World) bool {
	if w.facts().Rollback == nil {
		return false
	}
	loud := func(arguments map[string]string) bool {
		return len((observation.Arguments{Flags: arguments}).CloudLoops()) > 0
	}
	return loud(w.controlPlane.kcm().arguments) || slices.ContainsFunc(w.controlPlane.kcm().pods, func(p *pod) bool { return loud(p.arguments) })
}

// budget is computed apart from the code under test.
func budget(w *World) int {
	most := w.cluster.Spec.Rollout.MaxConcurrent
	if most == nil {
		return 1
	}
	if most.Type == intstr.Int {
		return most.IntValue()
	}
	percent, err := strconv.Atoi(strings.TrimSuffix(most.StrVal, "%"))
	if err != nil || percent <= 0 {
		return 0
	}
	pools := slices.DeleteFunc(slices.Clone(w.machines.deployments), func(d *machineDeployment) bool { return d.guard.canary })
	return max(1, len(pools)*percent/100)
}
