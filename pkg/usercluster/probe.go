package usercluster

import (
	"bytes"
	"context"
	"errors"

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
