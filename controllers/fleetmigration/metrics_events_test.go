package fleetmigration_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// pass is what a Cluster of wave canary is at a report, which comes so long after noon.
type pass struct {
	after time.Duration
	is    []fleet.Member
}

const (
	admissions = "fleet_admissions_total fleet_migration=fleet wave=canary"
	successes  = "fleet_successes_total fleet_migration=fleet wave=canary"
	failures   = "fleet_failures_total fleet_migration=fleet wave=canary reason="
)

// course of a Cluster, and what it comes to.
type course struct {
	passes []pass
	want   map[string]float64
}

func is(after time.Duration, members ...fleet.Member) pass { return pass{after, members} }

func TestWhatHappensIsCountedOnce(t *testing.T) {
	t.Parallel()
	for _, courses := range []map[string]course{coursesOfSuccess(), coursesOfFailure()} {
		for name, tc := range courses {
			t.Run(name, func(t *testing.T) {
				b := newBench(t)
				b.fms = []*ucv1.FleetMigration{fleetOf("uid")}
				for _, p := range tc.passes {
					b.now = noon().Add(p.after)
					b.report(p.is...)
				}
				for key, value := range tc.want {
					NewWithT(t).Expect(b.values()[key]).To(Equal(value), key)
				}
			})
		}
	}
}

func coursesOfSuccess() map[string]course {
	one, other := member("one", "canary"), member("other", "canary")
	waits, runs := queued(one), admitted(one, noon().Add(time.Minute))
	done := succeeded(one, noon().Add(time.Minute), noon().Add(time.Hour))
	return map[string]course{
		"what was before the first report is not": {
			[]pass{is(2*time.Hour, done), is(3*time.Hour, done)}, map[string]float64{admissions: 0, successes: 0},
		},
		"an admission": {[]pass{is(0, waits), is(time.Minute, runs), is(2*time.Minute, runs)}, map[string]float64{admissions: 1}},
		"an admission that an older view hides for a while": {
			[]pass{is(0, waits), is(time.Minute, runs), is(2*time.Minute, waits), is(3*time.Minute, runs)},
			map[string]float64{admissions: 1},
		},
		"a success": {[]pass{is(0, waits), is(2*time.Minute, runs), is(2*time.Hour, done), is(3*time.Hour, done)}, map[string]float64{
			admissions: 1, successes: 1,
			"fleet_cluster_duration_seconds fleet_migration=fleet wave=canary count": 1,
			"fleet_cluster_duration_seconds fleet_migration=fleet wave=canary sum":   59 * 60,
		}},
		"a success that an older view hides for a while": {
			[]pass{is(2*time.Minute, runs), is(2*time.Hour, done), is(3*time.Hour, runs), is(4*time.Hour, done)},
			map[string]float64{successes: 1},
		},
		"a Cluster that comes with all behind it": {
			[]pass{is(0, other), is(2*time.Hour, other, done)}, map[string]float64{admissions: 0, successes: 0},
		},
	}
}

func coursesOfFailure() map[string]course {
	one := member("one", "canary")
	runs, done := admitted(one, noon().Add(time.Minute)), succeeded(one, noon().Add(time.Minute), noon().Add(time.Hour))
	stuck, worse := stalled(one, noon()), stalled(one, noon().Add(5*time.Hour))
	bad := done
	bad.Verdict, bad.VerdictAt = slo.Violated, noon().Add(2*time.Hour)
	return map[string]course{
		"a success that turns bad and good again": {
			[]pass{is(0, runs), is(time.Hour, done), is(2*time.Hour, bad), is(3*time.Hour, done)},
			map[string]float64{successes: 1, failures + "SLOViolated": 1},
		},
		"a completion that is bad at once": {
			[]pass{is(0, runs), is(3*time.Hour, bad)}, map[string]float64{successes: 0, failures + "SLOViolated": 1},
		},
		"a failure": {
			[]pass{is(0, runs), is(time.Hour, stuck), is(2*time.Hour, stuck)}, map[string]float64{failures + "BlockedMachines": 1},
		},
		"a failure that an older view hides for a while": {
			[]pass{is(0, runs), is(time.Hour, stuck), is(2*time.Hour, runs), is(3*time.Hour, stuck)},
			map[string]float64{failures + "BlockedMachines": 1},
		},
		"a second failure": {
			[]pass{is(0, runs), is(time.Hour, stuck), is(2*time.Hour, runs), is(6*time.Hour, worse)},
			map[string]float64{failures + "BlockedMachines": 2},
		},
		"a failure that goes on for another reason": {
			[]pass{is(0, runs), is(time.Hour, stuck), is(5*time.Hour, runs)},
			map[string]float64{failures + "BlockedMachines": 1, failures + "ProgressDeadlineExceeded": 0},
		},
	}
}

func TestWaitsAreThoseInAnOpenWave(t *testing.T) {
	t.Parallel()
	const sum = "fleet_admission_wait_seconds fleet_migration=fleet wave=canary sum"
	first, late := member("first", "canary"), member("late", "canary")
	at := noon().Add(time.Hour)
	for name, tc := range map[string]struct {
		before, joined []fleet.Member
		after          fleet.Member
		want           time.Duration
	}{
		"one that was there, since the wave opened": {
			[]fleet.Member{queued(first)}, []fleet.Member{queued(first)}, admitted(first, at), 27 * time.Hour,
		},
		"one that joined, since then": {nil, []fleet.Member{queued(late)}, admitted(late, at), 50 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.fms = []*ucv1.FleetMigration{fleetOf("uid")}
			b.report(tc.before...)
			b.now = noon().Add(10 * time.Minute)
			b.report(tc.joined...)
			b.now = at
			b.report(tc.after)
			NewWithT(t).Expect(b.values()).To(HaveKeyWithValue(sum, tc.want.Seconds()))
		})
	}
}

func TestApprovalsTakeTheTimeOfAPerson(t *testing.T) {
	t.Parallel()
	const sum = "fleet_approval_wait_seconds fleet_migration=fleet wave=prod sum"
	for name, restarts := range map[string]bool{
		"from when it was asked for": false, "from when the wave before passed, where the manager was restarted since": true,
	} {
		t.Run(name, func(t *testing.T) {
			g, b := NewWithT(t), newBench(t)
			fm := fleetOf("uid")
			b.fms = []*ucv1.FleetMigration{fm}
			members := []fleet.Member{
				succeeded(member("one", "canary"), noon().Add(-2*time.Hour), noon().Add(-time.Hour)), queued(member("two", "prod")),
			}
			b.report(members...)
			if restarts {
				b = newBench(t)
				b.fms = []*ucv1.FleetMigration{fm}
			}
			b.now = noon().Add(time.Hour)
			b.report(members...)
			g.Expect(fm.Status.Waves[1].State).To(Equal(ucv1.WaveAwaitingApproval))
			g.Expect(b.values()).NotTo(HaveKey(sum))
			fm.Spec.Approvals = []ucv1.ApprovedWave{{Wave: "prod", GateDigest: fm.Status.Waves[1].Gate.Digest}}
			b.now = noon().Add(2 * time.Hour)
			b.report(members...)
			g.Expect(b.values()).To(HaveKeyWithValue(sum, (2 * time.Hour).Seconds()))
		})
	}
}
