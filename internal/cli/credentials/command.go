package credentials

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

const help = `Grants the manager its rights in the user cluster of a Cluster, and writes the kubeconfig Secret that the manager
uses: with an administrator's kubeconfig of the user cluster, which is read once and stored nowhere.

Without --create it prints the rights, and changes nothing. With --create it applies them in the user cluster, asks there for
a client certificate of User ccm-migration-controller, or for a token of ServiceAccount kube-system/ccm-migration-controller,
tries them, and writes the Secret that spec.kubeconfigSecretRef of the Cluster names. The certificate has to be signed by
kube-controller-manager, as most are; a token is shortened by many API servers. Both expire: run it again with --replace
before that. No credentials are printed.`

type options struct {
	management.Access
	admin, adminContext, server, method string
	lasts                               time.Duration
	create, replace                     bool
}

// Command makes what the manager needs in a user cluster.
func Command() *cobra.Command {
	o := &options{}
	command := &cobra.Command{
		Use:   "usercluster-credentials NAME --admin-kubeconfig=FILE",
		Short: "Grants the manager its rights in a user cluster, and writes its kubeconfig Secret.",
		Long:  help,
		Example: "  ccm-migration-controller usercluster-credentials user-example/example --admin-kubeconfig=example.kubeconfig\n" +
			"  ccm-migration-controller usercluster-credentials user-example/example --admin-kubeconfig=example.kubeconfig --create",
		Args: terminal.UsageArguments(cobra.ExactArgs(1)),
		RunE: func(command *cobra.Command, args []string) error {
			return o.run(command.Context(), command.OutOrStdout(), args[0])
		},
	}
	flags := command.Flags()
	o.Bind(flags)
	flags.StringVar(&o.admin, "admin-kubeconfig", "", "Path of an administrator's kubeconfig of the user cluster.")
	flags.StringVar(&o.adminContext, "admin-context", "", "Context of that kubeconfig; default is its current one.")
	flags.StringVar(&o.server, "server", "", "URL at which the manager reaches the API server; default is that of the "+
		"administrator's kubeconfig.")
	flags.StringVar(&o.method, "method", "certificate", "Credentials: certificate or token.")
	flags.DurationVar(&o.lasts, "expires-in", 365*24*time.Hour, "How long the credentials are to be valid.")
	flags.BoolVar(&o.create, "create", false, "Apply the rights, and write the Secret.")
	flags.BoolVar(&o.replace, "replace", false, "Write the Secret also where it is there already.")
	return command
}

func (o *options) check() error {
	switch {
	case o.admin == "":
		return errors.New("--admin-kubeconfig is missing: name an administrator's kubeconfig of the user cluster")
	case o.method != "certificate" && o.method != "token":
		return fmt.Errorf("--method is %q; it is certificate or token", o.method)
	case o.lasts < 10*time.Minute:
		return errors.New("--expires-in is at least 10m")
	}
	return nil
}

func (o *options) run(ctx context.Context, out io.Writer, name string) error {
	if err := o.check(); err != nil {
		return terminal.UsageError(err)
	}
	cluster, manager, err := o.Cluster(ctx, name)
	if err != nil {
		return err
	}
	config, err := o.userCluster()
	if err != nil {
		return err
	}
	admin, err := client.New(config, client.Options{Scheme: manager.Scheme()})
	if err != nil {
		return fmt.Errorf("connect to the user cluster at %s: %w", config.Host, err)
	}
	objects, err := o.rights(ctx, admin, cluster)
	if err != nil {
		return err
	}
	if !o.create {
		return show(out, objects)
	}
	return o.write(ctx, out, target{cluster: cluster, manager: manager, admin: admin, config: config}, objects)
}

// userCluster is the way of the administrator, with everything embedded.
func (o *options) userCluster() (*rest.Config, error) {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: o.admin}, &clientcmd.ConfigOverrides{CurrentContext: o.adminContext},
	).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read --admin-kubeconfig: %w", err)
	}
	if err := rest.LoadTLSFiles(config); err != nil {
		return nil, fmt.Errorf("read --admin-kubeconfig: %w", err)
	}
	if config.Insecure {
		return nil, terminal.UsageError(errors.New("--admin-kubeconfig does not verify the API server's certificate, so the manager " +
			"would not either: name its certificate authority"))
	}
	config.Timeout = management.Timeout
	return config, nil
}

// rights in the user cluster; a namespace that cannot be looked at counts as there, so that no right is left out in silence.
func (o *options) rights(ctx context.Context, admin client.Client, cluster *ucv1.Cluster) ([]*unstructured.Unstructured, error) {
	err := admin.Get(ctx, client.ObjectKey{Name: bootstrapNamespace}, &corev1.Namespace{})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("look for namespace %s in the user cluster: %w", bootstrapNamespace, err)
	}
	objects, err := rights(cluster.Spec.Cloud.ProviderName, err == nil)
	if err == nil && o.method == "token" {
		objects = forServiceAccount(objects)
	}
	return objects, err
}

func show(out io.Writer, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		text, err := yaml.Marshal(object)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "---\n%s", text); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out, "# These are for the user cluster. Nothing was changed: --create applies them, and writes the "+
		"kubeconfig Secret.")
	return err
}

// fieldOwner of what is applied in the user cluster.
const fieldOwner = client.FieldOwner("ccm-migration-controller-credentials")

// secretKey is where the kubeconfig is to be.
func secretKey(cluster *ucv1.Cluster) (client.ObjectKey, string) {
	ref := cluster.KubeconfigSecret()
	return client.ObjectKey{Namespace: cluster.Namespace, Name: ref.Name}, ref.Key
}

// existing Secret; empty where there is none.
func existing(ctx context.Context, c client.Client, key client.ObjectKey) (*corev1.Secret, error) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	return secret, client.IgnoreNotFound(c.Get(ctx, key, secret))
}
