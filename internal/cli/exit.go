package cli

import "errors"

// The exit codes besides 0. Only commands that say so in their help use others than 1.
const (
	exitFailed = 1
	// exitRefused: nothing was changed, because the command was wrong or not safe.
	exitRefused = 2
	// exitNotSo: it was done, and the outcome is not as it should be.
	exitNotSo = 3
)

// exitError is an error that ends the program with a code of its own.
type exitError struct {
	error
	code int
}

// Unwrap returns the error itself.
func (e *exitError) Unwrap() error { return e.error }

func usageError(err error) error { return &exitError{err, exitRefused} }

// ExitCode is the code with which the program ends after a command returned err.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	if own := (*exitError)(nil); errors.As(err, &own) {
		return own.code
	}
	return exitFailed
}
