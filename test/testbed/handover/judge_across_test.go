package handover

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/kubelet"
)

const older = "1.29.15"

func (r *Records) process(component, pod, release string, from, to float64) {
	entry := kubelet.Entry{
		Pod: pod, Container: "any", Image: "registry.example/simcloud/" + component + ":v" + release, StartedAt: at(from),
	}
	if to != 0 {
		entry.EndedAt = at(to)
	}
	r.Processes = append(r.Processes, entry)
}

func (r *Records) holds(second float64, lease, identity string) {
	r.Events = append(r.Events, Event{at(second), LeaseHolder, lease + " " + identity})
}

// across is a hand-over that is finished at 12 as good says it: the API servers are upgraded until 6, and KCM at 20.
func across() Records {
	records := good()
	records.process(apiServerName, "api-1", older, -9, 5)
	records.process(apiServerName, "api-2", older, -9, 6)
	records.process(apiServerName, "api-3", bed.KubernetesVersion, 3, 0)
	records.process(kcmName, "kcm-1", older, -9, 4)
	records.process(kcmName, "kcm-2", older, -9, 21)
	records.process(ccmName, "ccm-1", bed.KubernetesVersion, 7, 15)
	records.process(ccmName, "ccm-2", bed.KubernetesVersion, 14, 0)
	records.process(kcmName, "kcm-3", bed.KubernetesVersion, 20, 0)
	records.holds(-5, handover.LockName, "kcm-1_id")
	records.holds(4, handover.LockName, "kcm-2_id")
	records.holds(9, handover.LockName, "")
	records.holds(10, handover.LockName, "ccm-1_id")
	records.holds(-8, kcmName, "kcm-1_id")
	records.holds(21, kcmName, "kcm-3_id")
	return records
}

// staticKCM is upgraded at that second.
func (r *Records) staticKCM(from float64) {
	r.process(kcmName, kcmName+"-cp-0", bed.KubernetesVersion, from, 0)
}

type acrossCase struct {
	change func(*Records)
	want   []string
}

func TestJudgeAcrossMinors(t *testing.T) {
	judgeAcross(t, map[string]acrossCase{
		"as KEP-2436 has it": {},
		"a CCM beside an API server that is being ended": {
			change: func(r *Records) { r.process(ccmName, "ccm-0", bed.KubernetesVersion, 5.5, 5.7) },
			want:   []string{"ccm-0 of 1.30.14 ran while api-2 of 1.29.15 did"},
		},
		"a CCM beside one that never ended": {
			change: func(r *Records) { r.process(apiServerName, "api-0", older, 16, 0) },
			want:   []string{"ccm-2 of 1.30.14 ran while api-0 of 1.29.15 did"},
		},
		"a CCM of the older release, which does not lead, is none": {
			change: func(r *Records) { r.process(ccmName, "probe", older, 0, 1) },
		},
		"it may not take the lock": {
			change: func(r *Records) { r.process(ccmName, "probe", older, 0, 1); r.holds(11, handover.LockName, "probe_id") },
			want:   []string{"probe_id held the migration lock, which is no KCM of 1.29.15 and no CCM of 1.30.14"},
		},
		"KCM takes the lock back": {
			change: func(r *Records) { r.holds(13, handover.LockName, "kcm-2_id") },
			want:   []string{"KCM kcm-2 took the migration lock back from the CCM"},
		},
		"a KCM that is upgraded too early": {
			change: func(r *Records) { r.process(kcmName, "kcm-0", bed.KubernetesVersion, 11, 11.5) },
			want:   []string{"kcm-0 of 1.30.14 ran before the hand-over was finished"},
		},
		"a KCM of the older release that leads in the end": {
			change: func(r *Records) { r.holds(22, kcmName, "kcm-2_id") },
			want:   []string{"KCM is led by kcm-2 since 00:00:22, which is not of 1.30.14"},
		},
		"nothing was recorded": {
			change: func(r *Records) { r.Processes, r.Events = nil, good().Events },
			want: []string{
				"no CCM of 1.30.14 ran", "no API server of 1.29.15 ran", "no API server of 1.30.14 ran",
				"no KCM of 1.29.15 held the migration lock", "no CCM of 1.30.14 held the migration lock",
				"KCM is led by  since 00:00:00, which is not of 1.30.14",
			},
		},
	})
}

// The leader among static pods has the name of its Node, whatever its release.
func TestJudgeStaticPodsAcrossMinors(t *testing.T) {
	judgeAcross(t, map[string]acrossCase{
		"one that leads after its upgrade": {
			change: func(r *Records) { r.staticKCM(22); r.holds(23, kcmName, "cp-0_id") },
		},
		"one that led before it was upgraded, and not after": {
			change: func(r *Records) { r.holds(22, kcmName, "cp-0_id"); r.staticKCM(23) },
			want:   []string{"KCM is led by cp-0 since 00:00:22, which is not of 1.30.14"},
		},
		"one that had ended when another of its name led": {
			change: func(r *Records) {
				r.process(kcmName, kcmName+"-cp-0", bed.KubernetesVersion, 20, 20.5)
				r.holds(22, kcmName, "cp-0_id")
			},
			want: []string{"KCM is led by cp-0 since 00:00:22, which is not of 1.30.14"},
		},
		"a static pod that takes the lock back": {
			change: func(r *Records) {
				r.process(kcmName, kcmName+"-cp-0", older, -9, 21)
				r.holds(13, handover.LockName, "cp-0_id")
			},
			want: []string{"KCM cp-0 took the migration lock back from the CCM"},
		},
	})
}

func judgeAcross(t *testing.T, cases map[string]acrossCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			records, scenario := across(), scenario()
			scenario.Setup.Across, scenario.After = older, upgradeRest
			if tc.change != nil {
				tc.change(&records)
			}
			_, unmet := Judge(scenario, records, false)
			NewWithT(t).Expect(unmet).To(ConsistOf(tc.want))
		})
	}
}
