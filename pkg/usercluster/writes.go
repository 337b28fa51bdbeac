package usercluster

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// writes tells of each request that changes something, once it was answered: what is kept of the resource is read again. It
// needs no list of who writes what.
type writes struct {
	http.RoundTripper

	wrote func(resource schema.GroupVersionResource, name string)
}

// RoundTrip implements http.RoundTripper.
func (w *writes) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := w.RoundTripper.RoundTrip(request)
	if request.Method != http.MethodGet && !request.URL.Query().Has("dryRun") {
		w.wrote(resourceOf(request.URL.Path))
	}
	return response, err
}

// WrappedRoundTripper lets others find the connections.
func (w *writes) WrappedRoundTripper() http.RoundTripper { return w.RoundTripper }

// resourceOf a path, with the name of the object, as the API server reads it:
// https://github.com/kubernetes/apiserver/blob/v0.36.1/pkg/endpoints/request/requestinfo.go (NewRequestInfo)
func resourceOf(path string) (resource schema.GroupVersionResource, name string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		resource.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		resource.Group, resource.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return resource, ""
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	if resource.Resource = parts[0]; len(parts) > 1 {
		name = parts[1]
	}
	return resource, name
}
