package cluster

import (
	"errors"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

// What a CCM beside the control plane consists of is deleted there, too. The role that allows it is its own:
// config/rbac/control_plane_placement_role.yaml.

// placed puts the CCM and its probe beside the control plane, where the Cluster wants that.
func (s *scope) placed(addons provider.Addons) (provider.Addons, error) {
	if !s.cluster.CCMBesideControlPlane() {
		return addons, nil
	}
	if s.session == nil {
		return provider.Addons{}, errors.New("the user cluster is not reachable: " + s.observed.Connection.Message)
	}
	kubeconfig, err := s.session.KubeconfigWith(provider.TokenFile)
	if err != nil {
		return provider.Addons{}, err
	}
	place := provider.Place{Namespace: s.cluster.Namespace, Cluster: s.cluster.Name, Kubeconfig: kubeconfig}
	for _, set := range []*provider.Set{&addons.CCM, &addons.Probe} {
		if *set, err = place.Put(*set); err != nil {
			return provider.Addons{}, err
		}
	}
	return addons, nil
}
