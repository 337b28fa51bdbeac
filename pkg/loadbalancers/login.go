package loadbalancers

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
	"github.com/gophercloud/utils/v2/openstack/clientconfig"

	cloud "github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/openstack"
)

// requestTimeout bounds one request, its answer included.
const requestTimeout = 10 * time.Second

// maxAnswer bounds an answer: a load balancer of Octavia has 1 KiB, and the IDs of its listeners and pools.
const maxAnswer = 4 << 20

// octavia is a session with the load balancers of a project.
type octavia struct {
	client *gophercloud.ServiceClient
	// project of the credentials; empty where they are of none.
	project string
}

// logIn does what the CCM does with the same configuration:
// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/client/client.go#L133-L310
func (c Cloud) logIn(ctx context.Context, config map[string][]byte) (*octavia, error) {
	login, err := cloud.LoginOf(config)
	if err != nil {
		return nil, err
	}
	options, err := authOptions(login.Global)
	if err != nil {
		return nil, errors.New("the credentials in cloud.conf cannot be used")
	}
	provider, err := openstack.NewClient(options.IdentityEndpoint)
	if err != nil {
		return nil, errors.New("auth-url in cloud.conf is no URL")
	}
	if provider.HTTPClient, err = c.httpClient(login); err != nil {
		return nil, err
	}
	if login.Global["trust-id"] != "" {
		err = openstack.AuthenticateV3(ctx, provider, &options, gophercloud.EndpointOpts{})
	} else {
		err = openstack.Authenticate(ctx, provider, options)
	}
	if err != nil {
		return nil, said("log in to Keystone", err)
	}
	client, err := openstack.NewLoadBalancerV2(provider, gophercloud.EndpointOpts{
		Region: login.Global["region"], Availability: gophercloud.Availability(cmp.Or(login.Global["os-endpoint-type"], "public")),
	})
	if err != nil {
		return nil, said("find Octavia", err)
	}
	return &octavia{client: client, project: projectOf(provider)}, nil
}

// authOptions are made by the CCM's own library.
func authOptions(global map[string]string) (gophercloud.AuthOptions, error) {
	made, err := clientconfig.AuthOptions(&clientconfig.ClientOpts{
		EnvPrefix: "_", // No variable of our own environment begins with it.
		AuthInfo: &clientconfig.AuthInfo{
			AuthURL: global["auth-url"], UserID: global["user-id"], Username: global["username"], Password: global["password"],
			ProjectID: global["tenant-id"], ProjectName: global["tenant-name"],
			DomainID: global["domain-id"], DomainName: global["domain-name"],
			ProjectDomainID: global["tenant-domain-id"], ProjectDomainName: global["tenant-domain-name"],
			UserDomainID: global["user-domain-id"], UserDomainName: global["user-domain-name"],
			ApplicationCredentialID:     global["application-credential-id"],
			ApplicationCredentialName:   global["application-credential-name"],
			ApplicationCredentialSecret: global["application-credential-secret"],
		},
	})
	if err != nil {
		return gophercloud.AuthOptions{}, err
	}
	options := *made
	if trust := global["trust-id"]; trust != "" {
		options.TenantID, options.TenantName = "", ""
		options.UserID = cmp.Or(global["trustee-id"], options.UserID)
		options.Password = cmp.Or(global["trustee-password"], options.Password)
		if options.Scope == nil {
			options.Scope = &gophercloud.AuthScope{}
		}
		options.Scope.TrustID = trust
	}
	return options, nil
}

// projectOf the credentials; a Keystone of version 2 says it in another way, and a list of its load balancers is of one project
// anyway.
func projectOf(provider *gophercloud.ProviderClient) string {
	result, v3 := provider.GetAuthResult().(tokens.CreateResult)
	if !v3 {
		return ""
	}
	project, err := result.ExtractProject()
	if err != nil || project == nil {
		return ""
	}
	return project.ID
}

// httpClient goes by no proxy, follows no redirect, and judges each address when it connects to it.
func (c Cloud) httpClient(login cloud.Login) (http.Client, error) {
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if login.Global["tls-insecure"] == "true" {
		return http.Client{}, errors.New("tls-insecure in cloud.conf is true, and the password is sent to no one who proves nothing: " +
			"add ca-file in its place")
	}
	if bundle := login.Files["ca-file"]; len(bundle) > 0 {
		settings.RootCAs = x509.NewCertPool()
		settings.RootCAs.AppendCertsFromPEM(bundle)
	}
	if certificate, key := login.Files["cert-file"], login.Files["key-file"]; len(certificate) > 0 && len(key) > 0 {
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			return http.Client{}, errors.New("cert-file and key-file of cloud.conf are no pair")
		}
		settings.Certificates = []tls.Certificate{pair}
	}
	return http.Client{
		Timeout:       requestTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
		Transport: bounded{next: &http.Transport{
			DialContext: c.Dial, TLSClientConfig: settings, TLSHandshakeTimeout: requestTimeout, DisableKeepAlives: false,
			MaxResponseHeaderBytes: 64 << 10, IdleConnTimeout: requestTimeout,
		}},
	}, nil
}

var errRedirect = errors.New("it redirects to another address")

// bounded reads no more than maxAnswer of an answer.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := b.next.RoundTrip(request)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswer)
	}
	return answer, err
}

// said is an error without a word of the cloud: what it answers may repeat what it was sent.
func said(what string, err error) error {
	var code gophercloud.ErrUnexpectedResponseCode
	var unnamed *gophercloud.ErrEndpointNotFound
	var network *net.OpError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &code):
		return fmt.Errorf("%s: the answer is %d %s", what, code.Actual, http.StatusText(code.Actual))
	case errors.As(err, &unnamed):
		return fmt.Errorf("%s: Keystone names no endpoint of load-balancer for this region", what)
	case errors.Is(err, errRedirect):
		return fmt.Errorf("%s: %w", what, errRedirect)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: no answer in time", what)
	case errors.As(err, &untrusted):
		return fmt.Errorf("%s: its certificate is not trusted", what)
	case errors.As(err, &network):
		return fmt.Errorf("%s: %w", what, network)
	}
	return fmt.Errorf("%s: the answer is not understood", what)
}
