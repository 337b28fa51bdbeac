package registries

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

const (
	checkNetwork = "Check the name of the registry, the network, and HTTPS_PROXY."
	lookCloser   = "Look at its answer with skopeo inspect --raw docker://IMAGE."
)

// failed says what an error means. Its text is printed only where it has nothing but addresses: others quote tokens, or where a
// registry redirects to.
func (c *Client) failed(host string, err error) observation.Observed[Manifest] {
	if refusal, is := errors.AsType[*transport.Error](err); is {
		if isAbsent(refusal) {
			return observation.Absent[Manifest]()
		}
		return observation.Unknown[Manifest](refused(host, refusal))
	}
	proxy, isProxy := errors.AsType[proxyError](err)
	connection, isConnection := errors.AsType[*net.OpError](err)
	certificate, isCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	why := host + " gave an answer that cannot be understood. " + lookCloser
	switch {
	case isProxy:
		why = fmt.Sprintf("cannot connect to %s: %s. %s", host, proxy, checkNetwork)
	case errors.Is(err, context.DeadlineExceeded):
		why = fmt.Sprintf("%s did not answer within %s. %s", host, c.timeout, checkNetwork)
	case isConnection:
		why = fmt.Sprintf("cannot connect to %s: %s. %s", host, connection, checkNetwork)
	case isCertificate:
		why = fmt.Sprintf("cannot trust %s: %s. Add its authority to the certificates of this machine.", host, certificate)
	case errors.Is(err, http.ErrSchemeMismatch):
		why = fmt.Sprintf("%s speaks HTTP where HTTPS is needed. Give the registry a certificate.", host)
	}
	return observation.Unknown[Manifest](why)
}

// isAbsent says that the registry itself has no such image. A 404 of a server for tokens, or of one that is no registry, is no
// word about the image. Harbor writes NOT_FOUND, which no specification has.
func isAbsent(refusal *transport.Error) bool {
	return refusal.StatusCode == http.StatusNotFound && refusal.Request != nil &&
		strings.Contains(refusal.Request.URL.Path, "/manifests/") &&
		slices.ContainsFunc(refusal.Errors, func(one transport.Diagnostic) bool {
			return slices.Contains(
				[]transport.ErrorCode{transport.ManifestUnknownErrorCode, transport.NameUnknownErrorCode, "NOT_FOUND"}, one.Code,
			)
		})
}

// refused is the status and the codes of an answer: messages in it are free text. Who answered is the registry, its server for
// tokens, or one that it redirects to.
func refused(host string, refusal *transport.Error) string {
	server := host
	if refusal.Request != nil {
		server = refusal.Request.URL.Host
	}
	said := []string{fmt.Sprintf("%s answered %d %s", server, refusal.StatusCode, http.StatusText(refusal.StatusCode))}
	code := regexp.MustCompile(`^[A-Z_]{1,40}$`)
	for _, one := range refusal.Errors {
		if code.MatchString(string(one.Code)) {
			said = append(said, string(one.Code))
		}
	}
	answer := strings.Join(said, ", ")
	switch status := refusal.StatusCode; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return answer + ". Run " + login(host) + ", and check the name of the image."
	case status == http.StatusTooManyRequests:
		return answer + ". Try again later, or run " + login(host) + "."
	case status >= http.StatusInternalServerError:
		return answer + ". Try again later."
	}
	return answer + ". Check that this is the registry that you mean."
}

// login is the command for a registry. That of Docker Hub names none: under another name the credentials are not found again.
func login(host string) string {
	if host == name.DefaultRegistry {
		return "docker login"
	}
	return "docker login " + host
}

// proxyError is the status that a proxy answered with, in place of its text.
type proxyError int

func (e proxyError) Error() string {
	return fmt.Sprintf("the proxy answered %d %s", int(e), http.StatusText(int(e)))
}

// throughProxy connects as go-containerregistry does, by the proxy of the environment if there is one.
func throughProxy() *http.Transport {
	made := remote.DefaultTransport.(*http.Transport).Clone()
	made.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
		if answer.StatusCode != http.StatusOK {
			return proxyError(answer.StatusCode)
		}
		return nil
	}
	return made
}
