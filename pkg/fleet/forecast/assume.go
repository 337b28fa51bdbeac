package forecast

import (
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// believed is how long a look at a Cluster counts; the controller looks again before.
const believed = 26 * time.Hour

// assume what the controller would have seen by the time that it matters, and say so. Members are copies.
func (s *simulation) assume() {
	unseen, typical := 0, typicalNodes(s.fleet.Members)
	for i := range s.fleet.Members {
		m := &s.fleet.Members[i]
		if m.Unreachable != "" || !m.CompletedAt.IsZero() {
			continue
		}
		stale := !m.LookedAt.IsZero() && !s.now.Before(m.LookedAt.Add(believed))
		if stale || !m.Blocking.IsKnown() {
			if m.StartedAt.IsZero() {
				unseen++ // What has started is past its findings.
			}
			m.Blocking = observation.Known(false)
		}
		m.LookedAt = time.Time{} // It is looked at again before that is too old.
		if !m.Nodes.IsKnown() {
			m.Nodes = observation.Known(typical)
		}
	}
	if unseen > 0 {
		s.say(clusters(unseen, "was not looked at lately and counts as without findings.",
			"were not looked at lately and count as without findings."))
	}
}

func typicalNodes(members []fleet.Member) int32 {
	var known []int32
	for i := range members {
		if nodes, is := members[i].Nodes.Get(); is {
			known = append(known, nodes)
		}
	}
	if len(known) == 0 {
		return 3
	}
	slices.Sort(known)
	return known[len(known)/2]
}

// sayWhoWaits for a person from the beginning: those Clusters are not in the forecast.
func (s *simulation) sayWhoWaits(plan *fleet.Plan) {
	count := plan.Migrations[s.subject].Clusters
	if n := int(count.Ineligible); n > 0 {
		s.say(clusters(n, "waits for a person and never starts.", "wait for a person and never start."))
	}
	if n := int(count.NotRequested); n > 0 {
		s.say(clusters(n, "does not have the feature and never starts.", "do not have the feature and never start."))
	}
}
