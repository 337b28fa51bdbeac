package apiserver

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
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

// MetricsTLS is for a client that may read the metrics of the cluster's managers, which know it by its certificate.
func (c *Cluster) MetricsTLS() (*tls.Config, error) {
	issued, err := c.ca.client(validity, "sampler", "system:masters")
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(issued.certificate, issued.key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{certificate}, RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}, nil
}

// anonymous trusts the API server and is no one. It has no client-side rate limit:
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

// writeKubeconfigs makes the identities of the administrator and the components. A token tells the API server who they
// are: it verifies a chain of certificates in every request, which is a fifth of the work of a small one.
func (c *Cluster) writeKubeconfigs() error {
	var tokens []byte
	known := func(name, group string) *rest.Config {
		config := c.anonymous()
		config.BearerToken = rand.Text()
		tokens = fmt.Appendf(tokens, "%s,%s,%s,%s\n", config.BearerToken, name, name, group)
		return config
	}
	c.admin = known("kubernetes-admin", "system:masters")
	scheduler := known("system:kube-scheduler", "system:authenticated")
	controllerManager := known("system:kube-controller-manager", "system:authenticated")
	return writeAll(map[string][]byte{
		c.files.Tokens:                      tokens,
		c.files.AdminKubeconfig:             c.Kubeconfig(c.admin),
		c.files.SchedulerKubeconfig:         c.Kubeconfig(scheduler),
		c.files.ControllerManagerKubeconfig: c.Kubeconfig(controllerManager),
	})
}
