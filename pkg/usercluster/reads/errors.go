package reads

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ErrTooLarge is an answer, or an event of a watch, above its bound.
var ErrTooLarge = errors.New("answers with more than is read")

// ErrTooMuch is a list of which a pass would keep more than it may.
var ErrTooMuch = errors.New("has more objects than are kept")

// ErrNoJSON is an answer in a format that is not asked for: the aliases of YAML can make much of few bytes.
var ErrNoJSON = errors.New("answers in a format that it was not asked for")

// RedirectError says that an API server pointed elsewhere.
type RedirectError struct{ Status int }

// Error does not hold where to.
func (e *RedirectError) Error() string { return fmt.Sprintf("redirects with status %d", e.Status) }

// AddressError says why an address is not dialed. It does not hold the address: a name in a kubeconfig may be one of the
// management cluster's own network.
type AddressError struct{ What string }

// Error implements error.
func (e *AddressError) Error() string { return "the address is " + e.What }

// Error is why a fact could not be looked at.
type Error struct{ why string }

// Error implements error.
func (e *Error) Error() string { return e.why }

// Unseen is the error for a fact that could not be looked at: why, in words that are reported as they are.
func Unseen(why string) error { return &Error{why} }

// Describe says what went wrong in words that stay the same from one attempt to the next: errors of the network hold
// port numbers, and a status that changes at every pass wakes everybody who watches it.
func Describe(err error) string {
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
	for _, bound := range []error{ErrTooLarge, ErrTooMuch, ErrNoJSON} {
		if errors.Is(err, bound) {
			return bound.Error()
		}
	}
	var (
		redirect *RedirectError
		address  *AddressError
	)
	switch {
	case errors.As(err, &redirect):
		return redirect.Error() + ", and redirects are never followed"
	case errors.As(err, &address):
		return "is not dialed, because " + address.Error()
	}
	return ""
}

// Because is describe for a fact that could not be looked at: what was tried, and what the API server said to it.
func Because(attempt string, err error) string {
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return attempt + ": " + err.Error()
	}
	return attempt + ": the API server of the user cluster " + Describe(err)
}
