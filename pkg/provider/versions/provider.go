package versions

import "github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"

// Provider is what the rules have to know of one.
type Provider interface {
	// Describe says what does not depend on a cluster.
	Describe() manifest.Description
	// Release says which releases run with a version of Kubernetes, or why none does.
	Release(version string) (manifest.Release, error)
}
