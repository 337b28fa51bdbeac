package fence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/leases"
)

const (
	silentFlag = "yes-kube-controller-manager-is-silent"
	// recheckFor is how long the API server may take to follow a change of RBAC: its authorizer reads the rules from a
	// watch.
	recheckFor = 10 * time.Second
)

const fenceHelp = `The fence keeps the CCM of a user cluster from its Lease, and so from running cloud loops: it is open while a
Role and a RoleBinding of ours are in the user cluster. These commands need no controller. They read the
Cluster and its kubeconfig Secret in the management cluster, with the current kubeconfig, and do the rest in
the user cluster with that Secret's credentials.

Exit codes:
  0  done; for status: everything could be looked at
  1  could not be done or looked at; the message says why
  2  refused, nothing was changed (open, while KCM is not proven silent)
  3  done, but the user cluster still says otherwise: the fence is not open after open, or not closed after close`

// fenceOptions are the flags of fence.
type fenceOptions struct {
	management.Access
	allow   usercluster.Allow
	output  string
	lookFor time.Duration
	silent  bool
}

// fenceTarget is a Cluster whose fence is looked at or moved.
type fenceTarget struct {
	cluster  *ucv1.Cluster
	session  *usercluster.Session
	identity manifest.Identity
	// management is where the CCM is when it is beside the control plane.
	management client.Reader
	// kcm are KCM's arguments, as far as they are known: they name its Lease.
	kcm        observation.Arguments
	kcmProblem string
}

// Command looks at the fence of a CCM, and opens or closes it by hand.
func Command() *cobra.Command {
	options := &fenceOptions{}
	command := &cobra.Command{
		Use:   "fence",
		Short: "Looks at, opens or closes the fence of a user cluster's CCM, also when the controller is gone.",
		Long:  fenceHelp,
	}
	options.Bind(command.PersistentFlags())
	management.BindAllow(command.PersistentFlags(), &options.allow, management.Loopback()...)

	status := &cobra.Command{
		Use: "status NAME", Short: "Says whether the fence is open, who leads, and what that means.", Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return options.status(command.Context(), command.OutOrStdout(), args[0])
		},
	}
	terminal.BindFormat(status.Flags(), &options.output)
	status.Flags().DurationVar(&options.lookFor, "look-for", 5*time.Second, "How long to wait to see the Leases being renewed.")
	open := &cobra.Command{
		Use: "open NAME", Short: "Lets the CCM write its Lease, so that it leads and runs the cloud loops.", Args: cobra.ExactArgs(1),
		Long: "Lets the CCM write its Lease. It is refused unless the status of the Cluster says that KCM was proven silent:\n" +
			"two managers would work on the same load balancers, routes and Nodes.",
		RunE: func(command *cobra.Command, args []string) error {
			return options.open(command.Context(), terminal.Output{Writer: command.OutOrStdout()}, args[0])
		},
	}
	open.Flags().BoolVar(&options.silent, silentFlag, false, "You made sure that no process of KCM runs cloud loops: each one "+
		"ended, or has them off in its --controllers.")
	closing := &cobra.Command{
		Use: "close NAME", Short: "Takes the Lease from the CCM, so that it ends at its renew deadline.", Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return options.close(command.Context(), terminal.Output{Writer: command.OutOrStdout()}, args[0])
		},
	}
	command.AddCommand(status, open, closing)
	return command
}

func (o *fenceOptions) status(ctx context.Context, out io.Writer, name string) error {
	cluster, c, err := o.Cluster(ctx, name)
	if err != nil {
		return err
	}
	target, err := o.target(ctx, cluster, c)
	if err != nil {
		return err
	}
	report := target.look(ctx, o.lookFor)
	if err := terminal.Write(out, o.output, report, report.text(time.Now())); err != nil {
		return err
	}
	if len(report.Problems) > 0 {
		return fmt.Errorf("cluster %s: could not look at everything: %s", report.Cluster, strings.Join(report.Problems, "; "))
	}
	return nil
}

// target connects to the user cluster.
func (o *fenceOptions) target(ctx context.Context, cluster *ucv1.Cluster, c client.Client) (*fenceTarget, error) {
	key := client.ObjectKeyFromObject(cluster)
	catalogue := provider.New()
	profile, found := catalogue.Lookup(cluster.Spec.Cloud.ProviderName)
	if !found {
		return nil, fmt.Errorf("cluster %s: provider %q is not in the catalogue (%s), so there is no CCM of ours and no fence",
			key, cluster.Spec.Cloud.ProviderName, strings.Join(catalogue.Names(), ", "))
	}
	session, err := usercluster.Dial(ctx, cluster, usercluster.Options{SecretReader: c, Scheme: c.Scheme(), Allow: o.allow})
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", key, err)
	}
	target := &fenceTarget{cluster: cluster, session: session, identity: profile.Identity(), management: c}
	if target.kcm, err = kcmArguments(ctx, c, cluster); err != nil {
		target.kcmProblem = "reading KCM's arguments, which name its Lease: " + err.Error()
	}
	return target, nil
}

// kcmArguments are those of KCM's Deployment; none where there is no such Deployment, or where they are not understood.
func kcmArguments(ctx context.Context, c client.Reader, cluster *ucv1.Cluster) (observation.Arguments, error) {
	ref := cluster.KubeControllerManager()
	deployment := &appsv1.Deployment{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: ref.Name}, deployment); err != nil {
		return observation.Arguments{}, client.IgnoreNotFound(err)
	}
	for i, container := range deployment.Spec.Template.Spec.Containers {
		if container.Name == ref.Container {
			return controlplane.ParseArguments(&deployment.Spec.Template.Spec.Containers[i]), nil
		}
	}
	return observation.Arguments{}, nil
}

