package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

func TestErrorsOfAllCommandsAreNeutral(t *testing.T) {
	NewWithT(t).Expect(Command().ErrOrStderr()).To(BeAssignableToTypeOf(terminal.Output{}))
}

// run is one command line to its end.
func run(line ...string) (out string, code int) {
	root, buffer := Command(), &bytes.Buffer{}
	root.SetOut(buffer)
	root.SetErr(buffer)
	root.SetArgs(line)
	code = terminal.ExitCode(root.Execute())
	return buffer.String(), code
}

// A script has to see from the exit code that it was wrong, of whatever command, and that nothing was done.
func TestEveryCommandRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, command := range tree(Command()) {
		path := strings.Fields(command.CommandPath())[1:]
		if slices.Contains(path, "help") {
			continue // It says what it knows about what is asked for, and does nothing else.
		}
		t.Run(strings.Join(append(path, "--bogus"), " "), func(t *testing.T) {
			g := NewWithT(t)
			out, code := run(append(path, "--bogus")...)
			g.Expect(code).To(Equal(terminal.ExitRefused))
			g.Expect(out).To(ContainSubstring("unknown flag: --bogus"))
		})
		t.Run(strings.Join(append(path, "a b c d"), " "), func(t *testing.T) {
			_, code := run(append(path, "a", "b", "c", "d")...)
			NewWithT(t).Expect(code).To(Equal(terminal.ExitRefused))
		})
	}
}

// Nothing is connected to: there is no cluster here, and the flag is wrong before one is looked for.
func TestEveryCommandRefusesAFormatThatIsNone(t *testing.T) {
	formats := 0
	for _, command := range tree(Command()) {
		flag := command.Flags().Lookup("output")
		if flag == nil {
			flag = command.InheritedFlags().Lookup("output")
		}
		if flag == nil {
			continue
		}
		formats++
		path := strings.Fields(command.CommandPath())[1:]
		t.Run(strings.Join(path, " "), func(t *testing.T) {
			g := NewWithT(t)
			out, code := run(append(path, "-o", "nonsense")...)
			g.Expect(code).To(Equal(terminal.ExitRefused))
			g.Expect(out).To(ContainSubstring(`invalid argument "nonsense" for "-o, --output" flag: it is one of`))
		})
	}
	NewWithT(t).Expect(formats).To(BeNumerically(">", 10))
}

func TestTheManagerRefusesWrongValues(t *testing.T) {
	g := NewWithT(t)
	out, code := run("manager", "--fleet-admission=x")
	g.Expect(code).To(Equal(terminal.ExitRefused))
	g.Expect(out).To(ContainSubstring("--fleet-admission is \"x\""))
}

func TestAGroupOfCommandsPrintsItsHelp(t *testing.T) {
	for _, group := range []string{"fence", "fleet", "leader-migration"} {
		t.Run(group, func(t *testing.T) {
			g := NewWithT(t)
			out, code := run(group)
			g.Expect(code).To(BeZero())
			g.Expect(out).To(ContainSubstring("Available Commands:"))
		})
	}
	g := NewWithT(t)
	out, code := run("fleet", "statu")
	g.Expect(code).To(Equal(terminal.ExitRefused))
	g.Expect(out).To(ContainSubstring(`unknown command "statu" for "ccm-migration-controller fleet"; did you mean status?`))
}

func TestTheHelpHasTheExitCodes(t *testing.T) {
	g := NewWithT(t)
	out, code := run()
	g.Expect(code).To(BeZero())
	for _, exit := range terminal.Codes() {
		g.Expect(out).To(ContainSubstring(exit.Means))
	}
}

// tree is a command and all below it.
func tree(command *cobra.Command) []*cobra.Command {
	commands := []*cobra.Command{command}
	for _, sub := range command.Commands() {
		commands = append(commands, tree(sub)...)
	}
	return commands
}
