package outcome

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Outcome is how one row of a table stands: it holds, or it says what has to happen for it to hold.
type Outcome struct {
	Holds   bool
	Stage   string
	Reason  string
	Message string
	Action  *Action
	Wait    *Wait
	Failure *Failure
}

// Holds is for a post-condition that is true of the world.
func Holds(reason, message string) Outcome {
	return Outcome{Holds: true, Reason: reason, Message: message}
}

// Waits is for what a watch ends.
func Waits(reason, message string) Outcome {
	return Outcome{Reason: reason, Message: message, Wait: &Wait{Reason: reason, Message: message}}
}

// WaitsUntil is for waits that no watch ends: they end at a moment that is known.
func WaitsUntil(reason, message string, after time.Duration) Outcome {
	out := Waits(reason, message)
	out.Wait.After = max(after, time.Second)
	return out
}

// CannotLook is for what could not be read: it never counts as absent.
func CannotLook(what, why string) Outcome {
	message := "Could not look at " + what + ": " + why + "."
	return Outcome{
		Reason: ucv1.CouldNotLookReason, Message: message,
		Wait: &Wait{Reason: ucv1.CouldNotLookReason, Message: message, Unknown: true},
	}
}

// Fails is for what only a person can end.
func Fails(reason, message string) Outcome {
	return Outcome{Reason: reason, Message: message, Failure: &Failure{Reason: reason, Message: message}}
}

// Does is for the one thing to do now.
func Does(action Action) Outcome {
	return Outcome{Reason: ucv1.ActingReason, Message: action.Why, Action: &action}
}

// Records is for facts that have to be persisted before anything rests on them.
func Records(why string) Outcome {
	return Does(Action{Kind: ActionRecord, Why: why})
}

// Wait is a wait with its reason; After bounds it where no watch would end it.
type Wait struct {
	Reason  string
	Message string
	// Unknown says that the reason is that we could not look.
	Unknown bool
	After   time.Duration
}

// Failure is something that only a person can fix.
type Failure struct {
	Reason  string
	Message string
}
