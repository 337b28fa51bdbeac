package simulation

import (
	"maps"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

const (
	// patience is how long, in seconds, a wait may last in which the controller does nothing. It is longer than the deadline of
	// the hand-over, so that a wait that becomes a failure is seen to.
	patience = 700
	// settledAfter is how long, in seconds, what ends a run has to stay so: some failures fix themselves.
	settledAfter = 30
	// foreseenTicks bounds what is foreseen; every tick is a second of the model.
	foreseenTicks = 20000
	// mostPasses bounds the passes that do something: one that is done again and again changes nothing.
	mostPasses = 2000
	// leftAlone is longer than anything that is foreseen.
	leftAlone = 2 * foreseenTicks * Tick
)

// Foreseen is one pass of the controller that does something.
type Foreseen struct {
	Decision migration.Decision
	// Components are those of the control plane and of the machine-controller before it.
	Components []observation.Component
	// Replaced are the Machines that went since the pass before it, in order.
	Replaced []observation.Ref
}

// Future is what the controller does from now on when no one else changes anything.
type Future struct {
	// Passes that do something, in order, those that only record facts among them.
	Passes []Foreseen
	// Last is what the controller says in the end, and Facts what it has recorded then.
	Last  migration.Decision
	Facts ucv1.Facts
	// Replaced are all Machines that go, in order.
	Replaced []observation.Ref
	// Before and After are the parts of the control plane and of the machine-controller, and the StorageClasses.
	Before, After Picture
	// Registering is how long the CSI driver takes to register in-tree volumes, in which nothing else is done.
	Registering time.Duration
	// Released says that a deleted Cluster went.
	Released bool
	// Endless says that it did not come to an end within the bounds of the simulation.
	Endless bool
}

// Picture is what an operator may notice later.
type Picture struct {
	Components []observation.Component
	Classes    []observation.StorageClass
	Nodes      []observation.Node
	// Running are the sets of addons whose workloads are there.
	Running map[outcome.AddonSetName]bool
}

// Foresee lets the world go on from what was observed until nothing is left to do, or nothing happens without a person.
func Foresee(start Start) Future {
	w := WorldOf(start)
	c := NewController(w)
	future := Future{Before: w.picture(), Endless: true}
	idle := 0
	for range foreseenTicks {
		w.Now = w.Now.Add(Tick)
		gone := w.Machines.present()
		for _, actor := range w.Actors() {
			actor.Step()
		}
		future.Replaced = append(future.Replaced, w.Machines.missing(gone)...)
		pass := c.foresee()
		idle++
		if pass.Decision.Next() != nil {
			pass.Replaced = future.Replaced[replacedBy(future.Passes):]
			future.Passes = append(future.Passes, pass)
			idle = 0
		}
		future.Last = pass.Decision
		future.Registering += w.Storage.passOver(pass.Decision, c.seen)
		if idle > limit(pass.Decision) || w.Released {
			future.Endless = false
			break
		}
		if len(future.Passes) > mostPasses {
			break
		}
	}
	future.After, future.Facts, future.Released = w.picture(), w.Cluster.Status.Facts, w.Released
	return future
}

// limit is how long a decision without an action has to stay.
func limit(d migration.Decision) int {
	if d.Wait != nil && !d.Wait.Unknown {
		return patience
	}
	return settledAfter
}

// foresee is one pass: it looks, decides, acts and persists, and no one comes in between.
func (c *Controller) foresee() Foreseen {
	w := c.world
	o := c.Observe()
	p := Pass{Decision: migration.Decide(o, w.Now), Leases: w.Leases.Releasable()}
	foreseen := Foreseen{Decision: p.Decision}
	if p.Decision.Next() != nil {
		foreseen.Components = w.picture().Components
		c.Act(p)
	}
	if p.Decision.Facts != nil {
		w.Cluster.Status.Facts = *p.Decision.Facts.DeepCopy()
	}
	return foreseen
}

// present are the Machines that are there and not going, without the canary's: that replaces nothing.
func (ms *Machines) present() []observation.Ref {
	var refs []observation.Ref
	for _, m := range ms.All {
		if !m.Deleting() && !ms.w.Canary.Has(m) {
			refs = append(refs, m.ref())
		}
	}
	return refs
}

// missing are those of the Machines that went, or began to.
func (ms *Machines) missing(before []observation.Ref) []observation.Ref {
	now := map[observation.Ref]bool{}
	for _, ref := range ms.present() {
		now[ref] = true
	}
	return slices.DeleteFunc(before, func(ref observation.Ref) bool { return now[ref] })
}

func (m *Machine) ref() observation.Ref {
	return observation.Ref{Kind: "Machine", Namespace: m.Namespace, Name: m.Name, UID: m.UID}
}

// replacedBy counts the Machines that earlier passes have.
func replacedBy(passes []Foreseen) int {
	count := 0
	for _, pass := range passes {
		count += len(pass.Replaced)
	}
	return count
}

func (w *World) picture() Picture {
	picture := Picture{
		Classes: w.Storage.observeClasses(), Nodes: w.Nodes.observe(),
		Running: map[outcome.AddonSetName]bool{
			outcome.CCMSet: len(w.Addons.CCM.workloads()) > 0, outcome.CSISet: len(w.Addons.CSI.workloads()) > 0,
		},
	}
	for _, d := range w.ControlPlane.Workloads {
		component := w.ControlPlane.observe(d)
		component.Arguments.Flags = maps.Clone(component.Arguments.Flags)
		picture.Components = append(picture.Components, component)
	}
	return picture
}
