package simtest

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
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
	lately := func(t time.Time) bool {
		return len(w.Nodes.All) == 0 || w.Now.Sub(t) <= simulation.LeaseDuration+simulation.RetryPeriod
	}
	t := truth{led: lately(w.invariants.lastLed), initializing: lately(w.invariants.lastInitializing)}
	for _, d := range w.Machines.Deployments {
		if !d.Guard.Canary && busy(w, d) {
			t.busy++
			t.names = append(t.names, d.UID)
			if w.rollingBack() && d.Restart != "" && d.Restart == w.generation() {
				t.back++
			}
		}
	}
	t.unconfigured, t.configured = machineControllerFlags(w)
	t.unproven, t.free = unproven(w), freeManager(w)
	t.defaults, t.attached = w.Storage.Defaults(), len(w.Storage.Attachments)
	for _, name := range t.defaults {
		if w.Storage.Class(name).Provisioner == simulation.InTreePlugin {
			t.inTreeDefaults = append(t.inTreeDefaults, name)
		}
	}
	return t
}

func machineControllerFlags(w *World) (unconfigured, configured string) {
	for _, d := range w.ControlPlane.Workloads {
		if denied(w, d) {
			continue
		}
		for _, p := range d.Pods {
			on := p.Arguments[strings.TrimLeft(d.Flag, "-")] == "true"
			switch {
			case d.Flag == "" || !p.Process.Alive():
			case on:
				configured = d.Name
			default:
				unconfigured = d.Name
			}
		}
	}
	return unconfigured, configured
}

// denied is an operating-system-manager of which a person says that there is none: what it does is not the controller's doing.
func denied(w *World, d *simulation.Workload) bool {
	none := w.Cluster.Spec.MachineController.OperatingSystemManager.Mode == ucv1.OperatingSystemManagerNone
	return none && d.Name == string(observation.OperatingSystemManager)
}

func busy(w *World, d *simulation.MachineDeployment) bool {
	if !d.Settled || d.Observed != d.Generation {
		return !d.Deleting
	}
	for _, m := range w.Machines.All {
		s := w.Machines.SetOf(m)
		if s == nil || s.Deployment != d.UID {
			continue
		}
		if n := w.Nodes.Of(m); m.Deleting() || n == nil || !n.Ready || n.Tainted {
			return true
		}
	}
	return false
}

func unproven(w *World) []string {
	var names []string
	for _, n := range w.Nodes.All {
		proven := n.External && !n.Tainted && n.CSI && n.Machine != "" && strings.HasPrefix(n.ProviderID, simulation.ProviderIDPrefix)
		if !proven && !slices.Contains(w.Cluster.Spec.Rollout.AcceptNodes, n.Name) {
			names = append(names, "Node "+n.Name)
		}
	}
	for _, m := range w.Machines.All {
		if !m.External {
			names = append(names, "Machine "+m.Name)
		}
	}
	return names
}

// rollbackTurned says that KCM may run the loops already: the rows of a rollback have another order then.
func rollbackTurned(w *World) bool {
	if w.Facts().Rollback == nil {
		return false
	}
	loud := func(arguments map[string]string) bool {
		return len((observation.Arguments{Flags: arguments}).CloudLoops()) > 0
	}
	kcm := w.ControlPlane.KCM()
	return loud(kcm.Arguments) || slices.ContainsFunc(kcm.Pods, func(p *simulation.Pod) bool { return loud(p.Arguments) })
}

// budget is computed apart from the code under test.
func budget(w *World) int {
	most := w.Cluster.Spec.Rollout.MaxConcurrent
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
	canary := func(d *simulation.MachineDeployment) bool { return d.Guard.Canary }
	pools := slices.DeleteFunc(slices.Clone(w.Machines.Deployments), canary)
	return max(1, len(pools)*percent/100)
}
