package rolling

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// Set is one MachineSet as the arithmetic sees it: wanted replicas, how many of
// them are available, and the replicas, and those with surge, of its
// MachineDeployment when it was last scaled.
type Set struct {
	Name          string
	Replicas      int32
	Available     int32
	Desired, Most int32
	Created       time.Time
}

// Limits are the bounds of one rollout in whole Machines.
type Limits struct {
	Replicas       int32
	MaxSurge       int32
	MaxUnavailable int32
}

// Resolve turns numbers or percentages into Limits. Surge is rounded up and
// unavailable down; if both end as zero nothing could move, so one Machine may
// be unavailable.
func Resolve(replicas int32, surge, unavailable *intstr.IntOrString) (Limits, error) {
	s, err := intstr.GetScaledValueFromIntOrPercent(surge, int(replicas), true)
	if err != nil {
		return Limits{}, fmt.Errorf("read maxSurge: %w", err)
	}
	u, err := intstr.GetScaledValueFromIntOrPercent(unavailable, int(replicas), false)
	if err != nil {
		return Limits{}, fmt.Errorf("read maxUnavailable: %w", err)
	}
	if s == 0 && u == 0 {
		u = 1
	}
	return Limits{Replicas: replicas, MaxSurge: int32(s), MaxUnavailable: min(int32(u), replicas)}, nil
}

// NewReplicas is how many Machines the newest MachineSet should have now.
func NewReplicas(limits Limits, newest Set, old []Set) int32 {
	if newest.Replicas >= limits.Replicas {
		return limits.Replicas
	}
	room := limits.Replicas + limits.MaxSurge - newest.Replicas - wanted(old)
	if room <= 0 {
		return newest.Replicas
	}
	return min(newest.Replicas+room, limits.Replicas)
}

// OldReplicas is how many Machines each old MachineSet should keep now, by name;
// only those that change. Unhealthy Machines go first, because losing them costs
// no availability.
func OldReplicas(limits Limits, newest Set, old []Set) map[string]int32 {
	minimum := limits.Replicas - limits.MaxUnavailable
	budget := wanted(old) + newest.Replicas - minimum - (newest.Replicas - newest.Available)
	targets := map[string]int32{}
	if budget <= 0 {
		return targets
	}
	oldest := slices.SortedFunc(slices.Values(old), func(a, b Set) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
	})
	for i := range oldest {
		set := &oldest[i]
		take := min(max(budget, 0), max(set.Replicas-set.Available, 0))
		budget -= take
		set.take(take, targets)
	}
	spare := newest.Available - minimum
	for _, set := range oldest {
		spare += set.Available
	}
	for i := range oldest {
		set := &oldest[i]
		take := min(max(spare, 0), set.Replicas)
		spare -= take
		set.take(take, targets)
	}
	return targets
}

func (s *Set) take(count int32, targets map[string]int32) {
	if count <= 0 {
		return
	}
	s.Replicas -= count
	targets[s.Name] = s.Replicas
}

// Paused is what each MachineSet should have while the rollout is paused, by name, only those that change. The real one scales
// all the same: a MachineSet that alone has Machines gets all replicas; when the newest is saturated, the old ones go to 0; else
// all change in proportion. newest is nil where the template has no MachineSet, or where that one was only just changed.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machinedeployment/sync.go (scale)
func Paused(limits Limits, newest *Set, old []Set) map[string]int32 {
	all := slices.SortedFunc(slices.Values(old), func(a, b Set) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.Name, b.Name))
	})
	if newest != nil {
		all = append(all, *newest)
	}
	active := slices.DeleteFunc(slices.Clone(all), func(s Set) bool { return s.Replicas == 0 })
	targets := map[string]int32{}
	switch {
	case len(all) == 0:
	case len(active) == 0 && newest != nil:
		newest.scale(limits.Replicas, targets)
	case len(active) < 2:
		append(active, all[0])[0].scale(limits.Replicas, targets)
	case newest.saturated(limits):
		for _, set := range old {
			set.scale(0, targets)
		}
	default:
		inProportion(limits, active, targets)
	}
	return targets
}

func (s Set) scale(to int32, targets map[string]int32) {
	if to != s.Replicas {
		targets[s.Name] = max(to, 0)
	}
}

// saturated says that all replicas are available, tainted or not.
func (s *Set) saturated(limits Limits) bool {
	return s != nil && s.Replicas == limits.Replicas && s.Desired == limits.Replicas && s.Available == limits.Replicas
}

// inProportion brings all together to replicas and surge; what is left over is the first one's.
func inProportion(limits Limits, active []Set, targets map[string]int32) {
	allowed := int32(0)
	if limits.Replicas > 0 {
		allowed = limits.Replicas + limits.MaxSurge
	}
	left := allowed - wanted(active)
	sizes := make([]int32, len(active))
	for i, set := range active {
		share := set.share(limits)
		if left >= 0 {
			share = min(share, left)
		} else {
			share = max(share, left)
		}
		left -= share
		sizes[i] = set.Replicas + share
	}
	sizes[0] += left
	for i, set := range active {
		set.scale(sizes[i], targets)
	}
}

func (s Set) share(limits Limits) int32 {
	if limits.Replicas == 0 || s.Most == 0 {
		return -s.Replicas
	}
	return int32(math.Round(float64(s.Replicas*(limits.Replicas+limits.MaxSurge))/float64(s.Most))) - s.Replicas
}

func wanted(sets []Set) int32 {
	var sum int32
	for _, set := range sets {
		sum += set.Replicas
	}
	return sum
}
