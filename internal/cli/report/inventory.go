package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
)

const inventoryHelp = `Shows the inventory that was taken before the hand-over: load balancers, volumes and their
attachments, Nodes, StorageClasses, and the number of Nodes with a route.

With --diff it reads the user cluster, too, and says what is not as it was: first what no one knows a reason for, which
blocks step Verify, then what is explained, such as Nodes that were replaced. It changes nothing. Values of annotations
and labels are not shown.

Exit codes: 0, 1 when something could not be read, 3 when --diff finds an unexplained difference.`

// inventoryReport is what inventory prints.
type inventoryReport struct {
	Cluster     string                 `json:"cluster"`
	TakenAt     *metav1.Time           `json:"takenAt,omitempty"`
	Secret      string                 `json:"secret"`
	Baseline    *inventoryCounts       `json:"baseline,omitempty"`
	Now         *inventoryCounts       `json:"now,omitempty"`
	Differences []baseline.Difference  `json:"differences,omitempty"`
	Objects     *observation.Inventory `json:"objects,omitempty"`
	Unexplained int                    `json:"unexplained"`
}

// inventoryCounts are the numbers of an inventory.
type inventoryCounts struct {
	LoadBalancers  int `json:"loadBalancers"`
	Volumes        int `json:"volumes"`
	Attachments    int `json:"attachments"`
	Nodes          int `json:"nodes"`
	Routes         int `json:"routes"`
	StorageClasses int `json:"storageClasses"`
}

func countInventory(i observation.Inventory) *inventoryCounts {
	return &inventoryCounts{len(i.LoadBalancers), len(i.Volumes), len(i.Attachments), len(i.Nodes), i.Routes, len(i.StorageClasses)}
}

type inventoryOptions struct {
	management.Access
	allow  usercluster.Allow
	diff   bool
	output string
}

// Inventory shows the baseline, and what differs from it.
func Inventory() *cobra.Command {
	options := &inventoryOptions{}
	command := &cobra.Command{
		Use:   "inventory [NAMESPACE/]NAME",
		Short: "Shows what the cluster had before the hand-over, and what differs now.",
		Long:  inventoryHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return options.run(command.Context(), command.OutOrStdout(), args[0])
		},
	}
	options.Bind(command.Flags())
	management.BindAllow(command.Flags(), &options.allow, management.Loopback()...)
	command.Flags().BoolVar(&options.diff, "diff", false, "Read the user cluster and say what is not as it was.")
	terminal.BindFormat(command.Flags(), &options.output)
	return command
}

func (o *inventoryOptions) run(ctx context.Context, out io.Writer, name string) error {
	cluster, c, err := o.Cluster(ctx, name)
	if err != nil {
		return err
	}
	observed := observation.Observation{Cluster: cluster}
	if observed.Baseline, err = readBaseline(ctx, c, cluster); err != nil {
		return err
	}
	if o.diff {
		session, err := usercluster.Dial(
			ctx,
			cluster,
			usercluster.Options{SecretReader: c, Management: c, Scheme: c.Scheme(), Allow: o.allow},
		)
		if err != nil {
			return fmt.Errorf("cluster %s: %w", client.ObjectKeyFromObject(cluster), err)
		}
		observed.Machines, observed.Nodes = session.Machines.Observe(ctx), session.Facts.Nodes(ctx)
		observed.Inventory = baseline.WithNodes(session.Facts.Inventory(ctx), observed.Nodes, observed.Machines)
		observed.Gone = session.Facts.Gone(ctx, baseline.MissingOf(observed.Baseline, observed.Inventory))
	}
	report, err := newInventoryReport(observed, o.diff)
	if err != nil {
		return err
	}
	if err := terminal.Write(out, o.output, report, report.text); err != nil {
		return err
	}
	if report.Unexplained > 0 {
		return terminal.WithCode(errors.New("there are unexplained differences; look at the events of these objects, and name those "+
			"that are meant to be so in spec.rollout.acceptChanges"), terminal.ExitNotSo)
	}
	return nil
}

func readBaseline(
	ctx context.Context,
	c client.Client,
	cluster *ucv1.Cluster,
) (observation.Observed[observation.Inventory], error) {
	none := observation.Absent[observation.Inventory]()
	if cluster.Status.Baseline == nil {
		return none, fmt.Errorf(
			"cluster %s/%s has no baseline: it is taken right before the hand-over",
			cluster.Namespace,
			cluster.Name,
		)
	}
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Status.Baseline.SecretName}
	secret := &corev1.Secret{}
	switch err := c.Get(ctx, key, secret); {
	case apierrors.IsNotFound(err):
		return none, fmt.Errorf("secret %s with the baseline is gone; restore it", key)
	case err != nil:
		return none, fmt.Errorf("read Secret %s with the baseline: %w", key, err)
	}
	inventory, err := baseline.Decode(secret.Data)
	if err != nil {
		return none, fmt.Errorf("secret %s is no baseline; restore it: %w", key, err)
	}
	if inventory.Digest() != cluster.Status.Baseline.Digest {
		return none, fmt.Errorf(
			"secret %s is not the baseline that was taken: its digest is not that of status.baseline; restore it",
			key,
		)
	}
	return observation.Known(inventory), nil
}

