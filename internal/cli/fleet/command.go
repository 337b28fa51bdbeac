package fleet

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

const fleetHelp = `Says how far FleetMigrations are, what each Cluster waits for, who ends that and when, and what comes.

These commands read the Clusters and FleetMigrations of all namespaces, and the Namespaces where a FleetMigration selects
by them. They decide what the manager decides, from what there is now, and change nothing.`

// mostColumns is the width of what is printed at most, but for commands, which stay whole so that they can be copied.
const mostColumns = 80

// Command is the group of commands about FleetMigrations.
func Command() *cobra.Command {
	command := &cobra.Command{
		Use: "fleet", Short: "Says how far FleetMigrations are, and what their Clusters wait for.", Long: fleetHelp,
	}
	command.AddCommand(statusCommand(), whyCommand(), planCommand(), gateCommand(), failuresCommand())
	return command
}

// options are those of every command.
type options struct {
	management.Access
	terminal.ScreenOptions
	output string
}

func (o *options) bind(command *cobra.Command) {
	o.Access.Bind(command.Flags())
	// FleetMigrations have no namespace, and budgets count the Clusters of all.
	command.Flags().Lookup("namespace").Hidden = command.Name() != "why"
	o.ScreenOptions.Bind(command.Flags())
	terminal.BindFormat(command.Flags(), &o.output)
}

// screen to print on: not wider than mostColumns.
func (o *options) screen(out io.Writer) (terminal.Screen, error) {
	s, err := o.Screen(out, os.Getenv)
	s.Width = min(s.Width, mostColumns)
	return s, err
}

// printer is what a command has to say.
type printer interface {
	text(out io.Writer, s terminal.Screen) error
}

// print what a command makes of what there is.
func (o *options) print(ctx context.Context, out io.Writer, report func(*view) (printer, error)) error {
	s, err := o.screen(out)
	if err != nil {
		return err
	}
	c, host, err := o.Connect()
	if err != nil {
		return err
	}
	v, err := look(ctx, c, host, time.Now())
	if err != nil {
		return err
	}
	made, err := report(v)
	if err != nil {
		return err
	}
	return terminal.Write(out, o.output, made, func(out io.Writer) error { return made.text(out, s) })
}

// look at a fleet.
func look(ctx context.Context, c client.Client, host string, now time.Time) (*view, error) {
	seen, err := read(ctx, c, host, now)
	if err != nil {
		return nil, err
	}
	return newView(seen, provider.New().CanMigrate), nil
}
