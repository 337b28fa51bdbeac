package loops

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestUnattended(t *testing.T) {
	tests := map[string]struct {
		samples  []Sample
		from, to float64
		want     Spell
	}{
		"the longest time between two sightings is one": {
			samples: script(map[string][]float64{"kcm-0": {1, 2, 3, -3.2}, "ccm-0": {5, 6}}), from: 1, to: 6,
			want: Spell{Loop: "service", From: at(3), Seconds: 2},
		},
		"a manager that never came ends no spell": {
			samples: script(map[string][]float64{"kcm-0": {1, 2}}), from: 1, to: 9, want: Spell{Loop: "service", From: at(2), Seconds: 7},
		},
		"a loop that was seen too late was unattended before": {
			samples: script(map[string][]float64{"ccm-0": {8, 9}}), from: 1, to: 9, want: Spell{Loop: "service", From: at(1), Seconds: 7},
		},
		"a loop without a sample was unattended all the time": {from: 1, to: 9, want: Spell{Loop: "service", From: at(1), Seconds: 8}},
		"a manager that could not be read proves nothing": {
			samples: script(map[string][]float64{"kcm-0": {1, 7, 8}}), from: 1, to: 8,
			want: Spell{Loop: "service", From: at(1), Seconds: 6},
		},
		"two managers cover each other": {
			samples: script(map[string][]float64{"kcm-0": {1, 3, 5}, "kcm-1": {2, 4, 6}}), from: 1, to: 6,
			want: Spell{Loop: "service", From: at(1), Seconds: 1},
		},
		"what is outside of the window does not count": {
			samples: script(map[string][]float64{"kcm-0": {1, 10, 11, 12, 30}}), from: 9.5, to: 12.5,
			want: Spell{Loop: "service", From: at(10), Seconds: 1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(Unattended(tc.samples, []string{"service"}, at(tc.from), at(tc.to))).To(Equal(tc.want))
		})
	}
}

// reads makes reads of process 1, an error where the second is negative.
func reads(seconds ...float64) []Read {
	var all []Read
	for _, second := range seconds {
		read := Read{Time: at(max(second, -second)), Cluster: "alpha", Component: kubeControllerManager, Instance: "kcm-0", PID: 1}
		if second < 0 {
			read.Error = "context deadline exceeded"
		}
		all = append(all, read)
	}
	return all
}

func TestUnread(t *testing.T) {
	kcm := Manager{Cluster: "alpha", Component: kubeControllerManager, Instance: "kcm-0", PID: 1, StartedAt: at(0)}
	var many []float64
	for second := range 40 {
		many = append(many, float64(second+5))
	}
	short, silent := kcm, kcm
	short.PID, short.EndedAt = 2, at(5)
	silent.PID, silent.Instance = 3, "kcm-1"
	tests := map[string]struct {
		reads    []Read
		managers []Manager
		want     []string
	}{
		"no read proves nothing":                   {want: []string{"no manager was read"}},
		"failures before the first answer are few": {reads: reads(append([]float64{-1, -2, -3, -4}, many...)...)},
		"some may fail":                            {reads: reads(append([]float64{0.5, -1, -2}, many...)...)},
		"too many may not": {
			reads: reads(append([]float64{0.5, -1, -2, -3}, many...)...), want: []string{"3 of 44 reads failed"},
		},
		"a manager that ended soon need not be read": {reads: reads(many...), managers: []Manager{kcm, short}},
		"any other has to be": {
			reads: reads(many...), managers: []Manager{kcm, silent}, want: []string{"Pod kcm-1 was never read"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(Unread(tc.reads, tc.managers, at(60))).To(Equal(tc.want))
		})
	}
}

// handedOver is a KCM that ended at 10 and a CCM that took its Lease at 11; both Leases are known from the start.
func handedOver() Evidence {
	return Evidence{
		Managers: []Manager{
			{Cluster: "alpha", Component: kubeControllerManager, Instance: "kcm-0", PID: 1, StartedAt: at(0), EndedAt: at(10)},
			{Cluster: "alpha", Component: cloudControllerManager, Instance: "ccm-0", PID: 2, StartedAt: at(5)},
		},
		Terms: []Term{
			{Cluster: "alpha", Lease: kubeControllerManager, UID: "k", Holder: "kcm-0_id", Transitions: 3, AcquiredAt: at(1)},
			{Cluster: "alpha", Lease: cloudControllerManager, UID: "c", Holder: "ccm-0_id", AcquiredAt: at(11)},
		},
		Samples: script(map[string][]float64{"kcm-0": {2, 9.5}, "ccm-0": {11.5, 12}}),
	}
}

