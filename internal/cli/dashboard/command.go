package dashboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

const dashboardHelp = `Serves a page on this machine that shows what status, why, fleet status and inventory print: the
fleet by what is wrong with it, FleetMigrations with their waves, budgets, windows and queues, and each Cluster with its
steps, what it waits for, and what to do. The page follows what changes, until Ctrl-C.

It reads Clusters, FleetMigrations, and Namespaces where a FleetMigration selects by them, with the rights of the
kubeconfig to list and watch them. It reads no Secret, and changes nothing.

It listens on loopback only. The address that it prints lets one browser in, once; who has it sees what you may see.`

type options struct {
	management.Access
	address string
	open    bool
	now     func() time.Time
}

// Command serves the dashboard. Ages are told by the clock now.
func Command(now func() time.Time) *cobra.Command {
	o := &options{now: now}
	command := &cobra.Command{
		Use: "dashboard", Short: "Serves a page on this machine that shows the fleet and each Cluster.", Long: dashboardHelp,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return o.run(command.Context(), command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	o.Bind(command.Flags())
	command.Flags().Lookup("namespace").Usage = "Show the Clusters of this namespace only, and no FleetMigrations."
	command.Flags().StringVar(&o.address, "address", "127.0.0.1:0", "Where to listen: on loopback only. Port 0 takes a free one.")
	command.Flags().BoolVar(&o.open, "open", false, "Open the page in a browser. For a moment, others who work on this machine may "+
		"see its address in the list of processes.")
	return command
}

func (o *options) run(ctx context.Context, out, errs io.Writer) error {
	address, err := loopback(ctx, o.address)
	if err != nil {
		return terminal.UsageError(err)
	}
	// The page says what could not be read, and to whom it matters.
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	config, err := o.RESTConfig(0) // A deadline would end watches.
	if err != nil {
		return err
	}
	seen, err := newSource(config, o.Namespace, o.now)
	if err != nil {
		return err
	}
	shown, err := newPages(o.now, seen.read, func() uint64 { return seen.standing().version })
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen on %s; --address names another one: %w", address, err)
	}
	entrance, err := newDoor(listener.Addr(), shown.refuse)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "Open this address; it works once, and in one browser:\n\n  %s\n\nCtrl-C ends the dashboard.\n",
		entrance.url()); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.open {
		if err := browse(ctx, entrance.url()); err != nil {
			_, _ = fmt.Fprintf(out, "Could not open a browser: %v.\n", err) // The address is printed already.
		}
	}
	rings := newBell()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return seen.run(ctx) })
	group.Go(func() error { seen.showFirstRead(ctx, terminal.NewProgress(errs, os.Getenv, 2)); return nil })
	group.Go(func() error { rings.run(ctx, seen.changed); return nil })
	group.Go(func() error { return serve(ctx, listener, entrance.guard(shown.handler(rings))) })
	return group.Wait()
}

// serve until the context ends. A stream of events has deadlines of its own.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the dashboard: %w", err)
	}
	return nil
}

func browse(ctx context.Context, url string) error {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	command := exec.CommandContext(ctx, program, url)
	if err := command.Start(); err != nil {
		return err
	}
	go func() { _ = command.Wait() }() // What the browser has to say is between it and the person.
	return nil
}
