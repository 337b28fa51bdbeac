package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// wave in the making.
type wave struct {
	*ucv1.Wave
	plan *WavePlan
	// failures that no person has looked at, and verdicts of those that succeeded.
	failures, met, inconclusive, violated int
	// restless is the newest time at which one of its Clusters was finished, recovered or failed; unhealthy that one of those that
	// finished is not well now.
	restless  time.Time
	unhealthy bool
	// well is since when each that succeeded has been well, where there are canaries.
	well []time.Time
	// inFlight goes up as Clusters are admitted in this pass.
	inFlight int
}

// add a Cluster to its wave.
func (w *wave) add(m *Member, p *MemberPlan) {
	add(&w.plan.Clusters, p.State)
	switch p.State {
	case Succeeded:
		w.rest(m.CompletedAt)
		w.rest(m.HealthySince)
		if m.Stalled.Reason != "" || m.HealthySince.IsZero() {
			w.unhealthy = true // One that is not seen to be well may be not.
		} else if w.Canaries != nil {
			w.well = append(w.well, later(m.CompletedAt, m.HealthySince))
		}
		if m.Verdict == slo.Met {
			w.met++
		} else {
			w.inconclusive++
		}
	case Failed:
		w.rest(p.Failed.Since)
		if p.Failed.Reason == ucv1.SLOViolatedReason {
			w.violated++
		}
		if !p.Forgiven {
			w.failures++
		}
	case InFlight:
		w.inFlight++
	default:
	}
}

func (w *wave) rest(at time.Time) { w.restless = later(w.restless, at) }

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// base is what percentages are of: the Clusters that are wanted to migrate.
func (w *wave) base() int { return int(w.plan.Clusters.Total - w.plan.Clusters.NotRequested) }

func (w *wave) concurrency() int {
	field := limit{w.MaxConcurrency}
	if field.check() != nil || field.isZero() {
		return 0
	}
	return max(1, field.of(w.base(), false, "1"))
}

// canaries of a wave: not more than it has Clusters.
func (w *wave) canaries() int {
	if w.Canaries == nil {
		return 0
	}
	return min(int(*w.Canaries), w.base())
}

func (w *wave) soak() time.Duration { return seconds(w.SoakSeconds, defaultSoak) }

// good says that enough Clusters succeeded, few enough failed, and none is under way.
func (w *wave) good() bool {
	succeeded := int(w.plan.Clusters.Succeeded)
	return w.inFlight == 0 && !w.unhealthy &&
		succeeded >= max(1, w.canaries(), limit{w.MinSuccesses}.of(w.base(), true, "90%")) &&
		w.failures <= limit{w.MaxFailures}.of(w.base(), false, "0") &&
		w.inconclusive <= limit{w.MaxInconclusive}.of(succeeded, false, "100%")
}

// openWaves in their order. That a wave has opened or passed is never taken back.
func (d *decision) openWaves(r *run) {
	before := ucv1.GateStatus{}
	passed, reached := true, slices.ContainsFunc(r.object.Status.Waves, func(w ucv1.WaveStatus) bool { return w.OpenedAt != nil })
	for i := range r.waves {
		w := &r.waves[i]
		w.recall(waveStatus(r.object, w.Name))
		empty := w.plan.Clusters.Total == 0 && w.plan.OpenedAt.IsZero()
		switch {
		case empty && i == 0 && !reached:
			// A misspelled selector must not make the next wave the first one.
			w.plan.State, w.plan.WaitsFor, r.plan.FirstWaveEmpty, passed = ucv1.WaveEmpty, ucv1.FirstWaveEmptyReason, true, false
		case empty:
			w.plan.State = ucv1.WaveEmpty
		case w.plan.OpenedAt.IsZero():
			d.open(r, w, passed, before)
		}
		if !w.plan.OpenedAt.IsZero() {
			d.pass(r, w)
		}
		passed = passed && (w.plan.State == ucv1.WavePassed || w.plan.State == ucv1.WaveEmpty)
		before.Succeeded += w.plan.Clusters.Succeeded
		before.Failed += w.plan.Clusters.Failed
		before.Met += int32(w.met)
		before.Inconclusive += int32(w.inconclusive)
		before.Violated += int32(w.violated)
	}
}

// recall what was recorded of it.
func (w *wave) recall(status *ucv1.WaveStatus) {
	if status == nil {
		return
	}
	if status.OpenedAt != nil {
		w.plan.OpenedAt = status.OpenedAt.Time
	}
	if status.PassedAt != nil {
		w.plan.PassedAt = status.PassedAt.Time
	}
}

// open a wave when the ones before have passed. A person is asked only when nothing else is in the way.
func (d *decision) open(r *run, w *wave, passed bool, before ucv1.GateStatus) {
	w.plan.State = ucv1.WaveWaiting
	required := w.Approval == ucv1.WaveApprovalRequired
	if required {
		before.Digest = digest(w.Wave, before)
		w.plan.Gate = &before
	}
	switch stop := r.stopped(); {
	case !passed:
		w.plan.WaitsFor = ucv1.WaveWaitingReason
	case stop != "":
		w.plan.WaitsFor = stop
	case required && !approved(r.object, w.Name, before.Digest):
		w.plan.State, w.plan.WaitsFor = ucv1.WaveAwaitingApproval, ucv1.AwaitingApprovalReason
	default:
		w.plan.OpenedAt, w.plan.Gate = d.now, nil
	}
}

func approved(fm *ucv1.FleetMigration, wave, digest string) bool {
	return slices.ContainsFunc(fm.Spec.Approvals, func(a ucv1.ApprovedWave) bool { return a.Wave == wave && a.GateDigest == digest })
}

// digest of what is approved: the settings of the wave, and what is bad about the ones before. A Cluster that joins them, or
// succeeds late, makes no approval void; a late failure does.
func digest(w *ucv1.Wave, before ucv1.GateStatus) string {
	before.Digest, before.Succeeded, before.Met = "", 0, 0
	text, err := json.Marshal([]any{w, before})
	if err != nil {
		return "" // No approval has an empty digest.
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// pass a wave that was good for the time of its soak.
func (d *decision) pass(r *run, w *wave) {
	switch {
	case !w.plan.PassedAt.IsZero():
		w.plan.State = ucv1.WavePassed
		return
	case !w.good() || r.plan.Halt != nil || len(r.problems) > 0:
		w.plan.State = ucv1.WaveOpen
		return
	}
	w.plan.State, w.plan.SoaksUntil = ucv1.WaveSoaking, w.restless.Add(w.soak())
	if d.now.Before(w.plan.SoaksUntil) {
		d.wake(w.plan.SoaksUntil)
		return
	}
	w.plan.State, w.plan.PassedAt = ucv1.WavePassed, d.now
}

// canariesLeft is how many may be under way until the canaries have succeeded and soaked; false where the others may start.
// The first that have been well for the time of the soak are the canaries, so that a later failure does not ask for others.
func (d *decision) canariesLeft(w *wave) (int, bool) {
	n := w.canaries()
	if n == 0 || !w.plan.PassedAt.IsZero() {
		return 0, false
	}
	if left := n - int(w.plan.Clusters.Succeeded); left > 0 {
		return left, true
	}
	if len(w.well) < n {
		return 0, true
	}
	slices.SortFunc(w.well, time.Time.Compare)
	soaked := w.well[n-1].Add(w.soak())
	d.wake(soaked)
	return 0, d.now.Before(soaked)
}
