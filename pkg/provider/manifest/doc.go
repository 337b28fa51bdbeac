// Package manifest holds what the profiles of the catalogue share: the types of rendering, reading embedded manifests,
// and the pieces that every provider's cloud-controller-manager has in common, such as what it inherits from
// kube-controller-manager.
//
// It imports pkg/observation, the API types and the Kubernetes API machinery's value types. It never imports a client, a
// context, a clock or a logger, and knows no provider.
package manifest
