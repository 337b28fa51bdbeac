package manifest

import (
	"errors"
	"fmt"
)

// Render makes the objects of a cluster the way that a provider does, and names the provider where that fails. Of what is
// made only in part nothing is returned: a CCM without its CSI driver must not be applied.
func Render(provider string, in RenderInput, made func(RenderInput) (Addons, error)) (Addons, error) {
	addons, err := made(in)
	if err != nil {
		return Addons{}, fmt.Errorf("render %s: %w", provider, err)
	}
	return addons, nil
}

// Unusable is the error of a cloud configuration that has a problem.
func Unusable(problem string) error {
	return errors.New("its cloud configuration cannot be used: " + problem)
}

// CCMIdentity is the one that every CCM of the catalogue has: that of upstream's manifests, and the Lease of the library.
func CCMIdentity() Identity {
	return Identity{
		ServiceAccountNamespace: Namespace, ServiceAccountName: "cloud-controller-manager",
		LeaseNamespace: Namespace, LeaseName: "cloud-controller-manager",
	}
}