func TestLeaderless(t *testing.T) {
	g := NewWithT(t)
	evidence := handedOver()
	spell := func(from, to float64) Spell {
		return Spell{Loop: kubeControllerManager, From: at(from), Seconds: to - from}
	}
	g.Expect(evidence.Leaderless(kubeControllerManager, at(2), at(9))).To(BeEmpty(), "its process lives")
	g.Expect(evidence.Leaderless(kubeControllerManager, at(0), at(20))).To(Equal([]Spell{spell(0, 1), spell(10, 20)}))
	evidence.Managers = append(evidence.Managers, Manager{
		Cluster: "alpha", Component: kubeControllerManager, Instance: "kcm-1", PID: 3, StartedAt: at(9),
	})
	evidence.Terms = append(evidence.Terms, Term{
		Cluster: "alpha", Lease: kubeControllerManager, UID: "k", Holder: "kcm-1_id", Transitions: 4, AcquiredAt: at(14),
	})
	g.Expect(evidence.Leaderless(kubeControllerManager, at(2), at(20))).To(Equal([]Spell{spell(10, 14)}))
	g.Expect(evidence.Leaderless(kubeControllerManager, at(15), at(20))).To(BeEmpty(), "it was taken before")
}

func TestMoves(t *testing.T) {
	samples := script(map[string][]float64{"kcm-0": {1, 2, -2.5}, "ccm-0": {4, 5, 9}})
	g := NewWithT(t)
	move := []Spell{{Loop: "service", From: at(2), Seconds: 2}}
	g.Expect(Moves(samples, []string{"service"}, at(0), at(20))).To(Equal(move), "going on after a hole is no move")
	g.Expect(Moves(samples, []string{"service"}, at(3), at(20))).To(Equal(move))
	g.Expect(Moves(samples, []string{"service"}, at(4), at(20))).To(BeEmpty())
	g.Expect(Moves(samples, []string{"service"}, at(0), at(3))).To(BeEmpty())
	g.Expect(Moves(samples, []string{"route"}, at(0), at(20))).To(BeEmpty())
}

type evidenceTest struct {
	change   func(*Evidence)
	overlaps []Overlap
	doubts   []string
}

func TestEvidence(t *testing.T) {
	tests := overlapTests()
	maps.Copy(tests, doubtTests())
	maps.Copy(tests, twoLeadersTests())
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			evidence := handedOver()
			if tc.change != nil {
				tc.change(&evidence)
			}
			overlaps, doubts := evidence.Judge(at(1), at(20))
			g.Expect(overlaps).To(Equal(tc.overlaps))
			g.Expect(doubts).To(Equal(tc.doubts))
		})
	}
}

func twoLeadersTests() map[string]evidenceTest {
	return map[string]evidenceTest{
		"two leaders by one Lease run everything twice, whatever was seen of them": {
			change: func(e *Evidence) {
				for i := range e.Samples {
					if e.Samples[i].Instance == "kcm-0" {
						e.Samples[i].Loop = "nodeipam"
					}
				}
				e.Managers = append(e.Managers, Manager{
					Cluster: "alpha", Component: kubeControllerManager, Instance: "kcm-1", PID: 3, StartedAt: at(5), EndedAt: at(10.5),
					Excluded: CloudLoops(),
				})
				e.Terms = append(e.Terms, Term{
					Cluster: "alpha", Lease: kubeControllerManager, UID: "k", Holder: "kcm-1_id", Transitions: 4, AcquiredAt: at(9.8),
				})
			},
			overlaps: []Overlap{{
				Cluster: "alpha", Loop: kubeControllerManager, First: Runner{kubeControllerManager, "kcm-0"},
				Second: Runner{kubeControllerManager, "kcm-1"}, From: at(9.8), To: at(10),
			}},
		},
	}
}

func overlapTests() map[string]evidenceTest {
	return map[string]evidenceTest{
		"a Lease that was taken after the end of the other one's holder excludes any overlap": {},
		"one that was taken a moment before is an overlap that no sample shows": {
			change: func(e *Evidence) { e.Managers[0].EndedAt = at(11.2) }, overlaps: []Overlap{overlap("ccm-0", 11, 11.2)},
		},
		"loops that only one of the two runs do not overlap": {
			change: func(e *Evidence) {
				e.Managers[0].EndedAt = at(11.2)
				for i := range e.Samples {
					if e.Samples[i].Instance == "kcm-0" {
						e.Samples[i].Loop = "nodeipam"
					}
				}
			},
		},
		"a leader that was never seen may have run everything": {
			change: func(e *Evidence) {
				e.Managers = append(e.Managers, Manager{
					Cluster: "alpha", Component: kubeControllerManager, Instance: "kcm-1", PID: 3, StartedAt: at(5), EndedAt: at(11.3),
				})
				e.Terms = append(e.Terms, Term{
					Cluster: "alpha", Lease: kubeControllerManager, UID: "k", Holder: "kcm-1_id", Transitions: 4, AcquiredAt: at(11.1),
				})
			},
			overlaps: []Overlap{{
				Cluster: "alpha", Loop: "service", First: Runner{cloudControllerManager, "ccm-0"},
				Second: Runner{kubeControllerManager, "kcm-1"}, From: at(11.1), To: at(11.3),
			}},
		},
		"a leader that was never seen ran nothing that its arguments exclude": {
			change: func(e *Evidence) {
				e.Managers = append(e.Managers, Manager{
					Cluster: "alpha", Component: kubeControllerManager, Instance: "kcm-1", PID: 3, StartedAt: at(5), EndedAt: at(11.3),
					Excluded: CloudLoops(),
				})
				e.Terms = append(e.Terms, Term{
					Cluster: "alpha", Lease: kubeControllerManager, UID: "k", Holder: "kcm-1_id", Transitions: 4, AcquiredAt: at(11.1),
				})
			},
		},
	}
}

