package simtest

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// FixProfiles takes that flag out of every profile, which has the data written again, and deletes the Machines that booted with
// it.
func FixProfiles(w *World) {
	w.Bootstraps.InTree = nil
	for _, s := range w.Machines.Sets {
		ours := func(d *simulation.MachineDeployment) bool {
			return d.UID == s.Deployment && d.Current(s) && (d.Guard.Canary || s.Restart != "" && s.Restart == w.Facts().RollGeneration)
		}
		if !slices.ContainsFunc(w.Machines.Deployments, ours) {
			continue
		}
		s.External = true
		for _, m := range w.Machines.Of(s) {
			if !m.External {
				w.Machines.Delete(m)
			}
		}
	}
}

// inTreeData are the MachineDeployments whose new Machines get data that can be read and is in-tree, or is not written yet.
func inTreeData(w *World) (names []string, canary bool) {
	if w.Traits.WithoutOperatingSystemManager || w.Traits.UnreadBootstrap != "" {
		return nil, false
	}
	for _, d := range w.Machines.Deployments {
		switch {
		case !bootsInTree(w, d):
		case d.Guard.Canary:
			canary = true
		case d.Guard.Ours && d.Restart == w.Facts().RollGeneration:
			names = append(names, d.Name)
		}
	}
	return names, canary
}

func bootsInTree(w *World, d *simulation.MachineDeployment) bool {
	makes := !d.Paused && !d.Deleting && d.Replicas > 0
	return makes && slices.ContainsFunc(w.Machines.SetsOf(d), func(s *simulation.MachineSet) bool {
		return d.Current(s) && (!s.External || !w.Bootstraps.Written(s))
	})
}

// checkBootstraps: a MachineDeployment whose bootstrap data is in-tree is the last that is rolled, no step of any is granted, and
// a canary with such data counts for nothing.
func checkBootstraps(i *invariants, w *World, d migration.Decision) {
	facts := w.Facts()
	names, canary := inTreeData(w)
	if canary && provenCanary(d.Facts) && !provenCanary(&facts) {
		i.fail("rule 9: the canary counts as proven, and its bootstrap data is in-tree")
	}
	rolls := does(d, outcome.ActionRollMachineDeployment) || does(d, outcome.ActionStepMachineSet) ||
		does(d, outcome.ActionMarkMachines)
	if rolls && len(names) > 0 && !w.rollingBack() {
		i.fail("rule 9: %s, and the bootstrap data of %v is in-tree", d.Next().Kind, names)
	}
}

// checkBooted: no roll of ours makes more Machines from in-tree data than its bounds allow.
func checkBooted(i *invariants, w *World) {
	status := w.Facts()
	if w.rollingBack() || status.RollGeneration == "" || status.CompletedAt != nil {
		return
	}
	for _, d := range w.Machines.Deployments {
		if !d.Guarded() || d.Restart != status.RollGeneration || !d.Guard.Ours {
			continue
		}
		booted := 0
		for _, s := range slices.DeleteFunc(w.Machines.SetsOf(d), func(s *simulation.MachineSet) bool { return !d.Current(s) }) {
			booted += len(slices.DeleteFunc(w.Machines.Of(s), func(m *simulation.Machine) bool { return m.External }))
		}
		if most := d.Surge + d.MayBeUnavailable(); booted > most {
			i.fail("rule 9: %d Machines of MachineDeployment %s are in-tree, and %d may be", booted, d.Name, most)
		}
	}
}
