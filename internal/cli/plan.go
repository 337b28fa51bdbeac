package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controller "github.com/ccm-migration/ccm-migration-controller/controllers/cluster"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
)

const planHelp = `Says what the migration of a cluster would do from now on, and changes nothing: what stands against it, every change in order
with its objects and fields, the Machines that are replaced, whom that disturbs, how long it takes and what that rests on,
the point of no return, and what is different afterwards.

It reads both clusters, has the API servers' own dry runs compare objects, and lets a simulation go on from there by the
same rules that the controller follows, with people absent. A Cluster whose feature is off is planned as if it were switched
on now. Values of Secrets, of ConfigMaps and of the environment of containers are masked.

It uses the current kubeconfig in the management cluster, and the kubeconfig Secret of the Cluster in the user cluster.
--output=html is one page that can be attached to a change request. The digest is what spec.approval.planDigest takes.`

type planOptions struct {
	management
	allow  usercluster.Allow
	output string
}

func planCommand() *cobra.Command {
	options := &planOptions{}
	command := &cobra.Command{
		Use: "plan [NAMESPACE/]NAME", Short: "Says what the migration of a cluster would do, and changes nothing.", Long: planHelp, Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return options.run(command.Context(), command.OutOrStdout(), args[0])
		},
	}
	options.bind(command.Flags())
	bindAllow(command.Flags(), &options.allow, loopback()...)
	command.Flags().StringVarP(&options.output, "output", "o", "text", "Format: text, json, yaml or html.")
	return command
}

func (o *planOptions) run(ctx context.Context, out io.Writer, name string) error {
	if err := checkOutput(o.output, "html"); err != nil {
		return err
	}
	cluster, c, err := o.cluster(ctx, name)
	if err != nil {
		return err
	}
	key := client.ObjectKeyFromObject(cluster)
	session, err := usercluster.Dial(ctx, cluster, usercluster.Options{SecretReader: c, Management: c, Scheme: c.Scheme(), Allow: o.allow})
	if err != nil {
		return fmt.Errorf("cluster %s: %w", key, err)
	}
	reconciler := &controller.Reconciler{
		Client: c, Live: c, Catalogue: provider.New(), Clock: clock.RealClock{},
		ControlPlane: &controlplane.Reader{Live: c, Ledger: controlplane.NewLedger(clock.RealClock{}), Clock: clock.RealClock{}},
	}
	made, err := reconciler.Plan(ctx, cluster, session)
	if err != nil {
		return fmt.Errorf("cluster %s: %w", key, err)
	}
	return writePlan(out, o.output, made)
}

func writePlan(out io.Writer, format string, made plan.Plan) error {
	if format == "html" {
		return planHTML(printer{out}, made)
	}
	return write(out, format, made, func(out io.Writer) error { return planText(out, made) })
}
