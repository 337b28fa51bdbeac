package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// Run works until its context ends.
type Run func(ctx context.Context) error

// Command makes a command whose flags are those of Go's flag package, because
// the real binaries take single-dash flags. setup registers the flags and
// returns what runs once they are parsed.
func Command(name, short string, setup func(*flag.FlagSet) Run) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Short:              short,
		DisableFlagParsing: true,
		SilenceUsage:       true,
		RunE: func(command *cobra.Command, args []string) error {
			run, err := Parse(name, args, command.ErrOrStderr(), setup)
			if errors.Is(err, flag.ErrHelp) {
				return nil
			}
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(command.Context(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
			return run(ctx)
		},
	}
}

// Parse registers the flags of a program and parses args; nothing runs yet.
func Parse(name string, args []string, out io.Writer, setup func(*flag.FlagSet) Run) (Run, error) {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(out)
	run := setup(flags)
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("parse the flags of %s: %w", name, err)
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("%s takes no arguments but got %q: write a flag's value with =", name, flags.Args())
	}
	return run, nil
}

// Ignore accepts flags of the real binary that mean nothing here.
func Ignore(flags *flag.FlagSet, names ...string) {
	for _, name := range names {
		flags.Func(name, "accepted, has no effect", func(string) error { return nil })
	}
}

// IgnoreBool is Ignore for flags without a value.
func IgnoreBool(flags *flag.FlagSet, names ...string) {
	for _, name := range names {
		flags.BoolFunc(name, "accepted, has no effect", func(value string) error {
			_, err := strconv.ParseBool(value)
			return err
		})
	}
}

// RESTConfig reads a kubeconfig file; an empty path means the Pod's own
// ServiceAccount. The client side limit is off: a testbed wants speed; and so are
// warnings: the names of the real finalizers draw one at every write.
func RESTConfig(path string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %q, check its path and content: %w", path, err)
	}
	config.QPS = -1
	config.WarningHandlerWithContext = rest.NoWarnings{}
	return config, nil
}
