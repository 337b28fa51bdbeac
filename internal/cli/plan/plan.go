package plan

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	authenticationv1 "k8s.io/api/authentication/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
)

const planHelp = `Says what the migration of a cluster would do from now on, and changes nothing: what stands against
it, every change in order with its objects and fields, the Machines that are replaced, whom that disturbs, how long it
takes and what that rests on, the point of no return, and what is different afterwards.

It reads both clusters, has the API servers' own dry runs compare objects, and lets a simulation go on from there by the
same rules that the controller follows, with people absent. A Cluster whose feature is off is planned as if it were
switched on now. Values of Secrets, of ConfigMaps and of the environment of containers are masked.

It uses the current kubeconfig in the management cluster, and the kubeconfig Secret of the Cluster in the user cluster.
--output=html is one page that can be attached to a change request. The digest is what spec.approval.planDigest takes.`

type planOptions struct {
	bothClusters
	output string
}

// Command says what a migration would do.
func Command() *cobra.Command {
	options := &planOptions{}
	command := &cobra.Command{
		Use:   "plan [NAMESPACE/]NAME",
		Short: "Says what the migration of a cluster would do, and changes nothing.",
		Long:  planHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return options.run(command.Context(), command.OutOrStdout(), command.ErrOrStderr(), args[0])
		},
	}
	options.bind(command.Flags())
	terminal.BindFormats(command.Flags(), &options.output, "text", "json", "yaml", "html")
	return command
}

func (o *planOptions) run(ctx context.Context, out, errs io.Writer, name string) error {
	page, err := o.make(ctx, errs, name)
	if err != nil {
		return err
	}
	if o.output == "html" {
		return page.Write(terminal.Output{Writer: out})
	}
	return writePlan(out, o.output, page.Plan)
}

func (o *planOptions) make(ctx context.Context, errs io.Writer, name string) (Page, error) {
	progress := terminal.NewProgress(errs, os.Getenv, 3)
	defer progress.End()
	progress.Step("Connecting to the user cluster")
	both, err := o.open(ctx, name)
	if err != nil {
		return Page{}, err
	}
	progress.Step("Reading both clusters, and comparing objects by dry runs")
	now := time.Now()
	input, err := both.observer.PlanInput(ctx, both.cluster, both.session, now)
	if err != nil {
		return Page{}, fmt.Errorf("cluster %s: %w", client.ObjectKeyFromObject(both.cluster), err)
	}
	progress.Step("Simulating the migration")
	page := Page{Plan: plan.Make(input), MadeAt: now, Started: both.cluster.Status.StartedAt != nil}
	if o.output == "html" {
		page.MadeBy = whoAsks(ctx, both.management)
	}
	return page, nil
}

// whoAsks is how the management cluster calls whoever asks; empty where it does not say.
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#self-subject-review
func whoAsks(ctx context.Context, c client.Client) string {
	review := &authenticationv1.SelfSubjectReview{}
	if err := c.Create(ctx, review, client.DryRunAll); err != nil {
		return ""
	}
	return review.Status.UserInfo.Username
}

func writePlan(out io.Writer, format string, made plan.Plan) error {
	return terminal.Write(out, format, made, func(out io.Writer) error { return planText(out, made) })
}
