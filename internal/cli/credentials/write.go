package credentials

import (
	"context"
	"fmt"
	"io"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// target is where everything goes.
type target struct {
	cluster        *ucv1.Cluster
	manager, admin client.Client
	config         *rest.Config
}

// write the rights, and then the Secret, with credentials that were tried.
func (o *options) write(ctx context.Context, out io.Writer, t target, objects []*unstructured.Unstructured) error {
	key, entry := secretKey(t.cluster)
	secret, err := existing(ctx, t.manager, key)
	if err != nil {
		return fmt.Errorf("read Secret %s of the management cluster: %w", key, err)
	}
	if len(secret.Data[entry]) > 0 && !o.replace {
		return terminal.UsageError(fmt.Errorf("secret %s has key %s already; --replace writes it again", key, entry))
	}
	for _, object := range objects {
		apply := client.ApplyConfigurationFromUnstructured(object)
		if err := t.admin.Apply(ctx, apply, fieldOwner, client.ForceOwnership); err != nil {
			return fmt.Errorf("apply %s %s in the user cluster: %w", object.GetKind(), object.GetName(), err)
		}
	}
	kubeconfig, expires, err := o.issue(ctx, t)
	if err != nil {
		return err
	}
	if err := try(ctx, kubeconfig); err != nil {
		return err
	}
	if err := save(ctx, t.manager, secret, entry, kubeconfig); err != nil {
		return fmt.Errorf("write Secret %s of the management cluster: %w", key, err)
	}
	_, err = fmt.Fprintf(out, "Applied %d objects in the user cluster at %s.\n"+
		"Wrote key %s of Secret %s: a %s, which expires at %s.\nBefore that, run this again with --replace.\n",
		len(objects), t.config.Host, entry, key, map[string]string{"certificate": "client certificate", "token": "token"}[o.method],
		expires.UTC().Format(time.RFC3339))
	return err
}

// issue credentials in a kubeconfig, and say when they expire.
func (o *options) issue(ctx context.Context, t target) ([]byte, time.Time, error) {
	by := certificate
	if o.method == "token" {
		by = token
	}
	credentials, err := by(ctx, t.admin, o.lasts)
	if err != nil {
		return nil, time.Time{}, err
	}
	kubeconfig, err := o.kubeconfig(t, credentials)
	return kubeconfig, credentials.expires, err
}

// save the kubeconfig. Other keys of the Secret stay as they are.
func save(ctx context.Context, c client.Client, secret *corev1.Secret, entry string, kubeconfig []byte) error {
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	secret.Data[entry] = kubeconfig
	if secret.ResourceVersion == "" {
		return c.Create(ctx, secret)
	}
	return c.Update(ctx, secret)
}

// kubeconfig with everything embedded: the manager refuses files and programs.
func (o *options) kubeconfig(t target, credentials issued) ([]byte, error) {
	file := clientcmdapi.NewConfig()
	file.Clusters["user-cluster"] = &clientcmdapi.Cluster{Server: t.config.Host, CertificateAuthorityData: t.config.CAData,
		TLSServerName: t.config.ServerName}
	if o.server != "" {
		file.Clusters["user-cluster"].Server = o.server
	}
	file.AuthInfos[user] = &credentials.auth
	file.Contexts["user-cluster"] = &clientcmdapi.Context{Cluster: "user-cluster", AuthInfo: user}
	file.CurrentContext = "user-cluster"
	return clientcmd.Write(*file)
}

// rightsTimeout is how long an API server may take to see a new binding: its authorizer watches them.
const rightsTimeout = 15 * time.Second

// try whether the credentials are known and have rights.
func try(ctx context.Context, kubeconfig []byte) error {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return err
	}
	config.Timeout = management.Timeout
	scheme, err := management.NewScheme()
	if err != nil {
		return err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("try the new credentials at %s: %w", config.Host, err)
	}
	err = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, rightsTimeout, true, func(ctx context.Context) (bool, error) {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Resource: "nodes"},
		}}
		err := c.Create(ctx, review)
		return err == nil && review.Status.Allowed, err
	})
	if wait.Interrupted(err) {
		return fmt.Errorf("the new credentials may not list Nodes of the user cluster at %s %s after the rights were applied; see "+
			"that it authorizes by RBAC", config.Host, rightsTimeout)
	}
	if err != nil {
		return fmt.Errorf("try the new credentials at %s: %w", config.Host, err)
	}
	return nil
}
