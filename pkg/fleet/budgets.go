package fleet

import (
	"cmp"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

const (
	// reservesAfter is how long a wave is open before a budget of Nodes is kept for a Cluster that is too large for what is left.
	reservesAfter = 24 * time.Hour
	// shownBudgets are the fullest that a status shows.
	shownBudgets = 20
	// allNodes is what a Cluster counts whose Nodes are not known.
	allNodes = 1 << 40
)

// budget in the making. One with a label has a value for each of its values.
type budget struct {
	*ucv1.FleetBudget
	of   *run
	name string
	// values say which value of its label a Cluster has: those of budgets with the same label are the same.
	values *values
	// used by value, and whether a value is kept for a large Cluster.
	used     []int
	reserved []bool
}

// BudgetCountsNodes says that a budget of the FleetMigration limits Nodes, and not Clusters.
func (m *Migration) BudgetCountsNodes(name string) bool {
	return slices.ContainsFunc(m.object.Spec.Budgets, func(b ucv1.FleetBudget) bool { return b.Name == name && b.MaxNodes != nil })
}

// values of a label, numbered as they come.
type values struct {
	label   string
	numbers map[string]int
	names   []string
	// last is that of the Cluster asked for last.
	member *Member
	last   int
}

func (v *values) of(m *Member) int {
	if v.member == m {
		return v.last
	}
	name := ""
	if v.label != "" {
		name = m.Labels[v.label]
	}
	number, known := v.numbers[name]
	if !known {
		number = len(v.names)
		v.numbers[name], v.names = number, append(v.names, name)
	}
	v.member, v.last = m, number
	return number
}

// value of a Cluster, for which there is room afterwards.
func (b *budget) value(m *Member) int {
	at := b.values.of(m)
	for len(b.used) <= at {
		b.used, b.reserved = append(b.used, 0), append(b.reserved, false)
	}
	return at
}

func (b *budget) limit() int {
	if b.MaxNodes != nil {
		return int(*b.MaxNodes)
	}
	if b.MaxConcurrency != nil {
		return int(*b.MaxConcurrency)
	}
	return 0 // What has no limit allows nothing.
}

// costs of a Cluster. Its Nodes count until all its Machines are replaced; what is not known takes the whole budget.
func (b *budget) costs(m *Member) int {
	nodes, known := m.Nodes.Get()
	switch {
	case b.MaxNodes == nil:
		return 1
	case m.RolledOut:
		return 0
	case !known:
		return allNodes
	}
	return int(nodes)
}

func (b *budget) reserves(m *Member) bool {
	at := b.value(m)
	return b.reserved[at]
}

// fits says that a Cluster may be let go. One that is larger than the whole budget goes alone.
func (b *budget) fits(m *Member) bool {
	used, costs := b.used[b.value(m)], b.costs(m)
	if b.MaxNodes != nil && used == 0 && costs < allNodes {
		return b.limit() > 0
	}
	return used+costs <= b.limit()
}

// fill the budgets with every Cluster that migrates, whoever let it go. What is only planned limits no one.
func (d *decision) fill(r *run) {
	if r.object.Spec.Mode == ucv1.FleetPlanOnly {
		return
	}
	for i := range r.object.Spec.Budgets {
		spec := &r.object.Spec.Budgets[i]
		if (spec.MaxConcurrency == nil) == (spec.MaxNodes == nil) {
			continue // Its own FleetMigration admits no Cluster because of it.
		}
		b := budget{FleetBudget: spec, of: r, name: r.object.Name + "/" + spec.Name, values: d.valuesOf(spec.Per)}
		for _, at := range d.migrating {
			b.take(&d.fleet.Members[at])
		}
		d.budgets = append(d.budgets, b)
	}
}

func (d *decision) valuesOf(label string) *values {
	if d.values[label] == nil {
		d.values[label] = &values{label: label, numbers: map[string]int{}}
	}
	return d.values[label]
}

func (b *budget) take(m *Member) { b.used[b.value(m)] += b.costs(m) }

// take a Cluster into account in all budgets.
func (d *decision) take(m *Member) {
	for i := range d.budgets {
		d.budgets[i].take(m)
	}
}

// exhausted are the budgets that have no room for a Cluster: those of its own FleetMigration, and, where others matter, one of
// them.
func (d *decision) exhausted(m *Member, own *run, others bool) []Obstacle {
	var obstacles [8]Obstacle // Most have few, and few allocations are made for thousands of Clusters.
	found := obstacles[:0]
	for i := range d.budgets {
		b := &d.budgets[i]
		if b.of != own && !others {
			continue
		}
		switch {
		case b.reserves(m):
			found = append(found, Obstacle{Reason: ucv1.BudgetReservedReason, Of: b.name})
		case !b.fits(m):
			found = append(found, Obstacle{Reason: ucv1.BudgetExhaustedReason, Of: b.name})
		default:
			continue
		}
		others = others && b.of == own
	}
	return slices.Clone(found)
}

// reserve what a Cluster waits for that has nothing else in its way: small ones must not take every Node that gets free.
func (d *decision) reserve(m *Member, w *wave) {
	opens := w.plan.OpenedAt.Add(reservesAfter)
	for i := range d.budgets {
		if b := &d.budgets[i]; b.MaxNodes != nil && !b.fits(m) {
			if d.now.Before(opens) {
				d.wake(opens)
				continue
			}
			b.reserved[b.value(m)] = true
		}
	}
}

// reportBudgets are the fullest.
func (d *decision) reportBudgets(r *run) {
	for i := range d.budgets {
		b := &d.budgets[i]
		if b.of != r {
			continue
		}
		for value, used := range b.used {
			if used == 0 {
				continue
			}
			r.plan.Budgets = append(r.plan.Budgets, ucv1.BudgetStatus{
				Name: b.Name, Value: b.values.names[value], Used: int32(min(used, 1<<31-1)), Limit: int32(b.limit()),
			})
		}
	}
	slices.SortFunc(r.plan.Budgets, func(a, b ucv1.BudgetStatus) int {
		return cmp.Or(
			cmp.Compare(int64(b.Used)*int64(max(a.Limit, 1)), int64(a.Used)*int64(max(b.Limit, 1))),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value),
		)
	})
	r.plan.Budgets = r.plan.Budgets[:min(len(r.plan.Budgets), shownBudgets)]
}
