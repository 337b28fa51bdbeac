package rollout

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// input is all that is judged from. Nothing changes it: what is recorded comes back with an outcome.
type input struct {
	o   observation.Observation
	now time.Time
	// facts are the checkpoints, with those that were recorded before in this pass.
	facts     ucv1.Facts
	direction Direction
	gates     []func() outcome.Outcome
	offer     func() string
	seen      *Seen
}

func inputOf(in In) input {
	judged := input{
		o: in.Observation, now: in.Now, facts: in.Facts, direction: in.Direction, gates: in.Gates, offer: in.Offer, seen: in.Seen,
	}
	if judged.seen == nil {
		judged.seen = &Seen{}
	}
	if judged.offer == nil {
		judged.offer = func() string { return "" }
	}
	return judged
}

// from is the input of what is judged with other checkpoints; nil: with the same.
func (in input) from(facts *ucv1.Facts) input {
	if facts != nil {
		in.facts = *facts
	}
	return in
}

// changed are the checkpoints with a change.
func (in input) changed(set func(*ucv1.Facts)) *ucv1.Facts {
	return outcome.Changed(in.facts, set)
}

// adds is the outcome with a change of the checkpoints, which comes to those that it has.
func (in input) adds(out outcome.Outcome, set func(*ucv1.Facts)) outcome.Outcome {
	return out.Recording(in.facts, set)
}

// records is for checkpoints that have to be persisted before anything rests on them.
func (in input) records(why string, set func(*ucv1.Facts)) outcome.Outcome {
	return in.adds(outcome.Records(why), set)
}

// back says that Machines are rolled to in-tree kubelets.
func (in input) back() bool { return in.direction == Back }

// generation is the forceRestart value that Machines are rolled by: a rollback has its own.
func (in input) generation() string {
	if in.back() {
		return in.facts.Rollback.RollGeneration
	}
	return in.facts.RollGeneration
}

// rolled are those that were given that value, in the checkpoints.
func (in input) rolled(facts *ucv1.Facts) *[]string {
	if in.back() {
		return &facts.Rollback.RolledMachineDeployments
	}
	return &facts.RolledMachineDeployments
}

// generates makes the forceRestart value.
func (in input) generates(facts *ucv1.Facts) {
	value := strconv.FormatInt(in.now.UnixNano(), 10)
	if in.back() {
		facts.Rollback.RollGeneration = value
	} else {
		facts.RollGeneration = value
	}
}

func (in input) stamp() *metav1.Time { return new(metav1.NewTime(in.now)) }

// fleet is an input with its Machines. They are judged once: what is recorded in this pass does not change them.
type fleet struct {
	input
	view  machineView
	pools []pool
}

func fleetOf(in input) fleet {
	view := viewOf(in)
	return fleet{input: in, view: view, pools: poolsOf(view)}
}

// notes is the fleet of what is judged after a change of the checkpoints.
func (in fleet) notes(set func(*ucv1.Facts)) fleet {
	in.input = in.from(in.changed(set))
	return in
}

// handsOn is the outcome with the checkpoints that were noted before it, unless it has its own, which have them.
func (in fleet) handsOn(out outcome.Outcome) outcome.Outcome {
	if out.Facts == nil {
		out.Facts = &in.facts
	}
	return out
}
