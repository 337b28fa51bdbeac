package rollout

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// stepNext lets old Machines of what is being rolled go, as many as proven new ones take their place. It comes behind everything
// that halts a roll and behind the gates: nothing goes while the CCM does not lead.
func stepNext(in fleet) (outcome.Outcome, bool) {
	for _, pool := range in.pools {
		grant, may := grantFor(in.view, pool.deployment)
		if pool.state != Rolling || pool.refused || !may {
			continue
		}
		if out := rollGates(in.input); !out.Holds {
			return out, true
		}
		if out := volumesRegistered(in.input); !out.Holds {
			return out, true
		}
		if out := bootstrapsExternal(in); !out.Holds {
			return out, true
		}
		return outcome.Does(grant.action(pool.deployment)), true
	}
	return outcome.Outcome{}, false
}

// grant is how many Machines of an old MachineSet may go now.
type grant struct {
	set observation.MachineSet
	// going is how many, unmarked are those among them that are to be marked first.
	going    int
	unmarked []observation.Machine
	proven   int
}

func (g grant) action(d observation.MachineDeployment) outcome.Action {
	why := fmt.Sprintf("%d of %d new Machines of %s are proven", g.proven, d.Replicas, d)
	left := g.set.Replicas - int32(g.going)
	step := &outcome.MachineSetStep{Deployment: d.Ref, Generation: d.Generation, Version: g.set.Version, Replicas: left}
	if len(g.unmarked) > 0 {
		action := outcome.Action{Kind: outcome.ActionMarkMachines, Step: step, Why: "Marking the Machines of " + g.set.String() +
			" that go next: " + why + "."}
		for _, machine := range g.unmarked {
			action.Objects = append(action.Objects, machine.Ref)
		}
		return action
	}
	return outcome.Action{
		Kind: outcome.ActionStepMachineSet, Objects: []observation.Ref{g.set.Ref}, Step: step,
		Why: fmt.Sprintf("Lowering %s from %d to %d: %s.", g.set, g.set.Replicas, left, why),
	}
}

// grantFor keeps two bounds, with S = maxSurge, U = maxUnavailable, R = replicas:
//
//	proven new Machines + Machines of old MachineSets ≥ R − U    so that at most S + U new ones are not proven
//	proven new Machines + old Machines that serve     ≥ R − U    unless what goes does not serve
//
// The machine-controller fills up to R + S, so the first bound is one on what it makes.
//
// Of the old MachineSets the first one goes from which one may: a Machine of a revision in between may never get a Node, and
// while it is there, none that serves may go.
func grantFor(v machineView, d observation.MachineDeployment) (grant, bool) {
	old, proven, settled := sides(v, d)
	if !steps(v, d) || !settled {
		return grant{}, false
	}
	least, there, serving := int(d.Replicas-d.MaxUnavailable), proven, proven
	for _, set := range old {
		there += int(set.Replicas)
		serving += len(v.only(set, v.serves))
	}
	for _, set := range old {
		if g := grantOf(v, set, there-least, serving-least); g.going > 0 {
			g.proven = proven
			return g, true
		}
	}
	return grant{}, false
}

// grantOf a MachineSet so many at most, of which so many may serve.
func grantOf(v machineView, set observation.MachineSet, most, mostServing int) grant {
	g := grant{set: set}
	candidates := candidates(v, set)
	spared := func(going int) bool { lost := mostLost(v, candidates, going); return lost == 0 || lost <= mostServing }
	g.going = max(0, min(int(set.Replicas), most))
	for g.going > 0 && !spared(g.going) {
		g.going--
	}
	if g.going < int(set.Replicas) { // Where all go, none has to be chosen.
		g.unmarked = slices.DeleteFunc(slices.Clone(candidates[:g.going]), func(m observation.Machine) bool { return m.GoesFirst })
	}
	return g
}

// steps says that it is rolled step by step: by us, forward, with the breaker, and not paused.
func steps(v machineView, d observation.MachineDeployment) bool {
	return !v.rollback && !d.Paused && !d.Deleting && d.MinReadyOurs && d.RestartValue == v.generation && d.LimitProblem.Words == ""
}

// sides are the MachineSets whose Machines are to go, in that order, and how many Machines of the current one are proven. They
// are not settled while a MachineSet does not have as many as it wants: a step is under way.
func sides(v machineView, d observation.MachineDeployment) (old []observation.MachineSet, proven int, settled bool) {
	current := false
	for _, set := range v.setsOf(d) {
		switch all := len(v.only(set, func(observation.Machine) bool { return true })); {
		case set.Current:
			current, proven = true, len(v.only(set, v.proven))
		case all != int(set.Replicas):
			return nil, 0, false
		case all > 0:
			old = append(old, set)
		}
	}
	slices.SortFunc(old, func(a, b observation.MachineSet) int {
		return cmp.Or(first(!v.wanted(a), !v.wanted(b)), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Name, b.Name))
	})
	return old, proven, current
}

// candidates are the Machines of a MachineSet, those that are to go first first: those that the machine-controller would take
// anyway, then those that do not serve. The one that the CCM leads on goes last: while it moves, the cloud loops run nowhere.
func candidates(v machineView, set observation.MachineSet) []observation.Machine {
	machines := v.only(set, func(observation.Machine) bool { return true })
	leads := func(m observation.Machine) bool { return v.leader != "" && m.NodeName == v.leader }
	slices.SortStableFunc(machines, func(a, b observation.Machine) int {
		return cmp.Or(
			first(a.Preferred(), b.Preferred()),
			first(!v.serves(a), !v.serves(b)),
			first(!leads(a), !leads(b)),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return machines
}

// mostLost is how many of those that serve may go when that many go: the marked ones, or any other that the machine-controller
// prefers.
func mostLost(v machineView, candidates []observation.Machine, going int) int {
	serving := 0
	for i, machine := range candidates {
		if (i < going || machine.Preferred()) && v.serves(machine) {
			serving++
		}
	}
	return min(serving, going)
}

// first sorts what holds to the front.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
