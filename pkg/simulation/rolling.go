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
	if !ro.w.controlPlane.machineControllerRuns() {
		return
	}
	for _, d := range slices.Clone(ro.w.machines.deployments) {
		d.observed = d.generation
		switch {
		case d.deleting:
			ro.delete(d)
		case d.paused:
			ro.scalePaused(d)
		default:
			ro.roll(d)
		}
		ro.report(d)
	}
}

func (ro *Rollouts) delete(d *machineDeployment) {
	left := 0
	for _, s := range ro.w.machines.setsOf(d) {
		s.replicas = 0
		left += len(slices.DeleteFunc(slices.Clone(ro.w.machines.all), func(m *machine) bool { return m.set != s.uid }))
	}
	if left == 0 {
		ro.w.machines.sets = slices.DeleteFunc(ro.w.machines.sets, func(s *machineSet) bool { return s.deployment == d.uid })
		ro.w.machines.deployments = slices.DeleteFunc(ro.w.machines.deployments, func(other *machineDeployment) bool { return other == d })
	}
}

// splitSets are the current MachineSet and the old ones, the oldest first. A current one that gets another minReadySeconds counts
// as none for that pass (getNewMachineSet returns nil).
func (ro *Rollouts) splitSets(d *machineDeployment) (current *machineSet, old []*machineSet, exists bool) {
	old = ro.w.machines.setsOf(d)
	at := slices.IndexFunc(old, d.current)
	if at < 0 {
		return nil, old, false
	}
	current = old[at]
	old = slices.Delete(old, at, at+1)
	if current.minReady != d.guard.minReady {
		current.minReady = d.guard.minReady
		return nil, old, true
	}
	return current, old, true
}

func (d *machineDeployment) scale(s *machineSet, replicas int) {
	if s.replicas != replicas {
		s.replicas, s.desired, s.most = max(0, replicas), d.replicas, d.replicas+d.surge
	}
}

// scalePaused (scale): a paused MachineDeployment is scaled all the same. One that has Machines gets all replicas; when the
// current one is saturated, the old ones go to 0; else all change in proportion.
func (ro *Rollouts) scalePaused(d *machineDeployment) {
	current, old, _ := ro.splitSets(d)
	slices.Reverse(old)
	all := slices.Clone(old)
	if current != nil {
		all = append(all, current)
	}
	active := slices.DeleteFunc(slices.Clone(all), func(s *machineSet) bool { return s.replicas == 0 })
	switch {
	case len(all) == 0:
	case len(active) == 0 && current != nil:
		d.scale(current, d.replicas)
	case len(active) == 0:
		d.scale(old[0], d.replicas)
	case len(active) == 1:
		d.scale(active[0], d.replicas)
	case ro.saturated(d, current):
		for _, s := range old {
			d.scale(s, 0)
		}
	default:
		d.scaleInProportion(active)
	}
}

// saturated (IsSaturated): all replicas are available, tainted or not.
func (ro *Rollouts) saturated(d *machineDeployment, s *machineSet) bool {
	return s != nil && s.replicas == d.replicas && s.desired == d.replicas && ro.w.machines.available(s) == d.replicas
}

func (d *machineDeployment) scaleInProportion(active []*machineSet) {
	allowed, total := 0, 0
	if d.replicas > 0 {
		allowed = d.replicas + d.surge
	}
	for _, s := range active {
		total += s.replicas
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
		sizes = append(sizes, s.replicas+share)
	}
	sizes[0] += add - added
	for i, s := range active {
		d.scale(s, sizes[i])
	}
}

// share (getMachineSetFraction) is by how much a MachineSet changes in proportion.
func (d *machineDeployment) share(s *machineSet) int {
	if d.replicas == 0 || s.most == 0 {
		return -s.replicas
	}
	return int(math.Round(float64(s.replicas*(d.replicas+d.surge))/float64(s.most))) - s.replicas
}

func (ro *Rollouts) roll(d *machineDeployment) {
	current, old, exists := ro.splitSets(d)
	switch {
	case !exists:
		// Without operating-system-manager there is no bootstrap configuration, and the machine-controller waits for it.
		if _, running := ro.w.controlPlane.runs(
			"operating-system-manager",
			"external-cloud-provider",
		); running ||
			ro.w.traits.WithoutOperatingSystemManager {
			set := ro.w.machines.createSet(d)
			set.replicas = d.newReplicas(set, old)
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
func (d *machineDeployment) newReplicas(current *machineSet, old []*machineSet) int {
	if current.replicas >= d.replicas {
		return d.replicas
	}
	room := d.replicas + d.surge - current.replicas - sum(old)
	return current.replicas + max(0, min(room, d.replicas-current.replicas))
}

func sum(sets []*machineSet) int {
	total := 0
	for _, s := range sets {
		total += s.replicas
	}
	return total
}

// mayBeUnavailable (MaxUnavailable): where surge and unavailability both come to 0, one may be unavailable.
func (d *machineDeployment) mayBeUnavailable() int {
	if d.surge == 0 && d.unavailable == 0 {
		return min(1, d.replicas)
	}
	return min(d.unavailable, d.replicas)
}

// scaleDownOld (reconcileOldMachineSets): first what is not available, whichever Machine the MachineSet then takes; then what is
// available beyond the least.
func (ro *Rollouts) scaleDownOld(d *machineDeployment, current *machineSet, old []*machineSet) {
	least := d.replicas - d.mayBeUnavailable()
	budget := sum(old) + current.replicas - least - (current.replicas - ro.w.machines.available(current))
	if sum(old) == 0 || budget <= 0 {
		return
	}
	for _, s := range old {
		taken := min(budget, max(0, s.replicas-ro.w.machines.available(s)))
		budget -= taken
		d.scale(s, s.replicas-taken)
	}
	spare := ro.w.machines.available(current) - least
	for _, s := range old {
		spare += ro.w.machines.available(s)
	}
	for _, s := range old {
		taken := max(0, min(spare, s.replicas))
		spare -= taken
		d.scale(s, s.replicas-taken)
	}
}

// pruneSets keeps one old revision, as revisionHistoryLimit does by default.
func (ro *Rollouts) pruneSets(old []*machineSet) {
	empty := slices.DeleteFunc(slices.Clone(old), func(s *machineSet) bool {
		return slices.ContainsFunc(ro.w.machines.all, func(m *machine) bool { return m.set == s.uid })
	})
	if len(empty) > 1 {
		ro.w.machines.sets = slices.DeleteFunc(ro.w.machines.sets, func(s *machineSet) bool { return s == empty[0] })
	}
}

// report writes the status, which does not count Machines that are being deleted.
func (ro *Rollouts) report(d *machineDeployment) {
	updated, total := 0, 0
	for _, s := range ro.w.machines.setsOf(d) {
		count := len(ro.w.machines.of(s))
		total += count
		if d.current(s) {
			updated += count
		}
	}
	d.settled = updated == d.replicas && total == d.replicas
}

func (d *machineDeployment) ref() observation.Ref {
	return observation.Ref{Kind: "MachineDeployment", Namespace: d.namespace, Name: d.name, UID: d.uid}
}
