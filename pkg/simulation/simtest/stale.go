package simtest

import (
	"maps"
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// staleFor is how far behind a watch may be.
const staleFor = 5 * simulation.Tick

// cache is what watches would serve: each part of an observation as it was seen at one of the last looks. It is lost with the
// controller.
type cache struct {
	looks []look
	// now is the world as it is at this look.
	now observation.Observation
	// shown is as of when a part was served last: a watch never goes back.
	shown map[string]time.Time
}

type look struct {
	at   time.Time
	seen observation.Observation
}

// CachedParts are the parts of an observation that can be stale. Leases, the fence, the right to them, and the ends of KCM's
// processes are not among them: proofs rest on them, and they are read live.
func CachedParts() []string {
	return slices.Sorted(maps.Keys(served()))
}

// served puts a part of an earlier observation into another one.
func served() map[string]func(o, then *observation.Observation) {
	type seen = observation.Observation
	return map[string]func(o, then *seen){
		"Addons":            func(o, then *seen) { o.Addons = then.Addons },
		"Attachments":       func(o, then *seen) { o.Attachments = then.Attachments },
		"CCMPods":           func(o, then *seen) { o.CCMPods = then.CCMPods },
		"Canary":            func(o, then *seen) { o.Canary = then.Canary },
		"ControlPlane":      func(o, then *seen) { o.ControlPlane = then.ControlPlane },
		"Inventory":         func(o, then *seen) { o.Inventory = then.Inventory },
		"MachineController": func(o, then *seen) { o.MachineController = then.MachineController },
		"Machines":          func(o, then *seen) { o.Machines = then.Machines },
		"Nodes":             func(o, then *seen) { o.Nodes = then.Nodes },
		"OtherManagers":     func(o, then *seen) { o.ForeignCCMs = then.ForeignCCMs },
		"StorageClasses":    func(o, then *seen) { o.StorageClasses = then.StorageClasses },
	}
}

// age makes parts of an observation older, each by itself.
func (c *Controller) age(o *observation.Observation) {
	w := c.world
	if w.scenario.Faults.Stale == 0 {
		return
	}
	c.cache.looks = slices.DeleteFunc(c.cache.looks, func(l look) bool { return w.Now.Sub(l.at) > staleFor })
	now := look{w.Now, *o}
	if addons, known := o.Addons.Get(); known {
		addons.Obsolete = slices.Clone(addons.Obsolete) // The world changes it in place.
		now.seen.Addons = observation.Known(addons)
	}
	c.cache.now = now.seen
	parts := served()
	for _, part := range w.scenario.Faults.Cached {
		then := c.cached(part, now)
		parts[part](o, &then.seen)
	}
	c.cache.looks = append(c.cache.looks, now)
}

// refresh puts what is read again in the place of what was served.
func (c *cache) refresh(o *observation.Observation, what migration.Confirmation) {
	if c.now.Cluster == nil {
		return // Nothing is stale in this world.
	}
	for part, put := range served() {
		switch part {
		case "ControlPlane", "MachineController":
			if !what.Managers {
				continue
			}
		case "OtherManagers":
			if !what.ForeignCCMs {
				continue
			}
		case "Machines", "Nodes":
			if !what.Machines {
				continue
			}
		default:
			if !what.All {
				continue
			}
		}
		put(o, &c.now)
	}
}

// wrote: what the controller changed itself, or may have, is not served from before.
func (c *cache) wrote(now time.Time) {
	for _, part := range []string{"Addons", "Canary", "ControlPlane", "MachineController", "Machines", "StorageClasses"} {
		c.shown[part] = now
	}
}

// cached is the look that a part is from.
func (c *Controller) cached(part string, now look) look {
	w, shown := c.world, c.cache.shown[part]
	behind := slices.DeleteFunc(slices.Clone(c.cache.looks), func(l look) bool { return l.at.Before(shown) })
	if w.faulty() && w.Chance(w.scenario.Faults.Stale) {
		if then, found := pick(w, behind); found {
			now = then
		}
	}
	c.cache.shown[part] = now.at
	return now
}
