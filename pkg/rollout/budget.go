package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// State of a pool against the wanted kubelet configuration.
type State int

const (
	// Done means that nothing is left to do.
	Done State = iota
	// Outdated means that it has to be rolled.
	Outdated
	// Rolling means that it was told to roll and is not proven yet.
	Rolling
	// Blocked means that only a person can get it rolled.
	Blocked
)

// Pool is a MachineDeployment.
type Pool struct {
	// Name is namespace/name.
	Name     string
	Replicas int32
	State    State
	// Disrupted says that not all of its Machines serve, whoever caused that.
	Disrupted bool
	// Turning says that an outdated pool that does not serve in full may be rolled all the same: it is being rolled to what
	// is not wanted any more.
	Turning bool
}

// Intent is a pool to roll now.
type Intent struct {
	Name string
	Why  string
}

// Plan returns the pools to roll now, at most as many as the budget leaves, and one alone until a canary is proven. Pools
// that are rolling or disrupted use the budget up, whoever caused it. When none may be rolled although some are outdated,
// held says why.
func Plan(
	pools []Pool,
	maxConcurrent *intstr.IntOrString,
	order ucv1.RolloutOrder,
	canaryProven bool,
) (intents []Intent, held string) {
	candidates, used := split(pools)
	if !slices.ContainsFunc(pools, func(p Pool) bool { return p.State == Outdated }) {
		return nil, ""
	}
	budget, err := Allowed(maxConcurrent, len(pools))
	if err != nil {
		return nil, fmt.Sprintf("spec.rollout.maxConcurrent allows nothing: %v.", err)
	}
	if !canaryProven {
		budget = min(budget, 1)
	}
	if turning, rolling := turned(pools); len(turning) > 0 && budget > len(rolling) {
		// They use the budget up already, so that turning one round disrupts nothing more.
		candidates, used = turning, rolling
	}
	if budget <= len(used) || len(candidates) == 0 {
		return nil, fmt.Sprintf("spec.rollout.maxConcurrent allows %d at once, and %d of %d are rolling or not serving in full%s.",
			budget, len(used), len(pools), firstOf(used))
	}
	sortPools(candidates, order)
	why := fmt.Sprintf("at most %d at a time", budget)
	if len(used) > 0 {
		why += fmt.Sprintf(", and %d rolling or not serving in full already", len(used))
	}
	for _, pool := range candidates[:min(budget-len(used), len(candidates))] {
		intents = append(intents, Intent{Name: pool.Name, Why: why})
	}
	return intents, ""
}

// split tells the pools that may be rolled from those that use the budget up. An outdated pool that does not serve in full
// is not rolled either: it would lose what is left of it.
func split(pools []Pool) (candidates []Pool, used []string) {
	for _, pool := range pools {
		switch {
		case pool.State == Rolling || pool.Disrupted:
			used = append(used, pool.Name)
		case pool.State == Outdated:
			candidates = append(candidates, pool)
		}
	}
	return candidates, used
}

// turned are the pools that may be turned round, and those that roll to what is wanted.
func turned(pools []Pool) (turning []Pool, rolling []string) {
	for _, pool := range pools {
		switch {
		case pool.State == Rolling:
			rolling = append(rolling, pool.Name)
		case pool.State == Outdated && pool.Disrupted && pool.Turning:
			turning = append(turning, pool)
		}
	}
	return turning, rolling
}

// firstOf names some of the pools for a message.
func firstOf(names []string) string {
	const most = 5
	names = slices.Sorted(slices.Values(names))
	switch {
	case len(names) == 0:
		return ""
	case len(names) > most:
		return ": " + strings.Join(names[:most], ", ") + " and others"
	}
	return ": " + strings.Join(names, ", ")
}

// Allowed fails closed: a budget that cannot be read allows nothing. A percentage is rounded down, but a positive one
// allows at least one.
func Allowed(maxConcurrent *intstr.IntOrString, total int) (int, error) {
	if maxConcurrent == nil {
		return 1, nil
	}
	budget, err := intstr.GetScaledValueFromIntOrPercent(maxConcurrent, total, false)
	switch {
	case err != nil:
		return 0, err
	case budget < 0:
		return 0, fmt.Errorf("%s is negative", maxConcurrent.String())
	case budget == 0 && maxConcurrent.Type == intstr.String && isPositive(maxConcurrent.StrVal):
		return 1, nil
	}
	return budget, nil
}

func isPositive(percentage string) bool {
	percent, err := strconv.Atoi(strings.TrimSuffix(percentage, "%"))
	return err == nil && percent > 0
}

func sortPools(pools []Pool, order ucv1.RolloutOrder) {
	slices.SortFunc(pools, func(a, b Pool) int {
		if order != ucv1.Alphabetical && a.Replicas != b.Replicas {
			return cmp.Compare(a.Replicas, b.Replicas)
		}
		return cmp.Compare(a.Name, b.Name)
	})
}
