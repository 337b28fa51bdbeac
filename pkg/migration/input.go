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
	*observation.Observation
	Now time.Time
	// Facts are the checkpoints, with those that rows above have recorded in this pass.
	Facts ucv1.Facts
	// Seen is an index of the Machines, which is made when it is first asked for.
	Seen *rollout.Seen
}

func newInput(o observation.Observation, now time.Time, facts ucv1.Facts) input {
	return input{Observation: &o, Now: now, Facts: facts, Seen: &rollout.Seen{}}
}

// With is the input of what is judged after the outcome.
func (in input) With(out outcome.Outcome) input { return in.From(out.Facts) }

// From is the input of what is judged with these checkpoints; nil: with the same.
func (in input) From(facts *ucv1.Facts) input {
	if facts != nil {
		in.Facts = *facts
	}
	return in
}

// Changed are the checkpoints with a change.
func (in input) Changed(set func(*ucv1.Facts)) *ucv1.Facts {
	return outcome.Changed(in.Facts, set)
}

// Adds is the outcome with a change of the checkpoints, which comes to those that it has.
func (in input) Adds(out outcome.Outcome, set func(*ucv1.Facts)) outcome.Outcome {
	return out.Recording(in.Facts, set)
}

// Records is for checkpoints that have to be persisted before anything rests on them.
func (in input) Records(why string, set func(*ucv1.Facts)) outcome.Outcome {
	return in.Adds(outcome.Records(why), set)
}

func (in input) Stamp() *metav1.Time { return new(metav1.NewTime(in.Now)) }

func (in input) StampAfter(wait time.Duration) *metav1.Time {
	return new(metav1.NewTime(in.Now.Add(wait).Truncate(time.Second)))
}

func (in input) Minor() int { return observation.MinorOf(in.Cluster.Spec.Version) }
