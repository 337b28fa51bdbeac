package cli

import "errors"

// The exit codes of the commands that are more precise than "it worked" and "it did not".
const (
	exitFailed  = 1
	exitRefused = 2
	exitNotSo   = 3
)

// exitError is an error with an exit code of its own.
type exitError struct {
	error
	code int
}

// Unwrap implements errors.Unwrap.
func (e *exitError) Unwrap() error { return e.error }

// ExitCode is what the process ends with after a command returned this error.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	if precise := (*exitError)(nil); errors.As(err, &precise) {
		return precise.code
	}
	return exitFailed
}
