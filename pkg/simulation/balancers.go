package simulation

import (
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// balancerNames is a format of the names that a CCM gives load balancers whose names the in-tree provider does not share.
const balancerNames = "kube_service_%s_%s_%s"

// changingFor is how long the cloud takes for a change of a load balancer, in which it takes no other.
const changingFor = 2 * Tick

// OldNames are what the cloud knows of load balancers that the in-tree provider named, by the UIDs of their Services.
type OldNames struct {
	// Renamed have the CCM's name.
	Renamed map[string]bool
	// Taken are names that load balancers of other clusters have, with their IDs.
	Taken map[string]string
	// changed is when the cloud was last asked to change one.
	changed map[string]time.Time
}

func newOldNames() OldNames {
	return OldNames{Renamed: map[string]bool{}, Taken: map[string]string{}, changed: map[string]time.Time{}}
}

// observe is what the cloud answers. Before there is anything to ask, and in a plan, the model knows it from the Services.
func (n *OldNames) observe(w *World, o observation.Observation) observation.Observed[[]observation.OldLoadBalancer] {
	if !migration.NeedsOf(o.Cluster, w.Provider(), w.Now).OldLoadBalancers {
		return observation.Absent[[]observation.OldLoadBalancer]()
	}
	all, known := migration.OldLoadBalancersOf(o).Get()
	if w.real != nil && w.real.Observation.OldLoadBalancers.IsKnown() {
		all, known = w.real.Observation.OldLoadBalancers.Value(), true
	}
	if !known {
		return observation.Unknown[[]observation.OldLoadBalancer](migration.OldLoadBalancersOf(o).Why())
	}
	seen := []observation.OldLoadBalancer{}
	for _, balancer := range all {
		if balancer.ID == "" {
			balancer.ID = "lb-of-" + balancer.Service.UID
		}
		balancer.Status = "ACTIVE"
		if w.Now.Sub(n.changed[balancer.Service.UID]) < changingFor {
			balancer.Status = "PENDING_UPDATE"
		}
		if holder := n.Taken[balancer.Wanted]; holder != "" {
			balancer.Holders = []string{holder}
		}
		if n.Renamed[balancer.Service.UID] {
			balancer.Name = balancer.Wanted
		}
		seen = append(seen, balancer)
	}
	return observation.Known(seen)
}

// rename asks the cloud for one after the other; false means that it takes no change of one now, or that its name is taken.
func (c *Controller) rename(p Pass) bool {
	w, action := c.world, p.Decision.Next()
	names := &w.Cloud.OldNames
	for i, service := range action.Objects {
		if names.Taken[action.Renames[i].To] != "" || w.Now.Sub(names.changed[service.UID]) < changingFor {
			return false
		}
		names.Renamed[service.UID], names.changed[service.UID] = true, w.Now
		if w.Hooks.Fate.Killed(p.Decision) {
			return false
		}
	}
	return true
}
