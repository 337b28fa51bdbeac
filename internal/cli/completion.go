package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

// completionTimeout is how long a person waits for a key.
const completionTimeout = 3 * time.Second

// connector is the way of a command line into the management cluster, and the namespace that it names.
type connector func(*pflag.FlagSet) (c client.Client, namespace string, err error)

// connect by the flags as they are so far.
func connect(flags *pflag.FlagSet) (client.Client, string, error) {
	access := management.AccessOf(flags)
	c, _, err := access.Connect()
	if err != nil {
		return nil, "", err
	}
	namespace, err := access.ResolveNamespace()
	return c, namespace, err
}

// complete what is in the management cluster, in every command: its usage says what its arguments are. What cannot be read is not
// completed.
func complete(command *cobra.Command, connect connector) {
	for _, sub := range command.Commands() {
		complete(sub, connect)
	}
	completion := func(list lister) cobra.CompletionFunc {
		return func(command *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			ctx, cancel := context.WithTimeout(command.Context(), completionTimeout)
			defer cancel()
			c, namespace, err := connect(command.Flags())
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			found := list(ctx, c, request{namespace: namespace, args: args, named: command.Flags().Changed("namespace")})
			found = slices.DeleteFunc(found, func(one string) bool { return !strings.HasPrefix(one, typed) })
			return slices.Compact(slices.Sorted(slices.Values(found))), cobra.ShellCompDirectiveNoFileComp
		}
	}
	if takes := argumentsOf(command); len(takes) > 0 {
		command.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) >= len(takes) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completion(takes[len(args)])(c, args, typed)
		}
	}
	for name, completes := range map[string]cobra.CompletionFunc{
		"namespace": completion(namespaces), "output": formats(command), "provider": providers,
	} {
		if command.Flags().Lookup(name) != nil {
			_ = command.RegisterFlagCompletionFunc(name, completes) // A command of a group may have that of the group.
		}
	}
}

// request is what was typed before the word that is completed. Named says that the namespace is that of the flag.
type request struct {
	namespace string
	named     bool
	args      []string
}

// lister finds what a word can be.
type lister func(context.Context, client.Client, request) []string

// argumentsOf a command, by its usage: why NAME, fleet gate NAME WAVE.
func argumentsOf(command *cobra.Command) (takes []lister) {
	fleet := command.HasParent() && command.Parent().Name() == "fleet"
	for _, word := range strings.Fields(command.Use)[1:] {
		switch strings.NewReplacer("[", "", "]", "").Replace(word) {
		case "NAME":
			if fleet {
				takes = append(takes, fleetMigrations)
			} else {
				takes = append(takes, clusters)
			}
		case "NAMESPACE/NAME", "CLUSTER":
			takes = append(takes, clusters)
		case "WAVE":
			takes = append(takes, waves)
		default:
			return takes
		}
	}
	return takes
}

// clusters are those of the namespace, and, where no flag names one, of all namespaces as NAMESPACE/NAME.
func clusters(ctx context.Context, c client.Client, r request) (names []string) {
	list := &ucv1.ClusterList{}
	if r.named || c.List(ctx, list) != nil {
		_ = c.List(ctx, list, client.InNamespace(r.namespace))
	}
	for i := range list.Items {
		if list.Items[i].Namespace == r.namespace {
			names = append(names, list.Items[i].Name)
		}
		if !r.named {
			names = append(names, list.Items[i].Namespace+"/"+list.Items[i].Name)
		}
	}
	return names
}

func fleetMigrations(ctx context.Context, c client.Client, _ request) (names []string) {
	list := &ucv1.FleetMigrationList{}
	_ = c.List(ctx, list)
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// waves of the FleetMigration that was typed before.
func waves(ctx context.Context, c client.Client, r request) (names []string) {
	fm := &ucv1.FleetMigration{}
	_ = c.Get(ctx, client.ObjectKey{Name: r.args[0]}, fm)
	for i := range fm.Spec.Waves {
		names = append(names, fm.Spec.Waves[i].Name)
	}
	return names
}

func namespaces(ctx context.Context, c client.Client, _ request) (names []string) {
	list := &corev1.NamespaceList{}
	_ = c.List(ctx, list)
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

func formats(command *cobra.Command) cobra.CompletionFunc {
	var known []string
	if flag := command.Flags().Lookup("output"); flag != nil {
		format, _ := flag.Value.(terminal.Format)
		known = format.Known()
	}
	return cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp)
}

func providers(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return provider.New().Names(), cobra.ShellCompDirectiveNoFileComp
}
