package handover

import (
	"fmt"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
)

// Parts say where the time of a gap went, in seconds; negative where the order was another one.
//
//	last sample of a loop in KCM ─Ends─► last KCM process seen to end ─Proof─► fence open ─Lease─► CCM leads ─Loops─► first sample
type Parts struct {
	Ends  float64 `json:"ends"`
	Proof float64 `json:"proof"`
	Lease float64 `json:"lease"`
	Loops float64 `json:"loops"`
}

// String is for the message about a gap that is too long.
func (p *Parts) String() string {
	if p == nil {
		return "its parts are not known"
	}
	return fmt.Sprintf("%.1f s until the last process of KCM was seen to end, %.1f s until the fence was open, %.1f s until the "+
		"CCM led, %.1f s until it ran the loops",
		p.Ends, p.Proof, p.Lease, p.Loops)
}

// partsOf is nil where a part is missing.
func partsOf(j *judgement, finished time.Time) *Parts {
	if j.row.Protocol == string(ucv1.LeaderMigrationProtocol) {
		return nil // The fence is open before the gap, and the CCM leads.
	}
	last, first := j.loopsMoved(finished)
	begin := j.records.begin(finished)
	ended, opened := j.lastEnd(finished), j.first(begin, func(e Event) bool { return e.Event == FenceOpened })
	leads := j.first(begin, func(e Event) bool {
		holder, isCCMs := strings.CutPrefix(e.Name, ccmName+" ")
		// Beside the control plane its name begins with that of the Cluster.
		return e.Event == LeaseHolder && isCCMs && strings.Contains(holder, ccmName)
	})
	for _, moment := range []time.Time{last, first, ended, opened, leads} {
		if moment.IsZero() {
			return nil
		}
	}
	return &Parts{
		Ends:  ended.Sub(last).Seconds(),
		Proof: opened.Sub(ended).Seconds(),
		Lease: leads.Sub(opened).Seconds(),
		Loops: first.Sub(leads).Seconds(),
	}
}

// loopsMoved is when a cloud loop was last seen in KCM, and when first in the CCM.
func (j *judgement) loopsMoved(finished time.Time) (last, first time.Time) {
	for _, loop := range loops.CloudLoops() {
		ended, began := j.loopMoved(loop, finished)
		last = later(last, ended)
		if first.IsZero() || !began.IsZero() && began.Before(first) {
			first = began
		}
	}
	return last, first
}

// loopMoved is the same for one loop.
func (j *judgement) loopMoved(loop string, finished time.Time) (last, first time.Time) {
	begin := j.records.begin(finished)
	for _, sample := range j.records.Samples {
		switch {
		case !sample.Running || sample.Loop != loop || sample.Time.Before(begin):
		case sample.Component == kcmName && sample.Time.Before(finished):
			last = later(last, sample.Time)
		case sample.Component == ccmName && first.IsZero():
			first = sample.Time
		}
	}
	return last, first
}

// lastEnd is when the controller saw the last process of KCM end.
func (j *judgement) lastEnd(finished time.Time) time.Time {
	ended := time.Time{}
	for _, seen := range j.records.Clusters {
		if seen.Time.After(finished) || seen.Status.Handover == nil {
			continue
		}
		for _, process := range seen.Status.Handover.Processes {
			if process.EndedAt != nil {
				ended = later(ended, process.EndedAt.Time)
			}
		}
	}
	return ended
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
