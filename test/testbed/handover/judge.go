package handover

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// settleTime is how long after the end of a hand-over a gap still counts as its own: the sampler sees the CCM's loops later
// than the controller sees its Lease.
const settleTime = 15 * time.Second

// Row is an element of report.json.
type Row struct {
	Scenario             string  `json:"scenario"`
	Protocol             string  `json:"protocol"`
	Topology             string  `json:"topology"`
	KCMReplicas          int32   `json:"kcmReplicas"`
	LeaseDurationSeconds float64 `json:"leaseDurationSeconds"`
	Overlaps             int     `json:"overlaps"`
	// GapSeconds is the longest time from the last sign of a loop in KCM to the first one in the CCM; null when nothing was
	// handed over.
	GapSeconds             *float64 `json:"gapSeconds"`
	LoadBalancersKept      int      `json:"loadBalancersKept"`
	LoadBalancersRecreated int      `json:"loadBalancersRecreated"`
	// NodesDeleted counts Nodes that were deleted although their instances lived.
	NodesDeleted int    `json:"nodesDeleted"`
	Result       Result `json:"result"`
	// CausedOverlapSeconds is how long two managers ran a loop because a person made them; it is not among the overlaps.
	CausedOverlapSeconds *float64 `json:"causedOverlapSeconds,omitempty"`
	// GapBarSeconds is the limit of the gap, and WhyNoBar says why there is none.
	GapBarSeconds float64 `json:"gapBarSeconds,omitempty"`
	WhyNoBar      string  `json:"whyNoBar,omitempty"`
	// OtherGapSeconds is the longest other time in which a loop ran nowhere, from the switch of the feature until shortly
	// after the hand-over: KCM or the CCM was restarted, and its next process waited for the Lease.
	OtherGapSeconds *float64 `json:"otherGapSeconds,omitempty"`
	// Parts of the gap.
	Parts *Parts `json:"gapParts,omitempty"`
	// Unmet is what was not as it should be.
	Unmet []string `json:"unmet,omitempty"`
}

// Judge computes a scenario's row, and says what is not as it should be. Where absolute is false, times that depend on the
// machine are not asked for.
func Judge(scenario Scenario, records Records, absolute bool) (Row, []string) {
	row := Row{
		Scenario: scenario.Name, Topology: cmp.Or(scenario.Setup.Topology, Hosted), KCMReplicas: scenario.Setup.KCMReplicas,
		LeaseDurationSeconds: scenario.Setup.Lease.Seconds(), Result: Unfinished,
		GapBarSeconds: scenario.Bars.Gap.Seconds(), WhyNoBar: scenario.Bars.NoGap,
	}
	judge := &judgement{scenario: scenario, records: records, row: &row}
	if len(records.Clusters) > 0 {
		status := records.Clusters[len(records.Clusters)-1].Status
		row.Result = resultOf(&status)
	}
	for _, seen := range records.Clusters {
		if seen.Status.Handover != nil { // What is rolled back has none any more.
			row.Protocol = string(seen.Status.Handover.Protocol)
		}
	}
	judge.expect(row.Result == scenario.Want, "the result is %s, not %s", row.Result, scenario.Want)
	judge.overlaps()
	judge.gap(absolute)
	judge.loadBalancers()
	judge.nodes()
	judge.bars()
	judge.across()
	for _, lost := range unserved(records.State) {
		judge.expect(false, "%s", lost)
	}
	return row, judge.unmet
}

type judgement struct {
	scenario Scenario
	records  Records
	row      *Row
	unmet    []string
}

func (j *judgement) expect(holds bool, format string, arguments ...any) {
	if !holds {
		j.unmet = append(j.unmet, fmt.Sprintf(format, arguments...))
	}
}

// at is when an event came first; zero when it did not. An empty name is any.
func (j *judgement) at(event, name string) time.Time {
	return j.first(time.Time{}, func(e Event) bool { return e.Event == event && (name == "" || e.Name == name) })
}

// first is when the first such event came from a moment on.
func (j *judgement) first(from time.Time, such func(Event) bool) time.Time {
	for _, event := range j.records.Events {
		if !event.Time.Before(from) && such(event) {
			return event.Time
		}
	}
	return time.Time{}
}

// overlaps counts those outside the time in which a person made one.
func (j *judgement) overlaps() {
	begins, ends := j.at(PersonBegins, ""), j.at(PersonEnds, "")
	parts := []func(time.Time) bool{func(time.Time) bool { return true }}
	if !begins.IsZero() {
		parts = []func(time.Time) bool{
			func(t time.Time) bool { return t.Before(begins) },
			func(t time.Time) bool { return !ends.IsZero() && t.After(ends) },
		}
		j.caused(begins, ends)
	}
	ways := j.records.ways()
	for _, within := range parts {
		j.row.Overlaps += len(loops.Overlaps(only(j.records.Samples, func(s loops.Sample) bool { return within(s.Time) })))
		for _, way := range ways {
			calls := only(j.records.Calls, func(c simcloud.Call) bool { return within(c.Time) && way.has(c.Time) })
			j.row.Overlaps += len(loops.CallOverlaps(calls))
		}
	}
	j.expect(j.row.Overlaps == 0, "loops ran in two managers %d times", j.row.Overlaps)
	j.expect(len(j.records.Samples) > 0, "nothing was sampled")
}

