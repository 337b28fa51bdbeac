// Package versions says which versions of Kubernetes a provider is there for, and which changes of a cluster are refused: the
// rules that hold for every provider are here, each with its source, and a provider's own are in its description.
//
// It imports pkg/provider/manifest, pkg/wording and the API types. It never imports a client, a context, a clock or a
// logger, and knows no provider by its name.
package versions
