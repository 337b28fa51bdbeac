package terminal

import (
	"errors"

	"github.com/spf13/cobra"
)

// The exit codes besides 0. Only commands that say so in their help use others than 1.
const (
	exitFailed = 1
	// ExitRefused: nothing was changed, because the command was wrong or not safe.
	ExitRefused = 2
	// ExitNotSo: it was done, and the outcome is not as it should be.
	ExitNotSo = 3
)

// exitError is an error that ends the program with a code of its own.
type exitError struct {
	error
	code int
}

// Unwrap returns the error itself.
func (e *exitError) Unwrap() error { return e.error }

// WithCode ends the program with a code of its own.
func WithCode(err error, code int) error { return &exitError{err, code} }

// UsageError says that the command was wrong.
func UsageError(err error) error { return WithCode(err, ExitRefused) }

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

// UsageArguments makes usage errors of what is wrong with the arguments.
func UsageArguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if err := check(command, args); err != nil {
			return UsageError(err)
		}
		return nil
	}
}
