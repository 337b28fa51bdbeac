package pass

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// Input is all that a row is judged from. Nothing changes it: what a row records comes back with its outcome, and what is judged
// after it gets another input (With).
type Input struct {
	*observation.Observation
	Now time.Time
	// Facts are the checkpoints, with those that rows above have recorded in this pass.
	Facts ucv1.Facts
	// Seen is an index of the Machines, which is made when it is first asked for.
	Seen *rollout.Seen
}

// New is the input of a pass. The facts are mostly those of the Cluster's status.
func New(o observation.Observation, now time.Time, facts ucv1.Facts) Input {
	return Input{Observation: &o, Now: now, Facts: facts, Seen: &rollout.Seen{}}
}

// With is the input of what is judged after the outcome.
func (in Input) With(out outcome.Outcome) Input { return in.From(out.Facts) }

// From is the input of what is judged with these checkpoints; nil: with the same.
func (in Input) From(facts *ucv1.Facts) Input {
	if facts != nil {
		in.Facts = *facts
	}
	return in
}

// Changed are the checkpoints with a change.
func (in Input) Changed(set func(*ucv1.Facts)) *ucv1.Facts {
	return outcome.Changed(in.Facts, set)
}

// Adds is the outcome with a change of the checkpoints, which comes to those that it has.
func (in Input) Adds(out outcome.Outcome, set func(*ucv1.Facts)) outcome.Outcome {
	return out.Recording(in.Facts, set)
}

// Records is for checkpoints that have to be persisted before anything rests on them.
func (in Input) Records(why string, set func(*ucv1.Facts)) outcome.Outcome {
	return in.Adds(outcome.Records(why), set)
}

// Stamp is now, as a checkpoint.
func (in Input) Stamp() *metav1.Time { return new(metav1.NewTime(in.Now)) }

// StampAfter is when the wait ends, in whole seconds.
func (in Input) StampAfter(wait time.Duration) *metav1.Time {
	return new(metav1.NewTime(in.Now.Add(wait).Truncate(time.Second)))
}

// Minor of the Kubernetes version in the spec.
func (in Input) Minor() int { return observation.MinorOf(in.Cluster.Spec.Version) }

// KCMMinor is the oldest that KCM may be of: in a hand-over across minors it stays behind kube-apiserver.
func (in Input) KCMMinor() int {
	if upgraded := handover.UpgradeMinor(in.Facts); upgraded != 0 {
		return upgraded - 1
	}
	return in.Minor()
}

// Rolls is what Machines are judged from, whatever may keep the roll from going on.
func (in Input) Rolls() rollout.In {
	rolls := rollout.In{Observation: *in.Observation, Now: in.Now, Facts: in.Facts, Seen: in.Seen}
	if RollingBack(in) {
		rolls.Direction = rollout.Back
	}
	return rolls
}

// FlagsBegun says that some of the Deployments have their flag: new Machines may join external.
func FlagsBegun(in Input) bool {
	return slices.ContainsFunc(in.MachineController.Value(), observation.MachineControllerDeployment.Flagged)
}

// RollingBack says that a rollback began and did not end. What is asked for meanwhile waits for its end.
func RollingBack(in Input) bool {
	return in.Facts.Rollback != nil && in.Facts.Rollback.FinishedAt == nil
}
