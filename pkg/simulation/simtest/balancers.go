package simtest

import (
	"math/rand/v2"

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

// randomNames has the in-tree provider name load balancers in another way than the CCM, and mostly a person wants them renamed.
func randomNames(rng *rand.Rand, s *Scenario) {
	s.OldLoadBalancers = rng.IntN(3) == 0
	if s.OldLoadBalancers && rng.IntN(3) > 0 {
		renameLoadBalancers(s)
	}
}

// checkNames runs after every step: load balancers get other names behind the point of no return, and until that counts as done.
func (i *invariants) checkNames(w *World) {
	renamed := len(w.Cloud.OldNames.Renamed)
	if renamed == i.renamed {
		return
	}
	i.renamed = renamed
	switch facts := w.Facts(); {
	case facts.CompletedAt == nil:
		i.fail("rule 8: a load balancer is renamed before the point of no return")
	case facts.RenamedLoadBalancers != nil:
		i.fail("rule 8: a load balancer is renamed although that was done")
	}
}
