package apiserver

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// tokenLifetime of a service account's kubeconfig outlasts every test.
const tokenLifetime = 24 * 60 * 60

// kubeconfig has no reference to a file, so that it works from inside a Secret.
const kubeconfig = `apiVersion: v1
kind: Config
clusters:
- name: %[1]s
  cluster:
    server: %[2]s
    certificate-authority-data: %[3]s
contexts:
- name: %[1]s
  context: {cluster: %[1]s, user: %[1]s}
current-context: %[1]s
users:
- name: %[1]s
  user: {%[4]s}
`

// AdminConfig is the configuration of a client that may do everything.
func (c *Cluster) AdminConfig() *rest.Config { return rest.CopyConfig(c.admin) }

// ClientCert returns the configuration of a client that is known by a new
// certificate as user commonName, member of groups.
func (c *Cluster) ClientCert(commonName string, groups ...string) (*rest.Config, error) {
	return c.ClientCertFor(validity, commonName, groups...)
}

// ClientCertFor is one with a certificate that runs out.
func (c *Cluster) ClientCertFor(lifetime time.Duration, commonName string, groups ...string) (*rest.Config, error) {
	issued, err := c.ca.client(lifetime, commonName, groups...)
	if err != nil {
		return nil, err
	}
	config := c.anonymous()
	config.CertData, config.KeyData = issued.certificate, issued.key
	return config, nil
}

// anonymous trusts the API server and is nobody. It has no client-side rate limit:
// waiting in a client would only blur what the testbed measures.
func (c *Cluster) anonymous() *rest.Config {
	return &rest.Config{
		Host:            fmt.Sprintf("https://%s:%d", loopback, c.ports.apiserver.number),
		QPS:             -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.ca.pem},
	}
}

// Kubeconfig renders a configuration that this cluster gave out as a self-contained file.
func (c *Cluster) Kubeconfig(config *rest.Config) []byte {
	user := "token: " + config.BearerToken
	if config.BearerToken == "" {
		user = "client-certificate-data: " + encode(config.CertData) + ", client-key-data: " + encode(config.KeyData)
	}
	return fmt.Appendf(nil, kubeconfig, c.options.Name, config.Host, encode(config.CAData), user)
}

func encode(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// TokenKubeconfig returns a kubeconfig that speaks as a service account, which must exist.
func (c *Cluster) TokenKubeconfig(ctx context.Context, namespace, serviceAccount string) ([]byte, error) {
	client, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		return nil, fmt.Errorf("token of service account %s/%s: %w", namespace, serviceAccount, err)
	}
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](tokenLifetime)},
	}
	answer, err := client.CoreV1().ServiceAccounts(namespace).
		CreateToken(ctx, serviceAccount, request, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("token of service account %s/%s: %w", namespace, serviceAccount, err)
	}
	config := c.anonymous()
	config.BearerToken = answer.Status.Token
	return c.Kubeconfig(config), nil
}

// writeKubeconfigs makes the identities of the administrator and the components.
func (c *Cluster) writeKubeconfigs() error {
	admin, err := c.ClientCert("kubernetes-admin", "system:masters")
	if err != nil {
		return err
	}
	c.admin = admin
	scheduler, err := c.ClientCert("system:kube-scheduler")
	if err != nil {
		return err
	}
	controllerManager, err := c.ClientCert("system:kube-controller-manager")
	if err != nil {
		return err
	}
	return writeAll(map[string][]byte{
		c.files.AdminKubeconfig:             c.Kubeconfig(admin),
		c.files.SchedulerKubeconfig:         c.Kubeconfig(scheduler),
		c.files.ControllerManagerKubeconfig: c.Kubeconfig(controllerManager),
	})
}
