package report

import (
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/docs/runbooks"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

const whyHelp = `Says what is in the way of a Cluster, who has to do something about it, and what to run: the words and
commands of its runbook, with the names filled in. Of commands that do harm at the wrong moment, only the names of the
Cluster are.

It reads the Cluster only: what is printed is as old as its status. It changes nothing, and runs no command.`

type whyOptions struct {
	management.Access
	terminal.ScreenOptions
	output  string
	runbook bool
}

// Why shows what a Cluster waits for, and what to do.
func Why() *cobra.Command {
	options := &whyOptions{}
	command := &cobra.Command{
		Use: "why NAME", Short: "Says what is in the way of a Cluster, and what to run.", Long: whyHelp, Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			cluster, _, err := options.Cluster(command.Context(), args[0])
			if err != nil {
				return err
			}
			what := blockerOf(cluster)
			if options.runbook {
				return writeRunbook(command.OutOrStdout(), what)
			}
			s, err := options.Screen(command.OutOrStdout(), os.Getenv)
			if err != nil {
				return err
			}
			return terminal.Write(
				command.OutOrStdout(),
				options.output,
				what,
				func(out io.Writer) error { return what.text(out, s, time.Now()) },
			)
		},
	}
	options.Access.Bind(command.Flags())
	options.ScreenOptions.Bind(command.Flags())
	terminal.BindFormat(command.Flags(), &options.output)
	command.Flags().BoolVar(&options.runbook, "runbook", false, "Print the whole runbook of what is in the way.")
	return command
}

func writeRunbook(out io.Writer, what blocker) error {
	runbook, found := runbooks.Lookup(strings.TrimSuffix(path.Base(what.Runbook), ".md"))
	if !found {
		return fmt.Errorf(
			"cluster %s: there is no runbook for %s; 'why' without --runbook says what there is",
			what.Cluster,
			orDash(what.Reason),
		)
	}
	_, err := io.WriteString(out, runbook.Text)
	return err
}

// text prints it for people.
func (b *blocker) text(out io.Writer, s terminal.Screen, now time.Time) error {
	text := &strings.Builder{}
	b.unattended(text, s)
	fmt.Fprintf(text, "%s %s%s\n", s.Paint(terminal.Bold, b.Cluster), s.Paint(b.State.tone(), b.State.words()), b.duration(now))
	if b.Reason != "" {
		fmt.Fprintf(text, "Step %s: %s\n", orDash(string(b.Step)), s.Paint(terminal.Bold, b.Reason))
	}
	if b.Reason != ucv1.CloudLoopsUnattendedReason {
		paragraph(text, s, terminal.Plain, b.Message)
	}
	paragraph(text, s, terminal.Plain, b.Paused)
	paragraph(text, s, terminal.Plain, b.Meaning)
	b.whoActs(text, s)
	commands(text, s, "Look", b.Look)
	commands(text, s, "Remedy", b.Remedy)
	if b.Kubeconfig != "" {
		fmt.Fprintf(text, "\nKubeconfig of the user cluster: %s (to look; logs and deletions need an administrator's)\n", b.Kubeconfig)
	}
	if b.Runbook != "" {
		fmt.Fprintf(text, "\nRunbook: %s, or here with --runbook\n", b.Runbook)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func (b *blocker) whoActs(text *strings.Builder, s terminal.Screen) {
	tone, words := b.acting()
	paragraph(text, s, tone, words)
}

// acting says who has to do something.
func (b *blocker) acting() (terminal.Tone, string) {
	switch {
	case b.Acts == controlled && b.Unattended != "":
		return terminal.Bad, "The controller is at work on it. Look again in a minute."
	case b.Acts == person && b.Unattended != "":
		return terminal.Bad, "You have to do something now."
	case b.Acts == person:
		return b.State.tone(), "You have to do something. It goes on by itself afterwards; there is nothing to restart."
	case b.Acts == controlled:
		return terminal.Busy, "It goes on by itself."
	case b.Unattended == "":
		return terminal.Good, "Nothing is in the way."
	}
	return terminal.Plain, ""
}

// unattended comes before everything else.
func (b *blocker) unattended(text *strings.Builder, s terminal.Screen) {
	if b.Unattended == "" {
		return
	}
	for _, line := range terminal.Wrap(b.Unattended, s.Width) {
		text.WriteString(s.Paint(terminal.Bad, line) + "\n")
	}
	text.WriteString("\n")
}

func (b *blocker) duration(now time.Time) string {
	if b.Since.IsZero() {
		return ""
	}
	return ", for " + terminal.Age(now.Sub(b.Since.Time))
}

func paragraph(text *strings.Builder, s terminal.Screen, t terminal.Tone, words string) {
	if words == "" {
		return
	}
	text.WriteString("\n")
	for _, line := range terminal.Wrap(words, s.Width-2) {
		fmt.Fprintf(text, "  %s\n", s.Paint(t, line))
	}
}

// commands are never broken, so that they can be copied.
func commands(text *strings.Builder, s terminal.Screen, title string, blocks []commandBlock) {
	for _, block := range blocks {
		fmt.Fprintf(text, "\n%s:\n", s.Paint(terminal.Bold, block.head(title)))
		for _, command := range block.Commands {
			fmt.Fprintf(text, "  %s\n", command)
		}
	}
}

// head says what the commands are for, where they run, and when.
func (c commandBlock) head(title string) string {
	head := title + ", " + c.Where
	if c.Where != "anywhere" {
		head = title + ", in the " + c.Where
	}
	if c.Only != "" {
		head += ", " + c.Only
	}
	return head
}