func newInventoryReport(observed observation.Observation, diff bool) (*inventoryReport, error) {
	cluster, before := observed.Cluster, observed.Baseline.Value()
	report := &inventoryReport{Cluster: cluster.Namespace + "/" + cluster.Name, TakenAt: cluster.Status.Baseline.TakenAt,
		Secret: cluster.Status.Baseline.SecretName, Baseline: countInventory(before)}
	if !diff {
		report.Objects = withoutValues(before)
		return report, nil
	}
	compared := baseline.Compare(observed)
	differences, known := compared.Get()
	if !known {
		return nil, fmt.Errorf("cluster %s could not be compared with its baseline: %s", report.Cluster, compared.Why())
	}
	report.Now, report.Differences = countInventory(observed.Inventory.Value()), differences
	for _, difference := range differences {
		if difference.Explained == "" {
			report.Unexplained++
		}
	}
	return report, nil
}

// withoutValues of annotations and labels: tenants write them, and what is printed here goes into tickets.
func withoutValues(inventory observation.Inventory) *observation.Inventory {
	inventory.LoadBalancers, inventory.Nodes = slices.Clone(inventory.LoadBalancers), slices.Clone(inventory.Nodes)
	for i := range inventory.LoadBalancers {
		inventory.LoadBalancers[i].Annotations = keysOf(inventory.LoadBalancers[i].Annotations)
	}
	for i := range inventory.Nodes {
		inventory.Nodes[i].Labels = keysOf(inventory.Nodes[i].Labels)
	}
	return &inventory
}

func keysOf(values map[string]string) map[string]string {
	keys := make(map[string]string, len(values))
	for key := range values {
		keys[key] = ""
	}
	return keys
}

// text prints the report for people.
func (r *inventoryReport) text(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "Cluster\t%s\nTaken\t%s\nSecret\t%s\n\n", r.Cluster, terminal.At(r.TakenAt), r.Secret)
	fmt.Fprint(w, "WHAT\tBEFORE")
	now := inventoryCounts{}
	if r.Now != nil {
		fmt.Fprint(w, "\tNOW")
		now = *r.Now
	}
	for _, row := range []struct {
		name        string
		before, now int
	}{
		{"load balancers", r.Baseline.LoadBalancers, now.LoadBalancers}, {"volumes", r.Baseline.Volumes, now.Volumes},
		{"attachments", r.Baseline.Attachments, now.Attachments}, {"Nodes", r.Baseline.Nodes, now.Nodes},
		{"Nodes with a route", r.Baseline.Routes, now.Routes}, {"StorageClasses", r.Baseline.StorageClasses, now.StorageClasses},
	} {
		fmt.Fprintf(w, "\n%s\t%d", row.name, row.before)
		if r.Now != nil {
			fmt.Fprintf(w, "\t%d", row.now)
		}
	}
	fmt.Fprintln(w)
	r.list(w)
	return w.Flush()
}

// list prints the objects of the baseline, or the differences.
func (r *inventoryReport) list(w io.Writer) {
	if r.Objects != nil {
		for _, balancer := range r.Objects.LoadBalancers {
			fmt.Fprintf(w, "\nService %s/%s\t%v", balancer.Namespace, balancer.Name, balancer.Ingress)
		}
		for _, node := range r.Objects.Nodes {
			fmt.Fprintf(w, "\nNode %s\t%s", node.Name, node.ProviderID)
		}
		for _, volume := range r.Objects.Volumes {
			fmt.Fprintf(w, "\nPersistentVolume %s\t%s %s", volume.Name, volume.Phase, volume.Claim)
		}
		fmt.Fprintln(w)
		return
	}
	fmt.Fprintf(w, "\n%d unexplained, %d explained\n", r.Unexplained, len(r.Differences)-r.Unexplained)
	for _, difference := range r.Differences {
		mark, because := "!", "unexplained"
		if difference.Explained != "" {
			mark, because = " ", difference.Explained
		}
		if difference.Warning {
			mark = "?"
		}
		fmt.Fprintf(w, "%s %s\t%s\n", mark, difference, because)
	}
}