// caused is the longest overlap within the person's time.
func (j *judgement) caused(begins, ends time.Time) {
	var longest time.Duration
	samples := only(
		j.records.Samples,
		func(s loops.Sample) bool { return !s.Time.Before(begins) && (ends.IsZero() || !s.Time.After(ends)) },
	)
	for _, overlap := range loops.Overlaps(samples) {
		longest = max(longest, overlap.To.Sub(overlap.From))
	}
	caused := longest.Seconds()
	j.row.CausedOverlapSeconds = &caused
	j.expect(
		longest <= j.scenario.Bars.CausedOverlap,
		"the person's overlap lasted %s, at most %s",
		longest,
		j.scenario.Bars.CausedOverlap,
	)
}

func only[T any](records []T, holds func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(records), func(record T) bool { return !holds(record) })
}

// finished is when a hand-over was first seen as finished; zero when none was.
func (j *judgement) finished() time.Time {
	for _, seen := range j.records.Clusters {
		if handover := seen.Status.Handover; handover != nil && handover.FinishedAt != nil {
			return seen.Time
		}
	}
	return time.Time{}
}

// gap is that of the first hand-over that was finished; one that began again after contention is the person's.
func (j *judgement) gap(absolute bool) {
	finished := j.finished()
	if finished.IsZero() {
		return
	}
	var gap, other time.Duration
	after := finished.Add(settleTime)
	if len(j.records.rollbacks()) > 0 {
		after = time.Time{} // The loops may go back, which has a gap of its own.
	}
	for _, loop := range loops.CloudLoops() {
		last, first := j.loopMoved(loop, finished)
		if last.IsZero() || first.IsZero() {
			continue
		}
		gap = max(gap, first.Sub(last))
		other = max(
			other,
			loops.Gaps(j.records.Samples, j.at(Flipped, ""), last)[loop],
			loops.Gaps(j.records.Samples, first, after)[loop],
		)
	}
	gapSeconds, otherSeconds := gap.Seconds(), other.Seconds()
	j.row.GapSeconds, j.row.OtherGapSeconds = &gapSeconds, &otherSeconds
	j.row.Parts = partsOf(j, finished)
	if bar := j.scenario.Bars.Gap; absolute && bar > 0 {
		j.expect(gap <= bar, "the gap was %s, at most %s: %s", gap.Round(time.Millisecond), bar, j.row.Parts)
	}
}

func (j *judgement) loadBalancers() {
	created, deleted := map[string]int{}, map[string]int{}
	for _, call := range j.records.Calls {
		if call.Error != "" {
			continue
		}
		switch call.Method {
		case simcloud.CreateLoadBalancer:
			created[call.Object]++
		case simcloud.DeleteLoadBalancer, simcloud.EnsureLoadBalancerDeleted:
			deleted[call.Object]++
			asked := j.at(ServiceDeleted, strings.TrimPrefix(call.Object, balancerOf("")))
			j.expect(!asked.IsZero() && asked.Before(call.Time), "load balancer %s was deleted by mistake", call.Object)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(created)) {
		if created[name] > 1 {
			j.row.LoadBalancersRecreated++
			j.expect(false, "load balancer %s was created %d times", name, created[name])
		}
		if strings.HasPrefix(name, balancerOf("keep-")) && created[name] == 1 && deleted[name] == 0 {
			j.row.LoadBalancersKept++
		}
	}
	j.expect(j.row.LoadBalancersKept == 2, "%d of 2 load balancers were kept", j.row.LoadBalancersKept)
}

func (j *judgement) nodes() {
	for _, event := range j.records.Events {
		if event.Event != NodeGone {
			continue
		}
		meant := false
		for _, why := range []string{NodeRemoved, NodeKilled} {
			at := j.at(why, event.Name)
			meant = meant || !at.IsZero() && at.Before(event.Time)
		}
		if !meant {
			j.row.NodesDeleted++
			j.expect(false, "Node %s was deleted by mistake", event.Name)
		}
	}
}

func (j *judgement) bars() {
	bars := j.scenario.Bars
	for _, event := range j.records.Events {
		j.expect(event.Event != KCMDiffers, "KCM was not as before when its migration was rolled back: %s", event.Name)
	}
	if bars.NothingOpened {
		j.expect(j.at(FenceOpened, "").IsZero(), "the fence was opened")
	}
	if bars.Untouched {
		j.expect(j.records.State.KCMChanges == 0, "KCM was changed %d times", j.records.State.KCMChanges)
	}
	if bars.NoRoutes {
		asked := slices.ContainsFunc(j.records.Calls, func(call simcloud.Call) bool { return call.Loop == "route" })
		j.expect(!asked, "someone asked the cloud about routes")
	}
}
