package fleet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// What a status shows at most, so that it stays small however many Clusters there are.
const (
	shownReasons  = 16
	shownExamples = 3
	shownFailed   = 3
	shownEvents   = 30
)

// report the status that a FleetMigration has to have.
func (d *decision) report(r *run) {
	d.reportBudgets(r)
	r.plan.Stopped = r.stopped()
	s, old := &r.plan.Status, &r.object.Status
	s.ObservedGeneration = r.object.Generation
	s.Summary = fmt.Sprintf("%d/%d", r.plan.Clusters.Succeeded, r.plan.Clusters.Total)
	s.Clusters, s.Nodes, s.Budgets = r.plan.Clusters, r.plan.Nodes, r.plan.Budgets
	s.Halt = r.plan.Halt
	s.Forecast = old.Forecast // Who makes it puts a new one there.
	s.Maintenance = ucv1.MaintenanceStatus{Open: r.plan.WindowsOpen, NextChangeAt: timeOf(r.plan.NextChangeAt)}
	for _, reason := range slices.Sorted(maps.Keys(r.plan.OutOfScope)) {
		s.OutOfScope = append(s.OutOfScope, ucv1.ReasonCount{
			Reason: reason, NamedCount: ucv1.NamedCount{Count: int32(r.plan.OutOfScope[reason])},
		})
	}
	s.OutOfScope = largest(s.OutOfScope)
	s.Queue = d.queue(r)
	s.Admitting = d.stillAdmitting(r)
	d.reportWaves(r)
	s.Timeline = append(slices.Clone(old.Timeline), d.events(r)...)
	s.Timeline = s.Timeline[max(0, len(s.Timeline)-shownEvents):]
	d.conditions(r)
}

func timeOf(at time.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	return &metav1.Time{Time: at}
}

// name counts a Cluster, and names the first of them.
func name(count *ucv1.NamedCount, m *Member) {
	count.Count++
	full := len(count.Examples) == shownExamples
	if full && !m.comesBefore(count.Examples[shownExamples-1]) {
		return
	}
	count.Examples = append(count.Examples, m.String())
	slices.Sort(count.Examples)
	count.Examples = count.Examples[:min(len(count.Examples), shownExamples)]
}

// comesBefore compares namespace/name without making it.
func (m *Member) comesBefore(name string) bool {
	n := min(len(m.Namespace), len(name))
	return cmp.Or(strings.Compare(m.Namespace[:n], name[:n]), strings.Compare(m.String(), name)) < 0
}

// largest counts first.
func largest(counts []ucv1.ReasonCount) []ucv1.ReasonCount {
	slices.SortStableFunc(counts, func(a, b ucv1.ReasonCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return counts[:min(len(counts), shownReasons)]
}

// queue is what Clusters wait for, each counted by its first obstacle.
func (d *decision) queue(r *run) []ucv1.ReasonCount {
	counts := map[string]*ucv1.NamedCount{}
	for _, i := range r.members {
		m, p := &d.fleet.Members[i], &d.plan.Members[i]
		if p.Position == 0 || len(p.Obstacles) == 0 {
			continue
		}
		reason := p.Obstacles[0].Reason
		if counts[reason] == nil {
			counts[reason] = &ucv1.NamedCount{}
		}
		name(counts[reason], m)
	}
	var queue []ucv1.ReasonCount
	for reason, count := range counts {
		queue = append(queue, ucv1.ReasonCount{Reason: reason, NamedCount: *count})
	}
	return largest(queue)
}

// stillAdmitting are those that are let go now, and those of before of which that was not seen yet.
func (d *decision) stillAdmitting(r *run) []ucv1.AdmittingCluster {
	var admitting []ucv1.AdmittingCluster
	for _, i := range r.members {
		if m, p := &d.fleet.Members[i], &d.plan.Members[i]; p.Admit {
			admitting = append(admitting, ucv1.AdmittingCluster{Namespace: m.Namespace, Name: m.Name, UID: m.UID, Wave: d.waveName(p)})
		}
	}
	slices.SortFunc(admitting, func(a, b ucv1.AdmittingCluster) int { return cmp.Compare(a.UID, b.UID) })
	return admitting
}

func (d *decision) waveName(p *MemberPlan) string {
	if p.Wave < 0 {
		return ""
	}
	return d.runs[p.Migration].waves[p.Wave].Name
}

func (d *decision) reportWaves(r *run) {
	for _, i := range r.members {
		m, p := &d.fleet.Members[i], &d.plan.Members[i]
		if p.State == Failed && p.Wave >= 0 {
			w := &r.plan.Waves[p.Wave]
			w.Failed = append(w.Failed, ucv1.FailedCluster{
				Cluster: m.String(), Reason: p.Failed.Reason, Since: metav1.NewTime(p.Failed.Since),
			})
		}
	}
	for i := range r.plan.Waves {
		w := &r.plan.Waves[i]
		slices.SortFunc(w.Failed, func(a, b ucv1.FailedCluster) int {
			return cmp.Or(b.Since.Compare(a.Since.Time), cmp.Compare(a.Cluster, b.Cluster))
		})
		w.Failed = w.Failed[:min(len(w.Failed), shownFailed)]
		if r.plan.Status.Wave == "" && w.State != ucv1.WavePassed && w.State != ucv1.WaveEmpty {
			r.plan.Status.Wave = w.Name
		}
		r.plan.Status.Waves = append(r.plan.Status.Waves, ucv1.WaveStatus{
			Name: w.Name, State: w.State, WaitsFor: w.WaitsFor, OpenedAt: timeOf(w.OpenedAt), PassedAt: timeOf(w.PassedAt),
			Clusters: w.Clusters, Gate: w.Gate, Failed: w.Failed,
		})
	}
}

// events since the status that is there.
func (d *decision) events(r *run) []ucv1.FleetEvent {
	var events []ucv1.FleetEvent
	add := func(kind, message string) {
		events = append(events, ucv1.FleetEvent{Time: metav1.NewTime(d.now), Kind: kind, Message: message})
	}
	for i := range r.plan.Waves {
		w, before := &r.plan.Waves[i], ucv1.WaveStatus{}
		if was := waveStatus(r.object, r.plan.Waves[i].Name); was != nil {
			before = *was
		}
		if !w.OpenedAt.IsZero() && before.OpenedAt == nil {
			add("WaveOpened", fmt.Sprintf("Wave %s opens.", w.Name))
		}
		if !w.PassedAt.IsZero() && before.PassedAt == nil {
			add("WavePassed", fmt.Sprintf("Wave %s has passed: %d Clusters succeeded, %d failed.", w.Name, w.Clusters.Succeeded,
				w.Clusters.Failed))
		}
	}
	if kind, message := haltEvent(r.object.Status.Halt, r.plan.Halt); kind != "" {
		add(kind, message)
	}
	return events
}

// haltEvent is empty where a halt neither began nor ended.
func haltEvent(was, is *ucv1.FleetHalt) (kind, message string) {
	switch {
	case is != nil && (was == nil || !was.At.Equal(&is.At)):
		return "Halted", fmt.Sprintf("Halted: %s.", is.Reason)
	case was != nil && is == nil:
		return "Resumed", "A person looked at the failures (spec.failures.countSince)."
	}
	return "", ""
}
