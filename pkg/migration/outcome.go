package migration

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// outcome is how one row of a table stands: it holds, or it says what has to happen for it to hold.
type outcome struct {
	holds   bool
	line    string
	reason  string
	message string
	verb    *Verb
	wait    *Wait
	failure *Failure
}

func holds(reason, message string) outcome {
	return outcome{holds: true, reason: reason, message: message}
}

func waits(reason, message string) outcome {
	return outcome{reason: reason, message: message, wait: &Wait{Reason: reason, Message: message}}
}

// waitsUntil is for waits that no watch ends: they end at a moment that is known.
func waitsUntil(reason, message string, after time.Duration) outcome {
	out := waits(reason, message)
	out.wait.After = max(after, time.Second)
	return out
}

func cannotLook(what, why string) outcome {
	message := "Could not look at " + what + ": " + why + "."
	return outcome{
		reason: ucv1.CouldNotLookReason, message: message,
		wait: &Wait{Reason: ucv1.CouldNotLookReason, Message: message, Unknown: true},
	}
}

func fails(reason, message string) outcome {
	return outcome{reason: reason, message: message, failure: &Failure{Reason: reason, Message: message}}
}

func does(verb Verb) outcome {
	return outcome{reason: ucv1.ActingReason, message: verb.Why, verb: &verb}
}

// records is for facts that have to be persisted before anything rests on them.
func records(why string) outcome {
	return does(Verb{Kind: VerbRecord, Why: why})
}
