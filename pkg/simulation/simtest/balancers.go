package simtest

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// renameLoadBalancers lets the Cluster ask for it.
func renameLoadBalancers(s *Scenario) {
	configure := s.Configure
	s.Configure = func(cluster *ucv1.Cluster) {
		if configure != nil {
			configure(cluster)
		}
		cluster.Spec.Cloud.LoadBalancers = ucv1.RenameLoadBalancers
	}
}

// checkRenamed: what counts as renamed is so.
func (i *invariants) checkRenamed(w *World) {
	for _, service := range w.Cloud.Services {
		if !w.Cloud.OldNames.Renamed[service.UID] {
			i.fail("rule 8: load balancers count as renamed, and that of Service %s has its old name", service.Name)
		}
	}
}
