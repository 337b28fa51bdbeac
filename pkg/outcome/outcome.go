package outcome

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Outcome is how one row of a table stands: it holds, or it says what has to happen for it to hold.
type Outcome struct {
	Holds   bool
	Stage   string
	Reason  string
	Message string
	// Objects that the message names, in its order.
	Objects []observation.Ref
	Action  *Action
	Wait    *Wait
	Failure *Failure
	// Repair is what the controller does about the failure.
	Repair *Action
	// Facts are the checkpoints as they are with this outcome: the whole of them, not a change. Nil: they are as they were.
	Facts *ucv1.Facts
	// Instructions are what someone else has to change in the control plane, in order.
	Instructions []ucv1.Instruction
	// Findings of preflight, where they were judged; nil otherwise.
	Findings []observation.Finding
}

// Text of the message, to go on with.
func (o Outcome) Text() observation.Text {
	return observation.Text{Words: o.Message, Objects: o.Objects}
}

// Holds is for a post-condition that is true of the world.
func Holds(reason, message string) Outcome {
	return Outcome{Holds: true, Reason: reason, Message: message}
}

// Waits is for what a watch ends. The parts of the message are as those of observation.Say.
func Waits(reason string, parts ...any) Outcome {
	said := observation.Say(parts...)
	return Outcome{
		Reason: reason, Message: said.Words, Objects: said.Objects,
		Wait: &Wait{Reason: reason, Message: said.Words, Objects: said.Objects},
	}
}

// WaitsUntil is for waits that no watch ends: they end at a moment that is known.
func WaitsUntil(reason string, message any, after time.Duration) Outcome {
	out := Waits(reason, message)
	out.Wait.After = max(after, time.Second)
	return out
}

// CannotLook is for what could not be read: it never counts as absent.
func CannotLook(what, why any) Outcome {
	out := Waits(ucv1.CouldNotLookReason, "Could not look at ", what, ": ", why, ".")
	out.Wait.Unknown = true
	return out
}

// Fails is for what only a person can end. The parts of the message are as those of observation.Say.
func Fails(reason string, parts ...any) Outcome {
	said := observation.Say(parts...)
	return Outcome{
		Reason: reason, Message: said.Words, Objects: said.Objects,
		Failure: &Failure{Reason: reason, Message: said.Words, Objects: said.Objects},
	}
}

// Does is for the one thing to do now.
func Does(action Action) Outcome {
	return Outcome{Reason: ucv1.ActingReason, Message: action.Why, Action: &action}
}

// Records is for facts that have to be persisted before anything rests on them.
func Records(why string) Outcome {
	return Does(Action{Kind: ActionRecord, Why: why})
}

// Changed are checkpoints with a change; the ones before stay as they are.
func Changed(before ucv1.Facts, set func(*ucv1.Facts)) *ucv1.Facts {
	facts := before.DeepCopy()
	set(facts)
	return facts
}

// Recording is the outcome with a change of the checkpoints: of those that it has, or else of the ones before.
func (o Outcome) Recording(before ucv1.Facts, set func(*ucv1.Facts)) Outcome {
	if o.Facts != nil {
		before = *o.Facts
	}
	o.Facts = Changed(before, set)
	return o
}

// Wait is a wait with its reason; After bounds it where no watch would end it.
type Wait struct {
	Reason  string
	Message string
	// Objects that the message names, in its order.
	Objects []observation.Ref
	// Unknown says that the reason is that we could not look.
	Unknown bool
	After   time.Duration
}

// Failure is something that only a person can fix.
type Failure struct {
	Reason  string
	Message string
	// Objects that the message names, in its order.
	Objects []observation.Ref
}

// Text of the message, to go on with.
func (w *Wait) Text() observation.Text { return observation.Text{Words: w.Message, Objects: w.Objects} }

// Text of the message, to go on with.
func (f *Failure) Text() observation.Text {
	return observation.Text{Words: f.Message, Objects: f.Objects}
}
