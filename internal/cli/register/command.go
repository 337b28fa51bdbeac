package register

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/registration"
)

const registerHelp = `Proposes a Cluster for each user cluster that is there already, as manifests on the standard output,
with the feature off and mode PlanOnly. It applies nothing. Comments say for each field where its value comes from and what
to check. A value that could not be found out is left out, and a comment says what to fill in: it is never guessed. A Cluster
that lacks what it needs is refused when you apply it.

It reads the management cluster with the current kubeconfig: Deployments, the Clusters that exist already, and the Secrets that a
proposal names, of which it keeps the names of the keys only. It never connects to a user cluster.

--from=deployments  each Deployment that runs kube-controller-manager, whoever made it
--from=kkp          control planes of KKP in a seed, and KKP's own Clusters
--from=gardener     control planes of Gardener in a seed, and the Clusters of Gardener's extensions
--from=kubeone      the manifests of KubeOneClusters that --filename names: their control planes are static pods

KKP and Gardener reconcile their control planes, and migrate them by themselves: a Cluster for one of them only looks.`

type options struct {
	management.Access
	from, selector, output string
	all                    bool
	files                  []string
}

// Command proposes Clusters for what is there.
func Command() *cobra.Command {
	o := &options{}
	command := &cobra.Command{
		Use:   "register --from=kkp|kubeone|gardener|deployments",
		Short: "Proposes Clusters for user clusters that are there already, and applies nothing.",
		Long:  registerHelp,
		Example: "  ccm-migration-controller register --from=deployments -A\n" +
			"  ccm-migration-controller register --from=kkp -n cluster-abcdefghij\n" +
			"  ccm-migration-controller register --from=kubeone -f kubeone.yaml -n user-example",
		Args: terminal.UsageArguments(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			return o.run(command.Context(), command.OutOrStdout())
		},
	}
	set := command.Flags()
	o.Bind(set)
	set.StringVar(&o.from, "from", "", "What the user clusters are: kkp, kubeone, gardener or deployments.")
	set.BoolVarP(&o.all, "all-namespaces", "A", false, "Look in all namespaces.")
	set.StringVarP(&o.selector, "selector", "l", "", "Labels of the namespaces to look in; with --from=kkp of KKP's Clusters, "+
		"because KKP gives namespaces no labels.")
	set.StringSliceVarP(&o.files, "filename", "f", nil, "With --from=kubeone: files with the manifest of a KubeOneCluster.")
	terminal.BindFormats(set, &o.output, "yaml", "json")
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return terminal.UsageError(err) })
	return command
}

// platform that was asked for, after the flags were found to fit together.
func (o *options) platform() (registration.Platform, error) {
	known := []string{
		string(registration.KKP), string(registration.KubeOne), string(registration.Gardener), string(registration.Deployments),
	}
	kubeOne := o.from == string(registration.KubeOne)
	switch {
	case !slices.Contains(known, o.from):
		return "", fmt.Errorf("--from is %q; it is one of %s", o.from, strings.Join(known, ", "))
	case kubeOne && len(o.files) == 0:
		return "", errors.New("--from=kubeone needs --filename: such control planes are no objects of the management cluster")
	case kubeOne && (o.all || o.selector != ""):
		return "", errors.New("--from=kubeone takes neither --all-namespaces nor --selector: the Cluster goes into --namespace")
	case !kubeOne && len(o.files) > 0:
		return "", errors.New("--filename is for --from=kubeone only")
	}
	return registration.Platform(o.from), nil
}

func (o *options) run(ctx context.Context, out io.Writer) error {
	platform, err := o.platform()
	if err != nil {
		return terminal.UsageError(err)
	}
	selector, err := labels.Parse(o.selector)
	if err != nil {
		return terminal.UsageError(fmt.Errorf("--selector: %w", err))
	}
	namespace := ""
	if !o.all {
		if namespace, err = o.ResolveNamespace(); err != nil {
			return err
		}
	}
	c, host, err := o.Connect()
	if err != nil {
		return err
	}
	catalogue := provider.New()
	l := &look{
		client: c, host: host, platform: platform, namespace: namespace, selector: selector,
		catalogue: catalogue, providers: providersOf(catalogue),
	}
	proposals, err := l.proposals(ctx, o.files)
	if err != nil {
		return err
	}
	return write(out, o.output, report{From: platform, Namespace: namespace, Proposals: proposals})
}

// kubeOnes proposes a Cluster for each file.
func (l *look) kubeOnes(ctx context.Context, files []string) ([]registration.Proposal, error) {
	var proposals []registration.Proposal
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the KubeOneCluster: %w", err)
		}
		cluster, err := registration.ReadKubeOne(data)
		if err != nil {
			return nil, fmt.Errorf("read the KubeOneCluster in %s: %w", file, err)
		}
		seen := l.lookFor(ctx, l.namespace, cluster.ProviderName(l.providers), cluster.Secrets())
		proposals = append(proposals, cluster.Propose(l.namespace, seen, l.providers))
	}
	return proposals, nil
}
