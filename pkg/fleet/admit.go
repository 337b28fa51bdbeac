package fleet

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// AtOnce is how many Clusters a FleetMigration admits in a pass at most: their names are written to its status first.
const AtOnce = 30

// admit the Clusters that may start, in their order, and say of the others what keeps them.
func (d *decision) admit(r *run) {
	room := AtOnce - len(r.object.Status.Admitting)
	stop := r.stopped()
	shared := map[*place][]Obstacle{}
	for at, waits := range d.inOrder(r) {
		m, p := &d.fleet.Members[waits.member], &d.plan.Members[waits.member]
		p.Position, p.Soon = at+1, r.soon(at, p.Wave)
		common, known := shared[d.at[waits.member]]
		if !known {
			common = d.common(r, waits.member, stop)
			shared[d.at[waits.member]] = common
		}
		own := append(p.Obstacles, d.ownWindows(m)...)
		// Budgets of others matter where nothing else is in the way, and then always: it would be admitted.
		alone := len(common) == 0 && len(own) == 0
		full := d.exhausted(m, r, alone)
		if p.Obstacles = common; len(own)+len(full) > 0 {
			p.Obstacles = slices.Concat(common, own, full)
		}
		switch {
		case alone && len(full) == 1 && full[0].Reason == ucv1.BudgetExhaustedReason:
			d.reserve(m, &r.waves[p.Wave])
		case len(p.Obstacles) > 0:
		case room <= 0:
			d.wake(d.now.Add(time.Second)) // The rest comes as soon as these are written.
		default:
			room--
			d.letGo(r, &r.waves[p.Wave], waits.member)
			clear(shared)
		}
	}
}

// leastSoon is how many Clusters are worth looking at often, however few may migrate at once.
const leastSoon = 50

// soon says that a place in the queue is near its front: each of those before it may be passed over.
func (r *run) soon(at, wave int) bool {
	return wave >= 0 && at < max(leastSoon, 2*r.waves[wave].concurrency())
}

// letGo a Cluster: from now on it counts.
func (d *decision) letGo(r *run, w *wave, i int) {
	m, p := &d.fleet.Members[i], &d.plan.Members[i]
	p.Admit, p.Claim, p.SetFeature, p.Position, p.State = true, false, r.onAdmission(), 0, InFlight
	p.Directive = ucv1.DirectiveProceed
	w.inFlight++
	r.started++
	if r.oldest.IsZero() {
		r.oldest = d.now
	}
	d.take(m)
	for _, count := range []*ucv1.FleetCount{&r.plan.Clusters, &w.plan.Clusters} {
		count.Queued--
		count.InFlight++
	}
}

// waiting is a Cluster that waits, and where.
type waiting struct {
	member   int
	wave     uint
	priority int
	size     int64
}

// inOrder are the Clusters that wait: by wave, priority, the wave's order, and name.
func (d *decision) inOrder(r *run) []waiting {
	queue := make([]waiting, 0, len(r.members))
	for _, i := range r.members {
		m, p := &d.fleet.Members[i], &d.plan.Members[i]
		if p.State != Queued && p.State != Ineligible {
			continue
		}
		w := waiting{member: i, wave: uint(p.Wave), priority: m.priority()} // Those without a wave come last.
		if p.Wave >= 0 && r.waves[p.Wave].Order != ucv1.Alphabetical {
			w.size = size(m)
		}
		queue = append(queue, w)
	}
	slices.SortFunc(queue, func(a, b waiting) int {
		if by := cmp.Or(cmp.Compare(a.wave, b.wave), cmp.Compare(b.priority, a.priority), cmp.Compare(a.size, b.size)); by != 0 {
			return by
		}
		return byName(&d.fleet.Members[a.member], &d.fleet.Members[b.member])
	})
	return queue
}

func byName(a, b *Member) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// size is the number of Nodes; what is not known comes last.
func size(m *Member) int64 {
	if nodes, known := m.Nodes.Get(); known {
		return int64(nodes)
	}
	return allNodes
}

func (m *Member) priority() int {
	label, set := m.Labels[ucv1.FleetPriorityLabel]
	if !set {
		return 0
	}
	priority, err := strconv.Atoi(label)
	if err != nil {
		return 0
	}
	return priority
}

// common are the obstacles that all Clusters of a place have together.
func (d *decision) common(r *run, i int, stop string) []Obstacle {
	var obstacles []Obstacle
	if stop != "" {
		obstacles = append(obstacles, Obstacle{Reason: stop, Of: r.object.Name})
	}
	obstacles = append(obstacles, obstaclesOf(d.verdict(r, i), r.object.Name)...)
	p := &d.plan.Members[i]
	if p.Wave < 0 {
		return obstacles
	}
	w := &r.waves[p.Wave]
	if w.plan.OpenedAt.IsZero() && w.plan.WaitsFor != stop {
		obstacles = append(obstacles, Obstacle{Reason: w.plan.WaitsFor, Of: w.Name})
	}
	return append(obstacles, d.crowded(r, w)...)
}

// crowded are the obstacles that other Clusters of the FleetMigration are.
func (d *decision) crowded(r *run, w *wave) []Obstacle {
	var obstacles []Obstacle
	if w.inFlight >= w.concurrency() {
		obstacles = append(obstacles, Obstacle{Reason: ucv1.ConcurrencyReachedReason, Of: w.Name})
	}
	if left, first := d.canariesLeft(w); first && w.inFlight >= left {
		obstacles = append(obstacles, Obstacle{Reason: ucv1.CanariesFirstReason, Of: w.Name})
	}
	if most := r.object.Spec.MaxStartsPerHour; most != nil && r.started >= int(*most) {
		obstacle := Obstacle{Reason: ucv1.StartsPerHourReason, Of: r.object.Name}
		if *most > 0 {
			obstacle.Until = r.oldest.Add(time.Hour)
			d.wake(obstacle.Until)
		}
		obstacles = append(obstacles, obstacle)
	}
	return obstacles
}
