package preflight

import (
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// cloudChecks need a CCM that leads: they are judged before the first Machine is replaced. Whether its credentials and its
// configuration are good, the probe shows before KCM is touched.
func cloudChecks() []check {
	unseenCloud := func(o Facts) string { return unseen("what the CCM says of the cloud", o.Cloud) }
	return []check{
		{
			id: "LoadBalancerRefused", severity: observation.Blocking, beforeRoll: true,
			means:  "The CCM cannot ensure the load balancer of a Service: new Nodes do not become members of it.",
			unseen: unseenCloud, find: func(o Facts, _ time.Time) []observation.Finding {
				return complaints(o.Cloud.Value().Services, "The CCM cannot ensure its load balancer, so it gets no new Nodes")
			},
		},
		{
			id: "RouteRefused", severity: observation.Blocking, beforeRoll: true,
			means:  "The CCM cannot make the route of a Node: new Nodes have no network.",
			unseen: unseenCloud, find: func(o Facts, _ time.Time) []observation.Finding {
				return complaints(o.Cloud.Value().Routes, "The CCM cannot make its route, so new Nodes have no network")
			},
		},
	}
}

func complaints(list []Complaint, what string) []observation.Finding {
	var findings []observation.Finding
	for _, complaint := range list {
		findings = append(
			findings,
			about([]observation.Ref{complaint.Object}, what+" ("+complaint.Message+")", "Fix what it says; see the CCM's logs.")...)
	}
	return findings
}
