package migration

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// input is all that a row is judged from. Nothing changes it: what a row records comes back with its outcome, and what is judged
// after it gets another input (with).
type input struct {
	o   observation.Observation
	now time.Time
	// facts are the checkpoints, with those that rows above have recorded in this pass.
	facts ucv1.Facts
	// seen is an index of the Machines, which is made when it is first asked for.
	seen *rollout.Seen
}

func newInput(o observation.Observation, now time.Time, facts ucv1.Facts) input {
	return input{o: o, now: now, facts: facts, seen: &rollout.Seen{}}
}

// with is the input of what is judged after the outcome.
func (in input) with(out outcome.Outcome) input { return in.from(out.Facts) }

// after is the input of what is judged after the decision.
func (in input) after(decision Decision) input { return in.from(decision.Facts) }

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

func (in input) stamp() *metav1.Time { return new(metav1.NewTime(in.now)) }

func (in input) stampAfter(wait time.Duration) *metav1.Time {
	return new(metav1.NewTime(in.now.Add(wait).Truncate(time.Second)))
}

func (in input) minor() int { return observation.MinorOf(in.o.Cluster.Spec.Version) }
