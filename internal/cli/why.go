package cli

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
)

const whyHelp = `Says what is in the way of a Cluster, who has to do something about it, and what to run: the words and commands of its
runbook, with the names filled in. Of commands that do harm at the wrong moment, only the names of the Cluster are.

It reads the Cluster only: what is printed is as old as its status. It changes nothing, and runs no command.`

type whyOptions struct {
	management
	screenOptions
	output  string
	runbook bool
}

func whyCommand() *cobra.Command {
	options := &whyOptions{}
	command := &cobra.Command{
		Use: "why NAME", Short: "Says what is in the way of a Cluster, and what to run.", Long: whyHelp, Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			cluster, _, err := options.cluster(command.Context(), args[0])
			if err != nil {
				return err
			}
			what := blockerOf(cluster)
			if options.runbook {
				return writeRunbook(command.OutOrStdout(), what)
			}
			s, err := options.screen(command.OutOrStdout(), os.Getenv)
			if err != nil {
				return err
			}
			return write(command.OutOrStdout(), options.output, what, func(out io.Writer) error { return what.text(out, s, time.Now()) })
		},
	}
	options.management.bind(command.Flags())
	options.screenOptions.bind(command.Flags())
	command.Flags().StringVarP(&options.output, "output", "o", "text", outputFlag)
	command.Flags().BoolVar(&options.runbook, "runbook", false, "Print the whole runbook of what is in the way.")
	return command
}

func writeRunbook(out io.Writer, what blocker) error {
	runbook, found := runbooks.Lookup(strings.TrimSuffix(path.Base(what.Runbook), ".md"))
	if !found {
		return fmt.Errorf("cluster %s: there is no runbook for %s; 'why' without --runbook says what there is", what.Cluster, orDash(what.Reason))
	}
	_, err := io.WriteString(out, runbook.Text)
	return err
}

// text prints it for people.
func (b *blocker) text(out io.Writer, s screen, now time.Time) error {
	text := &strings.Builder{}
	b.unattended(text, s)
	fmt.Fprintf(text, "%s %s%s\n", s.paint(bold, b.Cluster), s.paint(b.State.tone(), b.State.words()), b.duration(now))
	if b.Reason != "" {
		fmt.Fprintf(text, "Step %s: %s\n", orDash(string(b.Step)), s.paint(bold, b.Reason))
	}
	if b.Reason != ucv1.CloudLoopsUnattendedReason {
		paragraph(text, s, plain, b.Message)
	}
	paragraph(text, s, plain, b.Paused)
	paragraph(text, s, plain, b.Meaning)
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

func (b *blocker) whoActs(text *strings.Builder, s screen) {
	switch {
	case b.Acts == controlled && b.Unattended != "":
		paragraph(text, s, bad, "The controller is at work on it. Look again in a minute.")
	case b.Acts == person && b.Unattended != "":
		paragraph(text, s, bad, "You have to do something now.")
	case b.Acts == person:
		paragraph(text, s, b.State.tone(), "You have to do something. It goes on by itself afterwards; there is nothing to restart.")
	case b.Acts == controlled:
		paragraph(text, s, busy, "It goes on by itself.")
	case b.Unattended == "":
		paragraph(text, s, good, "Nothing is in the way.")
	}
}

// unattended comes before everything else.
func (b *blocker) unattended(text *strings.Builder, s screen) {
	if b.Unattended == "" {
		return
	}
	for _, line := range wrap(b.Unattended, s.width) {
		text.WriteString(s.paint(bad, line) + "\n")
	}
	text.WriteString("\n")
}

func (b *blocker) duration(now time.Time) string {
	if b.Since.IsZero() {
		return ""
	}
	return ", for " + age(now.Sub(b.Since.Time))
}

func paragraph(text *strings.Builder, s screen, t tone, words string) {
	if words == "" {
		return
	}
	text.WriteString("\n")
	for _, line := range wrap(words, s.width-2) {
		fmt.Fprintf(text, "  %s\n", s.paint(t, line))
	}
}

// commands are never broken, so that they can be copied.
func commands(text *strings.Builder, s screen, title string, blocks []commandBlock) {
	for _, block := range blocks {
		head := title + ", " + block.Where
		if block.Where != "anywhere" {
			head = title + ", in the " + block.Where
		}
		if block.Only != "" {
			head += ", " + block.Only
		}
		fmt.Fprintf(text, "\n%s:\n", s.paint(bold, head))
		for _, command := range block.Commands {
			fmt.Fprintf(text, "  %s\n", command)
		}
	}
}
