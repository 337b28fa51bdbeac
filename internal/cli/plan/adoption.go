package plan

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
)

const adoptionHelp = `Prints what spec.addons.adoption: Adopt would change in the user cluster: for every object of the
CCM and the CSI driver that exists and is not ours its fields with their old and new values, as the API server's own dry
run has them. Values of Secrets, of ConfigMaps and of the environment of containers are masked. Nothing is changed.

It reads the Cluster, its Secrets and its inventory in the management cluster, with the current kubeconfig, and does the
rest in the user cluster with the credentials of its kubeconfig Secret. Before the start of a migration nothing is
rendered, and so there is nothing to compare.`

// adoptionReport is what adoption prints.
type adoptionReport struct {
	Cluster  string              `json:"cluster"`
	Adoption string              `json:"adoption"`
	Objects  []addons.ObjectPlan `json:"objects"`
}

type adoptionOptions struct {
	bothClusters
	output string
}

// Adoption says what taking over the objects of someone else would change.
func Adoption() *cobra.Command {
	options := &adoptionOptions{}
	command := &cobra.Command{
		Use:   "adoption NAME",
		Short: "Says what adopting the addon objects of someone else would change.",
		Long:  adoptionHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return options.run(command.Context(), command.OutOrStdout(), args[0])
		},
	}
	options.bind(command.Flags())
	terminal.BindFormat(command.Flags(), &options.output)
	return command
}

func (o *adoptionOptions) run(ctx context.Context, out io.Writer, name string) error {
	both, err := o.open(ctx, name)
	if err != nil {
		return err
	}
	key, adoption := client.ObjectKeyFromObject(both.cluster), both.cluster.Spec.Addons.Adoption
	plans, err := both.observer.AdoptionPlan(ctx, both.cluster, both.session)
	if err != nil {
		return fmt.Errorf("cluster %s: %w", key, err)
	}
	report := adoptionReport{Cluster: key.String(), Adoption: string(adoption), Objects: plans}
	if report.Adoption == "" {
		report.Adoption = "Never"
	}
	return terminal.Write(out, o.output, report, report.text)
}

func (r adoptionReport) text(out io.Writer) error {
	text := &strings.Builder{}
	if len(r.Objects) == 0 {
		fmt.Fprintf(text, "Cluster %s: no object of someone else's is in the place of one of ours.\n", r.Cluster)
	} else {
		fmt.Fprintf(text, "Cluster %s: spec.addons.adoption is %s.\n", r.Cluster, r.Adoption)
	}
	for _, plan := range r.Objects {
		fmt.Fprintf(text, "\n%s\n", plan.Object)
		switch {
		case plan.Problem != "":
			fmt.Fprintf(text, "  ! %s\n", plan.Problem)
		case len(plan.Changes) == 0:
			fmt.Fprintln(text, "  nothing but its owner")
		}
		for _, change := range plan.Changes {
			fmt.Fprintf(text, "  %s: %s -> %s\n", change.Path, shown(change.From), shown(change.To))
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// shown is a value on one line.
func shown(value string) string {
	if value == "" {
		return "(none)"
	}
	return strings.ReplaceAll(value, "\n", "\\n")
}
