package cli

import "errors"

// The exit codes besides 0. Only commands that say so in their help use others than 1.
const (
	exitFailed     = 1
	exitUsage      = 2
	exitViolations = 3
)

// exitError is an error that ends the program with a code of its own.
type exitError struct {
	error
	code int
}

// Unwrap returns the error itself.
func (e exitError) Unwrap() error { return e.error }

func usageError(err error) error { return exitError{err, exitUsage} }

// ExitCode is the code with which the program ends after a command returned err.
func ExitCode(err error) int {
	var own exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &own):
		return own.code
	}
	return exitFailed
}
