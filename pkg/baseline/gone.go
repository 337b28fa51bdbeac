package baseline

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Missing is what the baseline has and the cluster has not any more.
type Missing struct {
	LoadBalancers []observation.LoadBalancer
	Volumes       []observation.Volume
}

// MissingOf has nothing unless both are known: what cannot be read is not missing.
func MissingOf(baseline, now observation.Observed[observation.Inventory]) Missing {
	var missing Missing
	if !baseline.IsKnown() || !now.IsKnown() {
		return missing
	}
	balancers := byKey(now.Value().LoadBalancers, func(l observation.LoadBalancer) string { return l.UID })
	for _, balancer := range baseline.Value().LoadBalancers {
		if _, there := balancers[balancer.UID]; !there {
			missing.LoadBalancers = append(missing.LoadBalancers, balancer)
		}
	}
	volumes := byKey(now.Value().Volumes, func(v observation.Volume) string { return v.UID })
	for _, volume := range baseline.Value().Volumes {
		if _, there := volumes[volume.UID]; !there {
			missing.Volumes = append(missing.Volumes, volume)
		}
	}
	return missing
}

// noteGone: that an object is gone does not say who deleted it. Its owner did where what it belonged to went with it and
// nothing of it is attached, which is worth a warning; else it may be lost.
func (c *comparison) noteGone(object observation.Ref, uid, volume string) {
	seen, looked := c.gone[uid]
	left := observation.Say(seen.Left)
	at := slices.IndexFunc(c.now.Attachments, func(a observation.Attachment) bool { return volume != "" && a.Volume == volume })
	if at >= 0 {
		left = observation.Say("is gone, and is still attached to ", observation.NodeRef(c.now.Attachments[at].Node))
	}
	switch {
	case left.Words != "":
		c.note(object, left, "")
	case looked:
		c.found = append(c.found, Difference{
			Object: object.String(), What: "is gone", Explained: seen.Seen, Warning: true, about: []observation.Ref{object},
		})
	case slices.Contains(c.spec.AcceptChanges, object.String()):
		c.note(object, "is gone", "")
	default:
		c.unseen = object.String() + " is gone, and what it belonged to could not be looked at"
	}
}
