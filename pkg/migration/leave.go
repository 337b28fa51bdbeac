package migration

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// letsGo is why a deleted Cluster goes at once, whatever it leaves behind; empty while it goes at a safe row only.
func (p *pass) letsGo() string {
	switch {
	case p.o.Cluster.Annotations[ucv1.AbandonAnnotation] == "true":
		return "annotation " + ucv1.AbandonAnnotation + " says so"
	case p.o.NamespaceTerminating.Value():
		return "its namespace is being deleted"
	case p.o.ControlPlane.IsAbsent():
		return "its control plane is gone"
	}
	return ""
}

func (p *pass) release(why string) outcome {
	return does(Verb{Kind: VerbRelease, Objects: []Ref{p.self()}, Why: "Letting the deleted Cluster go: " + why + "."})
}

// released says that a Cluster goes that a pause would hold.
func (p *pass) released(decision Decision) bool {
	return decision.Verb != nil && decision.Verb.Kind == VerbRelease && p.letsGo() != ""
}

// revokedFirst takes our right to KCM's Lease back before a Cluster goes.
func (p *pass) revokedFirst(decision Decision) Decision {
	if decision.Verb != nil && decision.Verb.Kind == VerbRelease && p.granted() && p.o.Connection.Reachable {
		decision.Verb = p.revoke()
	}
	return decision
}

// leaving says what a deleted Cluster waits for, before what holds that up.
func (d Decision) leaving(until string) Decision {
	d.Leaving = "The Cluster is being deleted; it goes when " + until + ", or at once with annotation " + ucv1.AbandonAnnotation + "=true."
	if d.Wait != nil {
		d.Wait.Message = d.Leaving + " " + d.Wait.Message
	}
	if d.Failure != nil {
		d.Failure.Message = d.Leaving + " " + d.Failure.Message
	}
	return d
}

// decideDeletion never rolls anything back. Before the hand-over the Cluster just goes; later it goes at the next row
// where leaving is safe: exactly one manager runs the loops and no Machine is half replaced.
func (p *pass) decideDeletion() Decision {
	if probe := p.o.Probe.Value(); len(probe.Left) > 0 {
		return p.stopAt(p.currentStep(), does(pruneVerb(probe.Left)))
	}
	if p.undoing() {
		return p.deletedWhileUndone()
	}
	if p.untouched() || p.facts.CompletedAt != nil {
		return p.stopAt(p.currentStep(), p.release("nothing is in the middle"))
	}
	if p.facts.Handover.FinishedAt == nil {
		return p.walk().leaving("the hand-over is complete, so that the cloud loops do not stay off")
	}
	if out, busy := p.leaveRoll(); busy {
		return p.stopAt(ucv1.StepRoll, out).leaving("what was begun is rolled out")
	}
	return p.stopAt(p.currentStep(), p.release("one manager runs the cloud loops, and no roll is in the middle"))
}

// leaveRoll is for a deleted Cluster that goes in the middle of the roll: what was begun is rolled out, what the breaker took is given
// back, and the canary goes.
func (p *pass) leaveRoll() (outcome, bool) {
	if p.facts.RollGeneration != "" && p.o.Machines.IsUnknown() {
		return cannotLook("the Machines", p.o.Machines.Why()), true
	}
	if p.facts.RollGeneration != "" && !p.o.Machines.IsAbsent() {
		view := p.fleet()
		pools := p.pools(view)
		if out, busy := p.tidy(view, pools); busy {
			return out, true
		}
		if out := p.rollHalts(view, pools); !out.holds {
			return out, true
		}
		if out, granted := p.step(view, pools); granted {
			return out, true
		}
		if out, left := p.returnAll(pools); left {
			return out, true
		}
	}
	if rolling := p.rollingDeployments(); len(rolling) > 0 {
		return waits(ucv1.WaitingForMachinesReason, "Waiting for the Machines of "+named(rolling)+"."), true
	}
	return p.removeCanary()
}

// deletedWhileUndone lets a deleted Cluster go when KCM has its cloud loops back.
func (p *pass) deletedWhileUndone() Decision {
	decision := p.walkUndo()
	if decision.Step == ucv1.StepUndoAddons {
		return undoStopsAt(ucv1.StepUndoAddons, p.release("KCM has its cloud loops back"))
	}
	return decision.leaving("KCM has its cloud loops back")
}
