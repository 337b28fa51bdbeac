package rolling

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// Set is one MachineSet as the arithmetic sees it: wanted replicas and how many
// of them are available.
type Set struct {
	Name      string
	Replicas  int32
	Available int32
	Created   time.Time
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
		spare += min(set.Available, set.Replicas)
	}
	for i := range oldest {
		set := &oldest[i]
		take := min(max(spare, 0), max(budget, 0), set.Replicas)
		spare -= take
		budget -= take
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

// Paused is what each MachineSet should have while the rollout is paused, by
// name, only those that change: nothing moves between sets, but a changed
// replica count scales the newest set that has Machines (or the newest at all),
// which after an unrolled template change is an old one. A rollout paused half
// way keeps its surge.
func Paused(limits Limits, sets []Set) map[string]int32 {
	targets := map[string]int32{}
	if len(sets) == 0 {
		return targets
	}
	newest := slices.SortedFunc(slices.Values(sets), func(a, b Set) int {
		return cmp.Or(cmp.Compare(min(b.Replicas, 1), min(a.Replicas, 1)),
			b.Created.Compare(a.Created), cmp.Compare(a.Name, b.Name))
	})
	total, most := wanted(sets), limits.Replicas
	if len(newest) > 1 && newest[1].Replicas > 0 {
		most += limits.MaxSurge
	}
	if total < limits.Replicas {
		targets[newest[0].Name] = newest[0].Replicas + limits.Replicas - total
	}
	for i := len(newest) - 1; i >= 0; i-- {
		take := min(max(total-most, 0), newest[i].Replicas)
		total -= take
		newest[i].take(take, targets)
	}
	return targets
}

func wanted(sets []Set) int32 {
	var sum int32
	for _, set := range sets {
		sum += set.Replicas
	}
	return sum
}
