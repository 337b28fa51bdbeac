package simulation

import (
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Bootstraps are what the operating-system-manager writes for new Machines.
type Bootstraps struct {
	w *World

	// Slow is how long that takes.
	Slow time.Duration
	// InTree are MachineDeployments whose profile has a flag of its own.
	InTree []string
}

// Written says that the operating-system-manager wrote the bootstrap data of a MachineSet.
func (bs *Bootstraps) Written(s *MachineSet) bool {
	return !bs.w.Now.Before(s.CreatedAt.Add(bs.Slow))
}

// step has the data of each present MachineSet written again when its MachineDeployment gets an annotation: the
// operating-system-manager has all of them in its hash, and renders with the flags that it has then.
// https://github.com/kubermatic/operating-system-manager/blob/9131d368/pkg/controllers/osc/osc_controller.go#L481
func (bs *Bootstraps) step() {
	every := bs.w.Traits.AnnotatedEvery
	if every == 0 || bs.w.Now.Unix()%int64(every.Seconds()) != 0 {
		return
	}
	external, running := bs.w.ControlPlane.Runs("operating-system-manager", "external-cloud-provider")
	if !running {
		return
	}
	for _, d := range bs.w.Machines.Deployments {
		for _, s := range bs.w.Machines.SetsOf(d) {
			if d.Current(s) {
				s.External = external && !bs.profiled(d)
			}
		}
	}
}

// profiled says that the OperatingSystemProfile of a MachineDeployment has an in-tree flag of its own, whatever the
// operating-system-manager's is. A canary has that of its target.
func (bs *Bootstraps) profiled(d *MachineDeployment) bool {
	name := d.Name
	if canary := bs.w.Facts().Canary; d.Guard.Canary && canary != nil {
		name = canary.MachineDeployment
	}
	return slices.ContainsFunc(
		bs.InTree,
		func(profile string) bool { return name == profile || name == d.Namespace+"/"+profile },
	)
}

// observe is what can be read: until the data of the newest MachineSet is written, that of the one before.
func (bs *Bootstraps) observe(deployments []observation.Ref) observation.Observed[map[string]observation.BootstrapData] {
	if len(deployments) == 0 {
		return observation.Absent[map[string]observation.BootstrapData]()
	}
	seen := map[string]observation.BootstrapData{}
	for _, ref := range deployments {
		at := slices.IndexFunc(bs.w.Machines.Deployments, func(d *MachineDeployment) bool { return d.UID == ref.UID })
		if at >= 0 {
			seen[ref.UID] = bs.observeOf(bs.w.Machines.Deployments[at])
		}
	}
	return observation.Known(seen)
}

func (bs *Bootstraps) observeOf(d *MachineDeployment) observation.BootstrapData {
	sets := slices.DeleteFunc(bs.w.Machines.SetsOf(d), func(s *MachineSet) bool { return !bs.Written(s) })
	slices.SortStableFunc(sets, func(a, b *MachineSet) int { return a.CreatedAt.Compare(b.CreatedAt) })
	switch {
	case bs.w.Traits.WithoutOperatingSystemManager || len(sets) == 0:
		return observation.BootstrapData{Kubelet: observation.BootstrapMissing}
	case bs.w.Traits.UnreadBootstrap != "":
		return observation.BootstrapData{Kubelet: bs.w.Traits.UnreadBootstrap}
	}
	last := sets[len(sets)-1]
	data := observation.BootstrapData{Kubelet: observation.BootstrapInTree, Revision: last.UID}
	if last.External {
		data.Kubelet = observation.BootstrapExternal
	}
	return data
}