func doubtTests() map[string]evidenceTest {
	return map[string]evidenceTest{
		"a term that was missed is a doubt": {
			change: func(e *Evidence) {
				e.Terms = append(e.Terms, Term{
					Cluster: "alpha", Lease: cloudControllerManager, UID: "c", Holder: "ccm-0_id", Transitions: 2, AcquiredAt: at(13),
				})
			},
			doubts: []string{"the history of Lease cloud-controller-manager has a hole before its holder ccm-0_id"},
		},
		"a Lease that was made again has a history of its own": {
			change: func(e *Evidence) {
				e.Terms = append(e.Terms, Term{
					Cluster: "alpha", Lease: cloudControllerManager, UID: "d", Holder: "ccm-0_id", AcquiredAt: at(13),
				})
			},
		},
		"a holder that had ended is no process": {
			change: func(e *Evidence) { e.Managers[1].EndedAt, e.Samples = at(10.9), nil },
			doubts: []string{"holder ccm-0_id of Lease cloud-controller-manager is no process that is known"},
		},
		"a holder that comes after the time that is asked about is not asked": {
			change: func(e *Evidence) {
				e.Terms = append(e.Terms, Term{
					Cluster: "alpha", Lease: cloudControllerManager, UID: "c", Holder: "ccm-0_id", Transitions: 1, AcquiredAt: at(21),
				})
			},
		},
		"a Lease without a history is a doubt": {
			change: func(e *Evidence) { e.Terms, e.Samples = e.Terms[:1], e.Samples[:1] },
			doubts: []string{"Lease cloud-controller-manager has no history"},
		},
		"who runs a loop without the Lease is a doubt": {
			change: func(e *Evidence) { e.Samples = append(e.Samples, script(map[string][]float64{"kcm-9": {12, 13}})...) },
			doubts: []string{"Pod kcm-9 ran loop service without holding Lease kube-controller-manager"},
		},
		"who ran a loop before the time that is asked about, or after it, is not asked": {
			change: func(e *Evidence) { e.Samples = append(e.Samples, script(map[string][]float64{"kcm-9": {0.5, 21}})...) },
		},
		"a sample that was asked for just before the Lease was taken is of that term": {
			change: func(e *Evidence) { e.Samples = append(e.Samples, script(map[string][]float64{"ccm-0": {10.8}})...) },
		},
	}
}

func TestReadManagers(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	running := process{
		PID: 1, Cluster: "management", Namespace: "user-alpha", Pod: "kcm-0", Container: kubeControllerManager, StartedAt: at(1),
	}
	register(t, filepath.Join(dir, "processes"), running)
	managers, err := ReadManagers(dir, "management")
	g.Expect(err).NotTo(HaveOccurred())
	want := Manager{
		Cluster: "alpha", Component: kubeControllerManager, Instance: "kcm-0", PID: 1, Excluded: CloudLoops(), StartedAt: at(1),
	}
	g.Expect(managers).To(ConsistOf(want), "nothing has ended yet")

	other, ended := running, running
	other.PID, other.Container, ended.EndedAt = 2, "csi-driver", at(9)
	var text []byte
	for _, p := range []process{other, ended} {
		line, err := json.Marshal(p)
		g.Expect(err).NotTo(HaveOccurred())
		text = append(append(text, line...), '\n')
	}
	g.Expect(os.WriteFile(filepath.Join(dir, "ended.jsonl"), text, 0o600)).To(Succeed())
	want.EndedAt = at(9)
	g.Expect(ReadManagers(dir, "management")).To(ConsistOf(want), "what is in both places has ended")
	g.Expect(want.until(at(20))).To(BeTemporally("==", at(9)))
	g.Expect(Manager{}.until(at(20))).To(BeTemporally("==", at(20)))
}
