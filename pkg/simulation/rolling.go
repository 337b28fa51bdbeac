package simulation

import (
	"math"
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// The rules of the real machine-controller, v1.66.2, by which it scales the MachineSets of a MachineDeployment:
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machinedeployment/sync.go
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machinedeployment/rolling.go

// Rollouts is what the machine-controller does with MachineDeployments.
type Rollouts struct{ w *World }

// step rolls, within the bounds of surge and unavailability.
func (ro *Rollouts) step() {
	if !ro.w.ControlPlane.machineControllerRuns() {
		return
	}
	for _, d := range ro.w.Machines.Deployments {
		if d.Deleting {
			continue // The real one looks away.
		}
		d.Observed = d.Generation
		switch {
		case d.Paused:
			ro.scalePaused(d)
		default:
			ro.roll(d)
		}
		ro.report(d)
	}
}

// splitSets are the current MachineSet and the old ones, the oldest first. A current one that gets another minReadySeconds, or
// other annotations, counts as none for that pass (getNewMachineSet returns nil).
func (ro *Rollouts) splitSets(d *MachineDeployment) (current *MachineSet, old []*MachineSet, exists bool) {
	old = ro.w.Machines.SetsOf(d)
	at := slices.IndexFunc(old, d.Current)
	if at < 0 {
		return nil, old, false
	}
	current = old[at]
	old = slices.Delete(old, at, at+1)
	if current.minReady != d.Guard.MinReady || d.Annotated {
		current.minReady, d.Annotated = d.Guard.MinReady, false
		return nil, old, true
	}
	return current, old, true
}

func (d *MachineDeployment) scale(s *MachineSet, replicas int) {
	if s.Replicas != replicas {
		s.Replicas, s.desired, s.most = max(0, replicas), d.Replicas, d.Replicas+d.Surge
	}
}

// scalePaused (scale): a paused MachineDeployment is scaled all the same. One that has Machines gets all replicas; when the
// current one is saturated, the old ones go to 0; else all change in proportion.
func (ro *Rollouts) scalePaused(d *MachineDeployment) {
	current, old, _ := ro.splitSets(d)
	slices.Reverse(old)
	all := slices.Clone(old)
	if current != nil {
		all = append(all, current)
	}
	active := slices.DeleteFunc(slices.Clone(all), func(s *MachineSet) bool { return s.Replicas == 0 })
	switch {
	case len(all) == 0:
	case len(active) == 0 && current != nil:
		d.scale(current, d.Replicas)
	case len(active) == 0:
		d.scale(old[0], d.Replicas)
	case len(active) == 1:
		d.scale(active[0], d.Replicas)
	case ro.saturated(d, current):
		for _, s := range old {
			d.scale(s, 0)
		}
	default:
		d.scaleInProportion(active)
	}
}

// saturated (IsSaturated): all replicas are available, tainted or not.
func (ro *Rollouts) saturated(d *MachineDeployment, s *MachineSet) bool {
	return s != nil && s.Replicas == d.Replicas && s.desired == d.Replicas && ro.w.Machines.available(s) == d.Replicas
}

func (d *MachineDeployment) scaleInProportion(active []*MachineSet) {
	allowed, total := 0, 0
	if d.Replicas > 0 {
		allowed = d.Replicas + d.Surge
	}
	for _, s := range active {
		total += s.Replicas
	}
	add, added := allowed-total, 0
	sizes := make([]int, 0, len(active))
	for _, s := range active {
		share := 0
		if add != added {
			share = d.share(s)
			if left := add - added; add > 0 {
				share = min(share, left)
			} else {
				share = max(share, left)
			}
		}
		added += share
		sizes = append(sizes, s.Replicas+share)
	}
	sizes[0] += add - added
	for i, s := range active {
		d.scale(s, sizes[i])
	}
}

// share (getMachineSetFraction) is by how much a MachineSet changes in proportion.
func (d *MachineDeployment) share(s *MachineSet) int {
	if d.Replicas == 0 || s.most == 0 {
		return -s.Replicas
	}
	return int(math.Round(float64(s.Replicas*(d.Replicas+d.Surge))/float64(s.most))) - s.Replicas
}

func (ro *Rollouts) roll(d *MachineDeployment) {
	current, old, exists := ro.splitSets(d)
	switch {
	case !exists:
		// Without operating-system-manager there is no bootstrap configuration, and the machine-controller waits for it.
		if _, running := ro.w.ControlPlane.Runs(
			"operating-system-manager",
			"external-cloud-provider",
		); running ||
			ro.w.Traits.WithoutOperatingSystemManager {
			set := ro.w.Machines.CreateSet(d)
			set.Replicas = d.newReplicas(set, old)
		}
		return
	case current == nil:
		return
	}
	d.scale(current, d.newReplicas(current, old))
	ro.scaleDownOld(d, current, old)
	ro.pruneSets(old)
}

// newReplicas (NewMSNewReplicas) fills up to replicas and surge.
func (d *MachineDeployment) newReplicas(current *MachineSet, old []*MachineSet) int {
	if current.Replicas >= d.Replicas {
		return d.Replicas
	}
	room := d.Replicas + d.Surge - current.Replicas - sum(old)
	return current.Replicas + max(0, min(room, d.Replicas-current.Replicas))
}

func sum(sets []*MachineSet) int {
	total := 0
	for _, s := range sets {
		total += s.Replicas
	}
	return total
}

// MayBeUnavailable (MaxUnavailable): where surge and unavailability both come to 0, one may be unavailable.
func (d *MachineDeployment) MayBeUnavailable() int {
	if d.Surge == 0 && d.Unavailable == 0 {
		return min(1, d.Replicas)
	}
	return min(d.Unavailable, d.Replicas)
}

// scaleDownOld (reconcileOldMachineSets): first what is not available, whichever Machine the MachineSet then takes; then what is
// available beyond the least.
func (ro *Rollouts) scaleDownOld(d *MachineDeployment, current *MachineSet, old []*MachineSet) {
	least := d.Replicas - d.MayBeUnavailable()
	budget := sum(old) + current.Replicas - least - (current.Replicas - ro.w.Machines.available(current))
	if sum(old) == 0 || budget <= 0 {
		return
	}
	for _, s := range old {
		taken := min(budget, max(0, s.Replicas-ro.w.Machines.available(s)))
		budget -= taken
		d.scale(s, s.Replicas-taken)
	}
	spare := ro.w.Machines.available(current) - least
	for _, s := range old {
		spare += ro.w.Machines.available(s)
	}
	for _, s := range old {
		taken := max(0, min(spare, s.Replicas))
		spare -= taken
		d.scale(s, s.Replicas-taken)
	}
}

// pruneSets keeps one old revision, as revisionHistoryLimit does by default.
func (ro *Rollouts) pruneSets(old []*MachineSet) {
	empty := slices.DeleteFunc(slices.Clone(old), func(s *MachineSet) bool {
		return slices.ContainsFunc(ro.w.Machines.All, func(m *Machine) bool { return m.Set == s.UID })
	})
	if len(empty) > 1 {
		ro.w.Machines.Sets = slices.DeleteFunc(ro.w.Machines.Sets, func(s *MachineSet) bool { return s == empty[0] })
	}
}

// report writes the status, which does not count Machines that are being deleted.
func (ro *Rollouts) report(d *MachineDeployment) {
	updated, total := 0, 0
	for _, s := range ro.w.Machines.SetsOf(d) {
		count := len(ro.w.Machines.Of(s))
		total += count
		if d.Current(s) {
			updated += count
		}
	}
	d.Settled = updated == d.Replicas && total == d.Replicas
}

func (d *MachineDeployment) ref() observation.Ref {
	return observation.Ref{Kind: "MachineDeployment", Namespace: d.Namespace, Name: d.Name, UID: d.UID}
}
