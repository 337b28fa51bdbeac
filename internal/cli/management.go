package cli

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// managementTimeout bounds every request of a command to the management cluster.
const managementTimeout = 15 * time.Second

// management is the way of a command into the management cluster: the current kubeconfig, as kubectl takes it.
type management struct {
	namespace string
}

func (m *management) bind(flags *pflag.FlagSet) {
	flags.StringVarP(&m.namespace, "namespace", "n", "", "Namespace of the Cluster; default is that of the kubeconfig's current context.")
	// controller-runtime registers the flag with Go's own flags, and reads it there.
	flags.AddGoFlag(flag.Lookup(config.KubeconfigFlagName))
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, ucv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// cluster reads the Cluster, and returns the client that did.
func (m *management) cluster(ctx context.Context, name string) (*ucv1.Cluster, client.Client, error) {
	restConfig, err := ctrl.GetConfig()
	if err != nil {
		return nil, nil, fmt.Errorf("find the management cluster: %w", err)
	}
	restConfig.Timeout = managementTimeout
	scheme, err := newScheme()
	if err != nil {
		return nil, nil, err
	}
	c, err := client.New(restConfig, client.Options{Scheme: scheme})
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the management cluster: %w", err)
	}
	namespace, err := m.resolveNamespace()
	if err != nil {
		return nil, nil, err
	}
	cluster := &ucv1.Cluster{}
	key := client.ObjectKey{Namespace: namespace, Name: name}
	switch err := c.Get(ctx, key, cluster); {
	case apierrors.IsNotFound(err):
		return nil, nil, fmt.Errorf("cluster %s does not exist in the management cluster at %s; 'kubectl get uc -A' lists what there is, -n names the namespace",
			key, restConfig.Host)
	case err != nil:
		return nil, nil, fmt.Errorf("read Cluster %s in the management cluster at %s: %w", key, restConfig.Host, err)
	}
	return cluster, c, nil
}

func (m *management) resolveNamespace() (string, error) {
	if m.namespace != "" {
		return m.namespace, nil
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = flag.Lookup(config.KubeconfigFlagName).Value.String()
	namespace, _, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).Namespace()
	if err != nil {
		return "", fmt.Errorf("find the namespace of the kubeconfig's current context; name it with -n: %w", err)
	}
	return namespace, nil
}
