package simulation

import (
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Bootstraps are what the operating-system-manager writes for new Machines.
type Bootstraps struct {
	w *World

	// slow is how long that takes.
	slow time.Duration
	// inTree are MachineDeployments whose profile has a flag of its own.
	inTree []string
}

// written says that the operating-system-manager wrote the bootstrap data of a MachineSet.
func (bs *Bootstraps) written(s *machineSet) bool {
	return !bs.w.now.Before(s.createdAt.Add(bs.slow))
}

// profiled says that the OperatingSystemProfile of a MachineDeployment has an in-tree flag of its own, whatever the
// operating-system-manager's is. A canary has that of its target.
func (bs *Bootstraps) profiled(d *machineDeployment) bool {
	name := d.name
	if canary := bs.w.facts().Canary; d.guard.canary && canary != nil {
		name = canary.MachineDeployment
	}
	return slices.ContainsFunc(
		bs.inTree,
		func(profile string) bool { return name == profile || name == d.namespace+"/"+profile },
	)
}

// FixProfiles takes that flag out of every profile, which has the data written again, and deletes the Machines that booted with
// it.
func FixProfiles(w *World) {
	w.bootstraps.inTree = nil
	for _, s := range w.machines.sets {
		ours := func(d *machineDeployment) bool {
			return d.uid == s.deployment && d.current(s) && (d.guard.canary || s.restart != "" && s.restart == w.facts().RollGeneration)
		}
		if !slices.ContainsFunc(w.machines.deployments, ours) {
			continue
		}
		s.external = true
		for _, m := range w.machines.of(s) {
			if !m.external {
				w.machines.delete(m)
			}
		}
	}
}

// observe is what can be read: until the data of the newest MachineSet is written, that of the one before.
func (bs *Bootstraps) observe(deployments []observation.Ref) observation.Observed[map[string]observation.BootstrapData] {
	if len(deployments) == 0 {
		return observation.Absent[map[string]observation.BootstrapData]()
	}
	seen := map[string]observation.BootstrapData{}
	for _, ref := range deployments {
		at := slices.IndexFunc(bs.w.machines.deployments, func(d *machineDeployment) bool { return d.uid == ref.UID })
		if at >= 0 {
			seen[ref.UID] = bs.observeOf(bs.w.machines.deployments[at])
		}
	}
	return observation.Known(seen)
}

func (bs *Bootstraps) observeOf(d *machineDeployment) observation.BootstrapData {
	sets := slices.DeleteFunc(bs.w.machines.setsOf(d), func(s *machineSet) bool { return !bs.written(s) })
	slices.SortStableFunc(sets, func(a, b *machineSet) int { return a.createdAt.Compare(b.createdAt) })
	switch {
	case bs.w.traits.WithoutOperatingSystemManager || len(sets) == 0:
		return observation.BootstrapData{Kubelet: observation.BootstrapMissing}
	case bs.w.traits.UnreadBootstrap != "":
		return observation.BootstrapData{Kubelet: bs.w.traits.UnreadBootstrap}
	}
	last := sets[len(sets)-1]
	data := observation.BootstrapData{Kubelet: observation.BootstrapInTree, Revision: last.uid}
	if last.external {
		data.Kubelet = observation.BootstrapExternal
	}
	return data
}

// inTreeData are the MachineDeployments whose new Machines get data that can be read and is in-tree, or is not written yet.
func inTreeData(w *World) (names []string, canary bool) {
	if w.traits.WithoutOperatingSystemManager || w.traits.UnreadBootstrap != "" {
		return nil, false
	}
	for _, d := range w.machines.deployments {
		switch {
		case !bootsInTree(w, d):
		case d.guard.canary:
			canary = true
		case d.guard.ours && d.restart == w.facts().RollGeneration:
			names = append(names, d.name)
		}
	}
	return names, canary
}

func bootsInTree(w *World, d *machineDeployment) bool {
	return !d.paused && !d.deleting && d.replicas > 0 && slices.ContainsFunc(w.machines.setsOf(d), func(s *machineSet) bool {
		return d.current(s) && (!s.external || !w.bootstraps.written(s))
	})
}

// checkBootstraps: a MachineDeployment whose bootstrap data is in-tree is the last that is rolled, no step of any is granted, and
// a canary with such data counts for nothing.
func (i *invariants) checkBootstraps(w *World, d migration.Decision) {
	facts := w.facts()
	names, canary := inTreeData(w)
	if canary && provenCanary(d.Facts) && !provenCanary(&facts) {
		i.fail("rule 9: the canary counts as proven, and its bootstrap data is in-tree")
	}
	rolls := does(d, outcome.ActionRollMachineDeployment) || does(d, outcome.ActionStepMachineSet) ||
		does(d, outcome.ActionMarkMachines)
	if rolls && len(names) > 0 && !w.undoing() {
		i.fail("rule 9: %s, and the bootstrap data of %v is in-tree", d.Action.Kind, names)
	}
}

// checkBooted: no roll of ours makes more Machines from in-tree data than its bounds allow.
func (i *invariants) checkBooted(w *World) {
	status := w.facts()
	if w.undoing() || status.RollGeneration == "" || status.CompletedAt != nil {
		return
	}
	for _, d := range w.machines.deployments {
		if !d.guarded() || d.restart != status.RollGeneration || !d.guard.ours {
			continue
		}
		booted := 0
		for _, s := range slices.DeleteFunc(w.machines.setsOf(d), func(s *machineSet) bool { return !d.current(s) }) {
			booted += len(slices.DeleteFunc(w.machines.of(s), func(m *machine) bool { return m.external }))
		}
		if most := d.surge + d.mayBeUnavailable(); booted > most {
			i.fail("rule 9: %d Machines of MachineDeployment %s are in-tree, and %d may be", booted, d.name, most)
		}
	}
}
