package report

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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

const statusHelp = `Without a name: all Clusters, in groups by what is wrong, the worst first, each with how far it is. Of all
namespaces, unless -n names one; of those that --selector and --field select.

With a name: the steps of that Cluster, what it waits for, what a person has to do next, and what happened lately. NAME
may be written NAMESPACE/NAME.

It reads Clusters only: what is printed is as old as their status, and the right to get and list them is all it takes.
With --watch it asks for nothing while nothing changes, where there is the right to watch them, too; where there is not,
it looks every --interval, and says so.`

type statusOptions struct {
	management.Access
	terminal.ScreenOptions
	selection
	output   string
	watch    bool
	interval time.Duration
	timeline int
}

// Status shows a fleet, or one Cluster.
func Status() *cobra.Command {
	options := &statusOptions{}
	command := &cobra.Command{
		Use: "status [NAME]", Short: "Says how far the Clusters are, or one of them.", Long: statusHelp, Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return options.run(command.Context(), command.OutOrStdout(), command.ErrOrStderr(), strings.Join(args, ""))
		},
	}
	options.Access.Bind(command.Flags())
	options.ScreenOptions.Bind(command.Flags())
	flags := command.Flags()
	options.bind(flags)
	terminal.BindFormat(flags, &options.output)
	flags.BoolVarP(&options.watch, "watch", "w", false, "Go on, and print it again when it changed.")
	flags.DurationVar(&options.interval, "interval", 2*time.Second, "How often --watch looks at most.")
	flags.IntVar(&options.timeline, "timeline", 8, "How many of the last entries of the timeline to print.")
	return command
}

func (o *statusOptions) run(ctx context.Context, out, notes io.Writer, name string) error {
	if o.interval <= 0 {
		return terminal.UsageError(fmt.Errorf("--interval is %s; it has to be positive", o.interval))
	}
	if err := o.parse(name, o.Namespace); err != nil {
		return terminal.UsageError(err)
	}
	s, err := o.Screen(out, os.Getenv)
	if err != nil {
		return err
	}
	c, host, err := o.Connect()
	if err != nil {
		return err
	}
	name = o.Named(name)
	look := func(ctx context.Context) (snapshot, error) { return o.look(ctx, c, host, name) }
	if !o.watch {
		seen, err := look(ctx)
		if err != nil {
			return err
		}
		text, err := seen(s)
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, text)
		return err
	}
	open, err := o.opener(name)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	return (&follower{statusOptions: o, look: look, open: open, notes: notes}).follow(ctx, out)
}

// snapshot prints what was read at one moment, with the ages of now.
type snapshot func(terminal.Screen) (string, error)

// look reads what was asked for.
func (o *statusOptions) look(ctx context.Context, c client.Client, host, name string) (snapshot, error) {
	printed := func(report any, text func(io.Writer, terminal.Screen) error) snapshot {
		return func(s terminal.Screen) (string, error) {
			out := &bytes.Buffer{}
			err := terminal.Write(out, o.output, report, func(out io.Writer) error { return text(out, s) })
			return out.String(), err
		}
	}
	if name == "" {
		clusters, err := o.clusters(ctx, c)
		if err != nil {
			return nil, err
		}
		report := newFleetReport(clusters, &o.selection)
		return printed(report, func(out io.Writer, s terminal.Screen) error { return report.text(out, s, time.Now()) }), nil
	}
	cluster, err := o.Read(ctx, c, host, name)
	if err != nil {
		return nil, err
	}
	report := newClusterDetails(cluster)
	return printed(report, func(out io.Writer, s terminal.Screen) error { return report.text(out, s, time.Now(), o.timeline) }), nil
}

// clusters may come from the API server's cache: a fleet that is watched must not load etcd.
func (o *statusOptions) clusters(ctx context.Context, c client.Client) ([]ucv1.Cluster, error) {
	list := &ucv1.ClusterList{}
	options := &client.ListOptions{
		Namespace: o.Namespace, LabelSelector: o.label, Raw: &metav1.ListOptions{ResourceVersion: "0"},
	}
	switch err := c.List(ctx, list, options); {
	case apierrors.IsForbidden(err) && o.Namespace == "":
		return nil, fmt.Errorf("list the Clusters of all namespaces; name one that you may read with -n: %w", err)
	case err != nil:
		return nil, fmt.Errorf("list the Clusters: %w", err)
	}
	return list.Items, nil
}
