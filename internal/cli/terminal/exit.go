package terminal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes besides 0. All commands keep them.
const (
	exitFailed = 1
	// ExitRefused: nothing was changed, because the command was wrong or not safe.
	ExitRefused = 2
	// ExitNotSo: it was done, and the outcome is not as it should be.
	ExitNotSo = 3
)

// Code is an exit code.
type Code struct {
	Number int
	Means  string
}

// Codes are the exit codes of all commands.
func Codes() []Code {
	return []Code{
		{0, "The command did what it is for. What it found may be bad all the same: read what it prints."},
		{exitFailed, "It could not be done, or not all of it could be read. The message says why."},
		{ExitRefused, "Nothing was done: a flag or an argument is wrong, or it would not be safe."},
		{ExitNotSo, "It was done, and the outcome is not as it should be."},
	}
}

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

// group makes a command of which only those below it do something: alone it prints its help.
func group(command *cobra.Command) {
	command.DisableFlagsInUseLine = true
	command.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	command.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		problem := fmt.Sprintf("unknown command %q for %q", args[0], c.CommandPath())
		if like := c.SuggestionsFor(args[0]); len(like) > 0 {
			problem += "; did you mean " + strings.Join(like, " or ") + "?"
		}
		return UsageError(errors.New(problem))
	}
}

// UsageErrors makes usage errors of what is wrong with the flags and arguments of a command and of those below it.
func UsageErrors(command *cobra.Command) {
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return UsageError(err) })
	if command.HasSubCommands() && !command.Runnable() {
		group(command)
	}
	if command.Args != nil {
		command.Args = UsageArguments(command.Args)
	}
	for _, sub := range command.Commands() {
		UsageErrors(sub)
	}
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
