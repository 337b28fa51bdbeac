package simulation

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// written says that the operating-system-manager wrote the bootstrap data of a MachineSet.
func (w *World) written(s *machineSet) bool {
	return !w.now.Before(s.createdAt.Add(w.slowBootstrap))
}

// profiled says that the OperatingSystemProfile of a MachineDeployment has an in-tree flag of its own, whatever the
// operating-system-manager's is. A canary has that of its target.
func (w *World) profiled(d *machineDeployment) bool {
	name := d.name
	if canary := w.facts().Canary; d.guard.canary && canary != nil {
		name = canary.MachineDeployment
	}
	return slices.ContainsFunc(
		w.inTreeProfiles,
		func(profile string) bool { return name == profile || name == d.namespace+"/"+profile },
	)
}

// FixProfiles takes that flag out of every profile, which has the data written again, and deletes the Machines that booted with
// it.
func (w *World) FixProfiles() {
	w.inTreeProfiles = nil
	for _, s := range w.sets {
		ours := func(d *machineDeployment) bool {
			return d.uid == s.deployment && d.current(s) && (d.guard.canary || s.restart != "" && s.restart == w.facts().RollGeneration)
		}
		if !slices.ContainsFunc(w.deployments, ours) {
			continue
		}
		s.external = true
		for _, m := range w.machinesOf(s) {
			if !m.external {
				w.deleteMachine(m)
			}
		}
	}
}

// observeBootstraps is what can be read: until the data of the newest MachineSet is written, that of the one before.
func (w *World) observeBootstraps(deployments []observation.Ref) observation.Observed[map[string]observation.BootstrapData] {
	if len(deployments) == 0 {
		return observation.Absent[map[string]observation.BootstrapData]()
	}
	seen := map[string]observation.BootstrapData{}
	for _, ref := range deployments {
		at := slices.IndexFunc(w.deployments, func(d *machineDeployment) bool { return d.uid == ref.UID })
		if at >= 0 {
			seen[ref.UID] = w.observeBootstrap(w.deployments[at])
		}
	}
	return observation.Known(seen)
}

func (w *World) observeBootstrap(d *machineDeployment) observation.BootstrapData {
	sets := slices.DeleteFunc(w.setsOf(d), func(s *machineSet) bool { return !w.written(s) })
	slices.SortStableFunc(sets, func(a, b *machineSet) int { return a.createdAt.Compare(b.createdAt) })
	switch {
	case w.traits.WithoutOperatingSystemManager || len(sets) == 0:
		return observation.BootstrapData{Kubelet: observation.BootstrapMissing}
	case w.traits.UnreadBootstrap != "":
		return observation.BootstrapData{Kubelet: w.traits.UnreadBootstrap}
	}
	last := sets[len(sets)-1]
	data := observation.BootstrapData{Kubelet: observation.BootstrapInTree, Revision: last.uid}
	if last.external {
		data.Kubelet = observation.BootstrapExternal
	}
	return data
}

// inTreeData are the MachineDeployments whose new Machines get data that can be read and is in-tree, or is not written yet.
func (w *World) inTreeData() (names []string, canary bool) {
	if w.traits.WithoutOperatingSystemManager || w.traits.UnreadBootstrap != "" {
		return nil, false
	}
	for _, d := range w.deployments {
		switch {
		case !w.bootsInTree(d):
		case d.guard.canary:
			canary = true
		case d.guard.ours && d.restart == w.facts().RollGeneration:
			names = append(names, d.name)
		}
	}
	return names, canary
}

func (w *World) bootsInTree(d *machineDeployment) bool {
	return !d.paused && !d.deleting && d.replicas > 0 && slices.ContainsFunc(w.setsOf(d), func(s *machineSet) bool {
		return d.current(s) && (!s.external || !w.written(s))
	})
}

// checkBootstraps: a MachineDeployment whose bootstrap data is in-tree is the last that is rolled, no step of any is granted, and
// a canary with such data counts for nothing.
func (i *invariants) checkBootstraps(w *World, d migration.Decision) {
	facts := w.facts()
	names, canary := w.inTreeData()
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
	for _, d := range w.deployments {
		if !d.guarded() || d.restart != status.RollGeneration || !d.guard.ours {
			continue
		}
		booted := 0
		for _, s := range slices.DeleteFunc(w.setsOf(d), func(s *machineSet) bool { return !d.current(s) }) {
			booted += len(slices.DeleteFunc(w.machinesOf(s), func(m *machine) bool { return m.external }))
		}
		if most := d.surge + d.mayBeUnavailable(); booted > most {
			i.fail("rule 9: %d Machines of MachineDeployment %s are in-tree, and %d may be", booted, d.name, most)
		}
	}
}
