package fleet

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

const statusHelp = `Without a name: all FleetMigrations, each with its waves and what people have to do.

With a name: also what its Clusters wait for, how full its budgets are, when its windows change, and when it ends if all
goes as it did so far.

With --watch it goes on, and prints it again when it changed.`

type statusOptions struct {
	options
	watch    bool
	interval time.Duration
}

func statusCommand() *cobra.Command {
	o := &statusOptions{}
	command := &cobra.Command{
		Use: "status [NAME]", Short: "Says how far FleetMigrations are, and who has to do what.", Long: statusHelp,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			report := func(v *view) (printer, error) { return newStatusReport(v, strings.Join(args, "")) }
			if !o.watch {
				return o.print(command.Context(), command.OutOrStdout(), report)
			}
			return o.follow(command.Context(), command.OutOrStdout(), command.ErrOrStderr(), report)
		},
	}
	o.bind(command)
	command.Flags().BoolVarP(&o.watch, "watch", "w", false, "Go on, and print it again when it changed.")
	command.Flags().DurationVar(&o.interval, "interval", 10*time.Second, "How often --watch looks.")
	return command
}

// follow goes on until it is stopped. What cannot be read for a moment is said, and ends nothing.
func (o *statusOptions) follow(ctx context.Context, out, notes io.Writer, report func(*view) (printer, error)) error {
	if o.interval <= 0 {
		return terminal.UsageError(fmt.Errorf("--interval is %s; it has to be positive", o.interval))
	}
	c, host, err := o.Connect()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ticker := time.NewTicker(o.interval)
	defer ticker.Stop()
	shown := &terminal.Frames{Out: out, Redraw: o.output == "text", YAML: o.output == "yaml"}
	defer shown.End()
	for {
		s, err := o.screen(out)
		if err != nil {
			return err
		}
		text, problem := o.frame(ctx, c, host, s, report)
		if ctx.Err() != nil {
			return nil
		}
		if err := o.show(shown, notes, s, text, problem); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// show a frame. What must not stand in a document is a note.
func (o *statusOptions) show(shown *terminal.Frames, notes io.Writer, s terminal.Screen, text string, problem error) error {
	if problem == nil || o.output == "text" {
		return shown.Show(s, text)
	}
	_, err := io.WriteString(notes, text)
	return err
}

// frame is what there is now, or why it cannot be read.
func (o *statusOptions) frame(
	ctx context.Context, c client.Client, host string, s terminal.Screen, report func(*view) (printer, error),
) (string, error) {
	out := &bytes.Buffer{}
	v, err := look(ctx, c, host, time.Now())
	if err != nil {
		return "Error: " + err.Error() + "\n", err
	}
	made, err := report(v)
	if err != nil {
		return "Error: " + err.Error() + "\n", err
	}
	err = terminal.Write(out, o.output, made, func(out io.Writer) error { return made.text(out, s) })
	return out.String(), err
}