func (o *fenceOptions) open(ctx context.Context, out io.Writer, name string) error {
	cluster, c, err := o.Cluster(ctx, name)
	if err != nil {
		return err
	}
	doubt := silenceDoubt(cluster)
	since, _ := silentSince(cluster)
	if doubt != "" && !o.silent {
		return terminal.WithCode(fmt.Errorf("cluster %s/%s: the fence is not opened: %s. Two managers would run the cloud loops. "+
			"'ccm-migration-controller handover %s -n %s' says what is missing; when you have made sure that no process of KCM runs "+
			"cloud loops, add --%s",
			cluster.Namespace, cluster.Name, doubt, cluster.Name, cluster.Namespace, silentFlag), terminal.ExitRefused)
	}
	target, err := o.target(ctx, cluster, c)
	if err != nil {
		return err
	}
	silence := "KCM was proven silent by " + terminal.At(since)
	if doubt != "" {
		silence = "You vouch for KCM's silence (--" + silentFlag + ")"
	}
	fmt.Fprintf(
		out,
		"%s.\nApplying %s in the user cluster of Cluster %s/%s: %s may then write Lease %s/%s, and a CCM that waits "+
			"there leads at its next retry.\n",
		silence,
		target.objects(),
		cluster.Namespace,
		cluster.Name,
		leases.UserName(target.identity),
		target.identity.LeaseNamespace,
		target.identity.LeaseName,
	)
	if err := target.session.Leases.OpenFence(ctx, target.identity); err != nil {
		return fmt.Errorf("cluster %s/%s: %w", cluster.Namespace, cluster.Name, err)
	}
	report, err := target.recheck(ctx, fenceOpen)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The fence is open: %s is allowed now. 'ccm-migration-controller fence status %s -n %s' says whether the "+
		"CCM leads.\n",
		report.verbs(true), cluster.Name, cluster.Namespace)
	return nil
}

func (o *fenceOptions) close(ctx context.Context, out io.Writer, name string) error {
	cluster, c, err := o.Cluster(ctx, name)
	if err != nil {
		return err
	}
	target, err := o.target(ctx, cluster, c)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Deleting %s in the user cluster of Cluster %s/%s.\n", target.objects(), cluster.Namespace, cluster.Name)
	if err := target.session.Leases.CloseFence(ctx, target.identity); err != nil {
		return fmt.Errorf("cluster %s/%s: %w", cluster.Namespace, cluster.Name, err)
	}
	report, err := target.recheck(ctx, fenceClosed)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The fence is closed: %s is denied now. A CCM that leads ends at its renew deadline (10 s unless its flags "+
		"say otherwise); "+
		"after that it runs no cloud loop.\n%s\n", report.verbs(false), reopening(cluster))
	return nil
}

// reopening says what the manager does about a closed fence.
func reopening(cluster *ucv1.Cluster) string {
	deleted := !cluster.DeletionTimestamp.IsZero()
	switch {
	case deleted && cluster.Annotations[ucv1.AbandonAnnotation] == "true":
		return "The Cluster is being deleted and has annotation " + ucv1.AbandonAnnotation +
			": the manager lets it go and leaves the fence closed."
	case cluster.Spec.Paused:
		return "spec.paused is set on the Cluster: the manager leaves the fence closed until you take that back."
	case cluster.AddonsReleased():
		return "spec.addons.management is Released: the manager leaves the fence closed, and a deleted Cluster waits until the CCM " +
			"leads. Open it with 'fence open'."
	}
	text := "The manager, where it runs, opens the fence again by itself as long as it holds KCM for silent, unless spec.paused " +
		"is set on the Cluster."
	if deleted {
		text += " The Cluster is being deleted: it goes when the CCM leads again, or at once with annotation " +
			ucv1.AbandonAnnotation + "=true, which leaves the fence closed."
	} else {
		text += " A Cluster that is deleted goes only after that."
	}
	return text + fmt.Sprintf(" To keep it closed:\n"+
		"  kubectl patch uc %s -n %s --type=merge -p '{\"spec\":{\"paused\":true}}'", cluster.Name, cluster.Namespace)
}

// objects names our Role and RoleBinding.
func (f *fenceTarget) objects() string {
	var names []string
	for _, object := range render.FenceObjects(f.identity) {
		names = append(names, object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName())
	}
	return strings.Join(names, " and ")
}

// recheck asks the user cluster until the fence is as it should be.
func (f *fenceTarget) recheck(ctx context.Context, want string) (*fenceReport, error) {
	report := &fenceReport{}
	err := wait.PollUntilContextTimeout(ctx, pollInterval, recheckFor, true, func(context.Context) (bool, error) {
		report = &fenceReport{}
		report.addFence(f.session.Leases.Fence(ctx, f.identity), f.identity)
		return report.Fence == want, nil
	})
	if err == nil {
		return report, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	f.lookAtObjects(ctx, report)
	problem := errors.New(strings.Join(append([]string{report.meaning()}, report.Problems...), " "))
	return nil, terminal.WithCode(fmt.Errorf("cluster %s/%s: the change was made, but %s later the fence is not %s: %w",
		f.cluster.Namespace, f.cluster.Name, recheckFor, strings.ToLower(want), problem), terminal.ExitNotSo)
}
