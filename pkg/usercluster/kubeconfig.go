package usercluster

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Allow lists what a kubeconfig may use although its author then runs code, reads files or redirects traffic in the
// management cluster. The zero value allows nothing: a kubeconfig is tenant input.
type Allow struct {
	Exec          bool
	AuthProvider  bool
	FilePaths     bool
	InsecureTLS   bool
	Proxy         bool
	Impersonation bool
	// Addresses are where API servers may be although they are of the manager's own host or of its cloud's metadata service.
	Addresses []net.IPNet
}

// KubeconfigError says why a kubeconfig is not used. It never holds a value of the kubeconfig: parsers quote their input,
// so their errors are dropped.
type KubeconfigError struct {
	// Reason is KubeconfigInvalid, KubeconfigRefused or Unauthorized.
	Reason string
	// Message is what follows "the kubeconfig".
	Message string
}

// Error implements error.
func (e *KubeconfigError) Error() string {
	return "the kubeconfig " + e.Message
}

func invalid(message string) error {
	return &KubeconfigError{Reason: ucv1.KubeconfigInvalidReason, Message: message}
}

// ParseKubeconfig makes a client configuration of the current context, or returns a *KubeconfigError.
func ParseKubeconfig(data []byte, allow Allow) (*rest.Config, error) {
	file, err := loadKubeconfig(data)
	if err != nil {
		return nil, err
	}
	current, ok := file.Contexts[file.CurrentContext]
	if !ok {
		return nil, invalid("has no context of the name in current-context")
	}
	cluster, user := file.Clusters[current.Cluster], file.AuthInfos[current.AuthInfo]
	if cluster == nil {
		return nil, invalid("has no cluster of the name in its current context")
	}
	if user == nil {
		return nil, invalid("has no user of the name in its current context")
	}
	server, err := url.Parse(cluster.Server)
	if err != nil || server.Host == "" || server.User != nil || (server.Scheme != "https" && server.Scheme != "http") {
		return nil, invalid("has no server of the form https://host:port in its current context")
	}
	if found := refusals(cluster, user, server.Scheme, allow); len(found) > 0 {
		return nil, &KubeconfigError{Reason: ucv1.KubeconfigRefusedReason, Message: "uses " + strings.Join(found, ", ") +
			", which is not allowed: embed a client certificate or a token and the certificate authority instead"}
	}
	return clientConfig(file)
}

// identifies says that the client has something to show who it is.
func identifies(config *rest.Config) bool {
	certificate := len(config.CertData) > 0 || config.CertFile != ""
	return certificate || config.BearerToken != "" || config.BearerTokenFile != "" || config.Username != "" ||
		config.ExecProvider != nil || config.AuthProvider != nil
}

func clientConfig(file *clientcmdapi.Config) (*rest.Config, error) {
	config, err := clientcmd.NewDefaultClientConfig(*file, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, invalid("is not consistent: check the cluster and the user of its current context")
	}
	if _, err := rest.TLSConfigFor(config); err != nil {
		return nil, invalid("has certificate data that cannot be used: check that it is PEM and that key and certificate match")
	}
	if !identifies(config) {
		// To such a caller most API servers still answer that they are ready.
		return nil, &KubeconfigError{Reason: ucv1.UnauthorizedReason, Message: "has no credentials in its current context, so that " +
			"the API server sees system:anonymous: embed a client certificate or a token"}
	}
	return config, nil
}

// refusals names the fields that are used and not allowed, in the spelling of a kubeconfig.
func refusals(cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo, scheme string, allow Allow) []string {
	impersonates := user.Impersonate != "" || user.ImpersonateUID != "" ||
		len(user.ImpersonateGroups) > 0 || len(user.ImpersonateUserExtra) > 0
	checks := []struct {
		field         string
		used, allowed bool
	}{
		{"exec", user.Exec != nil, allow.Exec},
		{"auth-provider", user.AuthProvider != nil, allow.AuthProvider},
		{"the file path tokenFile", user.TokenFile != "", allow.FilePaths},
		{"the file path client-certificate", user.ClientCertificate != "", allow.FilePaths},
		{"the file path client-key", user.ClientKey != "", allow.FilePaths},
		{"the file path certificate-authority", cluster.CertificateAuthority != "", allow.FilePaths},
		{"insecure-skip-tls-verify", cluster.InsecureSkipTLSVerify, allow.InsecureTLS},
		{"a server without TLS", scheme == "http", allow.InsecureTLS},
		{"proxy-url", cluster.ProxyURL != "", allow.Proxy},
		{"impersonation", impersonates, allow.Impersonation},
	}
	var found []string
	for _, check := range checks {
		if check.used && !check.allowed {
			found = append(found, check.field)
		}
	}
	return found
}

// endpointOf is the API server of a kubeconfig without its user, and with the certificate authority in it.
func endpointOf(kubeconfig []byte, config *rest.Config) (*clientcmdapi.Cluster, error) {
	file, err := loadKubeconfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	endpoint := file.Clusters[file.Contexts[file.CurrentContext].Cluster].DeepCopy()
	if endpoint.CertificateAuthority != "" {
		loaded := rest.CopyConfig(config)
		if err := rest.LoadTLSFiles(loaded); err != nil {
			return nil, invalid("has a file path certificate-authority that cannot be read")
		}
		endpoint.CertificateAuthority, endpoint.CertificateAuthorityData = "", loaded.CAData
	}
	endpoint.LocationOfOrigin, endpoint.Extensions = "", nil
	return endpoint, nil
}

// KubeconfigWith leads to the same API server, with a file that holds a token as its only credential. The same kubeconfig
// gives the same bytes.
func (s *Session) KubeconfigWith(tokenFile string) ([]byte, error) {
	const cluster, user = "user-cluster", "cloud-controller-manager"
	text, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{cluster: s.endpoint},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{user: {TokenFile: tokenFile}},
		Contexts:       map[string]*clientcmdapi.Context{user: {Cluster: cluster, AuthInfo: user}},
		CurrentContext: user,
	})
	if err != nil {
		return nil, fmt.Errorf("write a kubeconfig for the cloud-controller-manager: %w", err)
	}
	return text, nil
}
