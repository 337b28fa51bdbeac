package simtest

import (
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// checkLowered: a step only takes Machines away.
func checkLowered(i *invariants, w *World, action outcome.Action) {
	if s := w.Machines.ToLower(action); s != nil && int(action.Step.Replicas) >= s.Replicas {
		i.fail("rule 10: MachineSet %s is raised from %d to %d", s.Name, s.Replicas, action.Step.Replicas)
	}
}

// TakeMinReady has the owner of a MachineDeployment set its minReadySeconds.
func TakeMinReady(w *World, name string, seconds int) {
	meddleWith(w, name, func(d *simulation.MachineDeployment) {
		d.Guard.MinReady, d.Guard.Ours, d.Guard.Owner = seconds, false, "gitops"
	})
}

// GiveMinReadyUp has the owner leave the field to others.
func GiveMinReadyUp(w *World, name string) {
	meddleWith(w, name, func(d *simulation.MachineDeployment) { d.Guard.MinReady, d.Guard.Owner = 0, "" })
}

// Pause or unpause a MachineDeployment, as its owner would.
func Pause(w *World, name string, paused bool) {
	meddleWith(w, name, func(d *simulation.MachineDeployment) { d.Paused = paused })
}

// Annotate a MachineDeployment, as its owner would.
func Annotate(w *World, name string) {
	meddleWith(w, name, func(d *simulation.MachineDeployment) { d.Annotated = true })
}

func meddleWith(w *World, name string, change func(*simulation.MachineDeployment)) {
	for _, d := range w.Machines.Deployments {
		if d.Name == name {
			change(d)
			d.Stored(w.Now)
			d.Guard.Exempt = true
		}
	}
}

// BreakCloud has the cloud answer no question about instances, until it is fixed.
func BreakCloud(w *World) { w.Cloud.BrokenUntil = w.Now.Add(100 * time.Hour) }

// FixCloud ends that.
func FixCloud(w *World) { w.Cloud.BrokenUntil = w.Now }

// breakCloud for a while.
func breakCloud(w *World) {
	w.Cloud.BrokenUntil = w.upTo(5, 100)
	w.Say("fault: the cloud answers no question about instances")
}

// checkUnproven: no roll of ours has more Machines whose Node was never initialized than its bounds allow, whether we run or not.
func checkUnproven(i *invariants, w *World) {
	status := w.Facts()
	if w.rollingBack() || status.RollGeneration == "" || status.CompletedAt != nil {
		return
	}
	for _, d := range w.Machines.Deployments {
		if !d.Guarded() || d.Restart != status.RollGeneration || !d.Guard.Ours {
			continue
		}
		unproven := uninitialized(w, d)
		if most := d.Surge + d.MayBeUnavailable(); len(unproven) > most {
			i.fail("rule 10: %v of MachineDeployment %s are unproven at once, and %d may be", unproven, d.Name, most)
		}
	}
}

// uninitialized are the names of its new Machines whose Node was never initialized.
func uninitialized(w *World, d *simulation.MachineDeployment) (names []string) {
	for _, s := range slices.DeleteFunc(w.Machines.SetsOf(d), func(s *simulation.MachineSet) bool { return !d.Current(s) }) {
		for _, m := range w.Machines.Of(s) {
			if n := w.Nodes.Of(m); n != nil && (n.Initialized || !n.Tainted) {
				continue
			}
			names = append(names, m.Name)
		}
	}
	return names
}

// checkStep: what we let go never leaves fewer Machines that serve than replicas − maxUnavailable, unless what goes does not
// serve itself; whichever Machine the machine-controller takes. It holds at the moment of looking, for all but that is not ours.
func checkStep(i *invariants, w *World, d migration.Decision) {
	if d.Next() == nil || d.Next().Kind != outcome.ActionStepMachineSet {
		return
	}
	for _, deployment := range w.Machines.Deployments {
		if deployment.UID != d.Next().Step.Deployment.UID {
			continue
		}
		if deployment.Paused {
			i.fail("rule 10: a step of MachineDeployment %s, which is paused", deployment.Name)
		}
		serving, lost := servingAfter(w, deployment, *d.Next())
		if least := deployment.Replicas - deployment.MayBeUnavailable(); lost > 0 && serving-lost < least {
			i.fail(
				"rule 10: a step of MachineDeployment %s leaves %d Machines that serve of at least %d",
				deployment.Name,
				serving-lost,
				least,
			)
		}
	}
}

// servingAfter are the Machines of a MachineDeployment that serve, and how many of them a step may take at most.
func servingAfter(w *World, d *simulation.MachineDeployment, step outcome.Action) (serving, lost int) {
	for _, s := range w.Machines.SetsOf(d) {
		members, preferred := 0, 0
		for _, m := range w.Machines.Of(s) {
			n := w.Nodes.Of(m)
			if n == nil || m.Node == "" || !n.Ready || n.Tainted {
				continue
			}
			members++
			if m.GoesFirst {
				preferred++
			}
		}
		serving += members
		if s.UID == step.Objects[0].UID {
			lost = min(members, s.Replicas-int(step.Step.Replicas))
			if marked := marked(w, s); marked >= lost {
				lost = min(lost, preferred)
			}
		}
	}
	return serving, lost
}

func marked(w *World, s *simulation.MachineSet) int {
	return len(slices.DeleteFunc(w.Machines.Of(s), func(m *simulation.Machine) bool { return !m.GoesFirst }))
}

// checkGuarded: nothing is rolled that the breaker does not hold, and what another owner holds is not rolled.
func checkGuarded(i *invariants, w *World, d migration.Decision) {
	if d.Next() == nil || d.Next().Kind != outcome.ActionRollMachineDeployment || w.rollingBack() {
		return
	}
	if !d.Next().Endless {
		i.fail("rule 10: a MachineDeployment is rolled without the breaker")
	}
	for _, deployment := range w.Machines.Deployments {
		if deployment.Guard.Owner != "" &&
			slices.ContainsFunc(d.Next().Objects, func(ref observation.Ref) bool { return ref.UID == deployment.UID }) {
			i.fail("rule 10: MachineDeployment %s is rolled, its minReadySeconds is that of %s", deployment.Name, deployment.Guard.Owner)
		}
	}
}

// checkNothingLeft of canary and breaker at the end.
func checkNothingLeft(i *invariants, w *World, when string) {
	if w.Canary.Deployment() != nil || slices.ContainsFunc(w.Machines.All, w.Canary.Has) {
		i.fail("rule 9: %s, and the canary is left", when)
	}
	for _, object := range w.Canary.Objects {
		if object.DeletedAt.IsZero() {
			i.fail("rule 9: %s, and %s of the canary is left", when, object.Kind)
		}
	}
	for _, d := range w.Machines.Deployments {
		if d.Guard.Ours {
			i.fail("rule 10: %s, and what the breaker took of MachineDeployment %s is not given back", when, d.Name)
		}
	}
}
