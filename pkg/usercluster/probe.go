package usercluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// readyz is where an API server says whether it is ready.
const readyz = "/readyz"

// probe asks whether the API server is ready and accepts the credentials. It says to everybody that it is ready, so it is asked
// once for what only those get who were authenticated
// (https://github.com/kubernetes/kubernetes/blob/v1.30.14/plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go,
// system:discovery).
func (s *Session) probe(ctx context.Context) error {
	get := func(path string) ([]byte, error) {
		return s.network.probe.Get().AbsPath(path).MaxRetries(0).Do(ctx).Raw()
	}
	if _, err := get(readyz); err != nil || s.authenticated.Load() {
		return err
	}
	body, err := get("/api")
	if apierrors.IsForbidden(err) && bytes.Contains(body, []byte("system:anonymous")) {
		return anonymousError{}
	}
	s.authenticated.Store(err == nil)
	return nil
}

// anonymousError says that the credentials did not arrive, or that there are none.
type anonymousError struct{}

// Error implements error.
func (anonymousError) Error() string { return "sees system:anonymous" }

func isUnauthorized(err error) bool {
	return apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) || errors.Is(err, anonymousError{})
}

// describe says what went wrong in words that stay the same from one attempt to the next: errors of the network hold
// port numbers, and a status that changes at every pass wakes everybody who watches it.
func describe(err error) string {
	var (
		network   net.Error
		authority x509.UnknownAuthorityError
		trust     *tls.CertificateVerificationError
		dns       *net.DNSError
		status    apierrors.APIStatus
	)
	if refused := describeRefused(err); refused != "" {
		return refused
	}
	switch {
	case errors.As(err, &status):
		return fmt.Sprintf("answers with status %d %s", status.Status().Code, status.Status().Reason)
	case errors.Is(err, context.DeadlineExceeded):
		return "does not answer in time"
	case errors.As(err, &authority), errors.As(err, &trust):
		return "shows a certificate that the kubeconfig does not trust"
	case errors.As(err, &dns):
		return "has a host name that cannot be resolved"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refuses connections"
	case errors.As(err, &network) && network.Timeout():
		return "does not answer in time"
	default:
		return "cannot be connected to"
	}
}

// describeRefused is for what we refuse; empty: we did not.
func describeRefused(err error) string {
	for _, bound := range []error{errTooLarge, errTooMuch, errNoJSON} {
		if errors.Is(err, bound) {
			return bound.Error()
		}
	}
	var (
		redirect *redirectError
		address  *addressError
	)
	switch {
	case errors.As(err, &redirect):
		return redirect.Error() + ", and redirects are never followed"
	case errors.As(err, &address):
		return "is not dialed, because " + address.Error()
	}
	return ""
}

// because is describe for a fact that could not be looked at: what was tried, and what the API server said to it.
func because(attempt string, err error) string {
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return attempt + ": " + err.Error()
	}
	return attempt + ": the API server of the user cluster " + describe(err)
}
