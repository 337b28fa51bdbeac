package management

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Timeout bounds every request of a command to the management cluster.
const Timeout = 15 * time.Second

// Access is the way of a command into the management cluster: the current kubeconfig, as kubectl takes it.
type Access struct {
	Namespace           string
	kubeconfig, context string
}

// AccessOf is the way that flags which Bind made name.
func AccessOf(flags *pflag.FlagSet) *Access {
	of := func(name string) string {
		if flag := flags.Lookup(name); flag != nil {
			return flag.Value.String()
		}
		return ""
	}
	return &Access{Namespace: of("namespace"), kubeconfig: of("kubeconfig"), context: of("context")}
}

// Bind the flags of the way.
func (m *Access) Bind(flags *pflag.FlagSet) {
	flags.StringVarP(&m.Namespace, "namespace", "n", "", "Namespace of the Cluster; default is that of the kubeconfig's "+
		"context.")
	// Not the one that controller-runtime registers with Go's own flags: all commands of a process would share it.
	flags.StringVar(&m.kubeconfig, "kubeconfig", "", "Path of a kubeconfig; default is $KUBECONFIG, and then ~/.kube/config.")
	flags.StringVar(&m.context, "context", "", "Context of the kubeconfig; default is its current one.")
}

func (m *Access) config() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = m.kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: m.context})
}

// NewScheme has the kinds that commands and the manager read and write.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, ucv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// Connect makes a client, and says where the management cluster is.
func (m *Access) Connect() (client.Client, string, error) {
	return m.connectWithin(Timeout)
}

// Watcher is a client whose requests have no deadline: that would end a watch.
func (m *Access) Watcher() (client.WithWatch, error) {
	c, _, err := m.connectWithin(0)
	return c, err
}

// RESTConfig is what a client is made of. Its requests end after a time; zero means never.
func (m *Access) RESTConfig(timeout time.Duration) (*rest.Config, error) {
	restConfig, err := m.config().ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("find the management cluster: there is no kubeconfig; name one by --kubeconfig or $KUBECONFIG")
	}
	if err != nil {
		return nil, fmt.Errorf("find the management cluster: %w", err)
	}
	restConfig.Timeout, restConfig.QPS = timeout, -1 // The API server has priority and fairness.
	return restConfig, nil
}

func (m *Access) connectWithin(timeout time.Duration) (client.WithWatch, string, error) {
	restConfig, err := m.RESTConfig(timeout)
	if err != nil {
		return nil, "", err
	}
	scheme, err := NewScheme()
	if err != nil {
		return nil, "", err
	}
	c, err := client.NewWithWatch(restConfig, client.Options{Scheme: scheme})
	if err != nil {
		return nil, "", fmt.Errorf("connect to the management cluster: %w", err)
	}
	return c, restConfig.Host, nil
}

// Named takes the namespace from NAMESPACE/NAME.
func (m *Access) Named(name string) string {
	if namespace, rest, found := strings.Cut(name, "/"); found {
		m.Namespace, name = namespace, rest
	}
	return name
}

// Cluster reads the Cluster, and returns the client that did.
func (m *Access) Cluster(ctx context.Context, name string) (*ucv1.Cluster, client.Client, error) {
	c, host, err := m.Connect()
	if err != nil {
		return nil, nil, err
	}
	cluster, err := m.Read(ctx, c, host, m.Named(name))
	return cluster, c, err
}

// Read the Cluster with a client, and say in the error where it looked.
func (m *Access) Read(ctx context.Context, c client.Client, host, name string) (*ucv1.Cluster, error) {
	namespace, err := m.ResolveNamespace()
	if err != nil {
		return nil, err
	}
	cluster := &ucv1.Cluster{}
	key := client.ObjectKey{Namespace: namespace, Name: name}
	switch err := c.Get(ctx, key, cluster); {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("cluster %s does not exist in the management cluster at %s; 'kubectl get uc -A' lists what there is, "+
			"-n names the namespace",
			key, host)
	case err != nil:
		return nil, fmt.Errorf("read Cluster %s in the management cluster at %s: %w", key, host, err)
	}
	return cluster, nil
}

// ResolveNamespace is the one of the flag, or of the current context.
func (m *Access) ResolveNamespace() (string, error) {
	if m.Namespace != "" {
		return m.Namespace, nil
	}
	namespace, _, err := m.config().Namespace()
	if err != nil {
		return "", fmt.Errorf("find the namespace of the kubeconfig's current context; name it with -n: %w", err)
	}
	return namespace, nil
}
