package simtest

import (
	"math/rand/v2"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
)

// rolled back asks for the rollback at a moment, and for the migration again when it is rolled back.
func rolledBack(when func(*World) bool) []Intervention {
	return []Intervention{
		{Name: "asks for the rollback", When: when, Do: func(w *World) { Rollback(w, true) }},
		{Name: "asks for the migration again", When: RolledBack, Do: func(w *World) { Rollback(w, false) }},
	}
}

func rolled(w *World) bool { return len(w.invariants.restarts) > 0 }

func TestRollbackStories(t *testing.T) {
	t.Parallel()
	runScenarios(t, map[string]scenarioTest{
		"what only the CSI driver can serve refuses the rollback with its name": {
			scenario: with(func(s *Scenario) {
				s.Interventions = []Intervention{
					{Name: "makes a volume", When: AtStep(ucv1.StepRoll), Do: func(w *World) { MakeVolume(w, "late") }},
					{Name: "asks for the rollback", Do: func(w *World) { Rollback(w, true) }},
				}
			}),
			ends:   ucv1.StepRoll,
			reason: ucv1.RollbackRefusedReason,
			says:   []string{"STALLED", "PersistentVolume late"},
			never:  []string{"Removing"},
		},
		"when it is taken away the rollback begins": {
			scenario: with(func(s *Scenario) {
				s.Interventions = append([]Intervention{
					{Name: "makes a volume", When: AtStep(ucv1.StepRoll), Do: func(w *World) { MakeVolume(w, "late") }},
					{Name: "asks for the rollback", Do: func(w *World) { Rollback(w, true) }},
				}, then(ucv1.RollbackRefusedReason, DeleteVolumes)...)
			}),
			ends: ucv1.StepRolledBack, says: []string{"Giving Deployment user-plain/kube-controller-manager its cloud loops back"},
		},
		"an external Machine that stands alone refuses it": {
			scenario: with(func(s *Scenario) {
				s.Configure = func(c *ucv1.Cluster) { c.Spec.Rollout.SoakSeconds = new(int32(3600)) }
				s.Interventions = []Intervention{
					{Name: "makes a Machine", When: AtStep(ucv1.StepVerify), Do: func(w *World) { AddStandalone(w, "pet") }},
					{Name: "asks for the rollback", Do: func(w *World) { Rollback(w, true) }},
				}
			}),
			ends:   ucv1.StepVerify,
			reason: ucv1.RollbackRefusedReason,
			says:   []string{"STALLED", "Machine kube-system/pet"},
			never:  []string{"Removing -node"},
		},
		"what is completed stays so": {
			scenario: with(func(s *Scenario) {
				s.Interventions = []Intervention{{Name: "asks for the rollback", When: Finished, Do: func(w *World) { Rollback(w, true) }}}
			}),
			ends: ucv1.StepFinished, reason: ucv1.RollbackRefusedReason, says: []string{"the point of no return was passed at"},
		},
		"a refused rollback that is taken back lets the migration go on": {
			scenario: with(func(s *Scenario) {
				s.Interventions = append([]Intervention{
					{Name: "makes a volume", When: AtStep(ucv1.StepRoll), Do: func(w *World) { MakeVolume(w, "late") }},
					{Name: "asks for the rollback", Do: func(w *World) { Rollback(w, true) }},
				}, then(ucv1.RollbackRefusedReason, func(w *World) { Rollback(w, false) })...)
			}),
			ends: ucv1.StepFinished,
		},
		"a cluster that was created so has nothing to go back to": {
			scenario: func() Scenario {
				s := CreatedWithFeature()
				s.Interventions = []Intervention{{Name: "asks for the rollback", When: Finished, Do: func(w *World) { Rollback(w, true) }}}
				return s
			}(),
			ends: ucv1.StepFinished, reason: ucv1.RollbackRefusedReason,
		},
	})
}

func TestRollbackInTrouble(t *testing.T) {
	t.Parallel()
	runScenarios(t, map[string]scenarioTest{
		"a rollback that is taken back in the middle goes to its end and stays there": {
			scenario: with(func(s *Scenario) {
				s.Interventions = []Intervention{
					{Name: "asks for the rollback", When: rolled, Do: func(w *World) { Rollback(w, true) }},
					{Name: "takes it back", When: AtStep(ucv1.StepRollbackRoll), Do: func(w *World) { Rollback(w, false) }},
				}
				s.MaxTicks = 2000
			}),
			ends: ucv1.StepRolledBack, says: []string{"Recording that the migration is rolled back"},
		},
		"no person is called while no machine-controller has its Lease": {
			scenario: with(func(s *Scenario) {
				s.Pools = append(s.Pools, Pool{Name: "paused", Replicas: 1, Paused: true})
				s.Interventions = []Intervention{
					{Name: "asks for the rollback", When: After(8 * time.Minute), Do: func(w *World) { Rollback(w, true) }},
				}
				s.MaxTicks = 2000
			}),
			ends: ucv1.StepRolledBack, never: []string{"no Machine came or began to go"},
		},
		"a CCM that serves no one does not hold up its rollback": {
			scenario: with(func(s *Scenario) {
				s.Interventions = []Intervention{
					{Name: "holds the CCM's Lease and asks for the rollback", When: rolled, Do: func(w *World) { StopCCM(w); Rollback(w, true) }},
					{Name: "lets the Lease go", When: AtStep(ucv1.StepRollbackSilence), Do: func(w *World) { w.Leases.CCM.Renewed = w.Now }},
				}
				s.MaxTicks = 2000
			}),
			ends: ucv1.StepRolledBack,
		},
		"a KCM that got its loops back from someone else lets the CCM go first": {
			scenario: with(func(s *Scenario) {
				s.Interventions = []Intervention{
					{Name: "puts the old arguments back", When: AtStep(ucv1.StepRoll), Lawless: true, Do: func(w *World) {
						ChangeKCM(w, "gitops", map[string]string{"controllers": "*"})
						Rollback(w, true)
					}},
				}
			}),
			ends: ucv1.StepRolledBack, never: []string{"Giving Deployment"},
		},
		"the pause before the point of no return ends in a rollback": {
			scenario: with(func(s *Scenario) {
				s.Configure = func(c *ucv1.Cluster) { c.Spec.Handover.PauseBeforePointOfNoReturn = true }
				s.Interventions = []Intervention{{
					Name: "asks for the rollback", Do: func(w *World) { Rollback(w, true) },
					When: func(w *World) bool {
						return w.last.Wait != nil && w.last.Wait.Reason == ucv1.WaitingBeforePointOfNoReturnReason
					},
				}}
			}),
			ends: ucv1.StepRolledBack,
		},
	})
}

func TestRollbackWithAddonsAndDeletion(t *testing.T) {
	t.Parallel()
	runScenarios(t, map[string]scenarioTest{
		"the addons go where that is asked for": {
			scenario: with(func(s *Scenario) {
				s.Configure = func(c *ucv1.Cluster) { c.Spec.Handover.RollbackAddons = true }
				s.Interventions = rolledBack(rolled)[:1]
			}),
			ends: ucv1.StepRolledBack, says: []string{"RollbackAddons: PruneAddons"},
		},
		"the driver stays while a volume needs it": {
			scenario: with(func(s *Scenario) {
				s.Configure = func(c *ucv1.Cluster) { c.Spec.Handover.RollbackAddons = true }
				s.Interventions = append(rolledBack(rolled)[:1],
					Intervention{Name: "makes a volume", When: AtStep(ucv1.StepRollbackRoll), Do: func(w *World) { MakeVolume(w, "late") }})
			}),
			ends:   ucv1.StepRollbackAddons,
			reason: ucv1.VolumesNeedDriverReason,
			says:   []string{"STALLED", "PersistentVolume late"},
			never:  []string{"RollbackAddons: Prune"},
		},
		"a Cluster that is deleted in a rollback goes when KCM has its loops back": {
			scenario: with(func(s *Scenario) {
				s.Interventions = append(rolledBack(rolled)[:1],
					Intervention{Name: "deletes the Cluster", When: AtStep(ucv1.StepRollbackRoll), Do: DeleteCluster})
			}),
			ends: ucv1.StepRollbackAddons, says: []string{"the deleted Cluster goes when KCM has its cloud loops back"},
		},
	})
}

// TestRollbackInTheGap: the CCM dies when KCM has lost its loops, and its gates rode along. Volumes must not keep the loops off.
func TestRollbackInTheGap(t *testing.T) {
	t.Parallel()
	gap := func(change func(*Scenario), then ...Intervention) Scenario {
		return with(func(s *Scenario) {
			s.Gates, s.MaxTicks = map[string]bool{"CSIMigrationSimcloud": true}, 2000
			s.Interventions = append([]Intervention{
				{
					Name: "loses the CCM, and the CSI driver attaches volumes",
					When: loopsOff,
					Do:   func(w *World) { StopCCM(w); AttachByCSI(w) },
				},
				{Name: "asks for the rollback", When: Stalled(ucv1.LeaderDeadlineExceededReason), Do: func(w *World) { Rollback(w, true) }},
			}, then...)
			change(s)
		})
	}
	detaches := Intervention{Name: "stops the pods with volumes", When: func(w *World) bool {
		return w.last.Wait != nil && w.last.Wait.Reason == ucv1.WaitingForVolumesReason
	}, Do: Detach}
	kept := func(s *Scenario) { s.WaitsFor = ucv1.WaitingForVolumesReason }
	runScenarios(t, map[string]scenarioTest{
		"volumes that stay attached keep the gates, and not the loops": {
			scenario: gap(kept), ends: ucv1.StepRollbackVolumes, reason: ucv1.WaitingForVolumesReason,
			says: []string{"its cloud loops back: the CCM is silent"}, never: []string{"its feature gates: the CCM"},
		},
		"the gates follow when they are detached": {
			scenario: gap(
				func(*Scenario) {},
				detaches,
			),
			ends: ucv1.StepRolledBack,
			says: []string{"RollbackVolumes", "Switching feature gates back"},
		},
		"where nothing is attached both come in one change": {
			scenario: gap(func(s *Scenario) { s.Interventions[0].Do = StopCCM }), ends: ucv1.StepRolledBack,
			says: []string{"its cloud loops back, and its feature gates"}, never: []string{"Switching feature gates back in Deployment " +
				"user-plain/kube-controller-manager"},
		},
		"so it is with the migration lock": {
			scenario: gap(func(s *Scenario) { byLock(s); kept(s) }), ends: ucv1.StepRollbackVolumes, reason: ucv1.WaitingForVolumesReason,
		},
		"so it is where the CCM was not applied yet": {
			scenario: gap(
				func(s *Scenario) { s.LeasesAreFree = true; kept(s) },
			),
			ends:   ucv1.StepRollbackVolumes,
			reason: ucv1.WaitingForVolumesReason,
		},
		"a CCM that leads is taken back before volumes are waited for, too": {
			scenario: gap(func(s *Scenario) {
				kept(s)
				s.Interventions = []Intervention{
					{Name: "attaches volumes and asks for the rollback", When: rolled, Do: func(w *World) { AttachByCSI(w); Rollback(w, true) }},
				}
			}), ends: ucv1.StepRollbackVolumes, reason: ucv1.WaitingForVolumesReason, says: []string{"its cloud loops back: the CCM is " +
				"silent"},
		},
	})
}

func loopsOff(w *World) bool { h := w.Cluster.Status.Handover; return h != nil && h.LoopsOffAt != nil }

// TestRollbackAndRedoFromEveryLine asks for the rollback at every step and line before the point of no return, and then for the
// migration again.
func TestRollbackAndRedoFromEveryLine(t *testing.T) {
	t.Parallel()
	moments := map[string]func(*World) bool{
		"before it started":          func(w *World) bool { return w.Cluster.Status.StartedAt == nil },
		"with its start":             func(w *World) bool { return w.Cluster.Status.StartedAt != nil },
		"in the middle of the roll":  func(w *World) bool { return len(w.invariants.restarts) > 0 },
		"when some Machines are new": func(w *World) bool { return w.invariants.replacing > 1 },
	}
	for _, step := range []ucv1.Step{
		ucv1.StepAddons, ucv1.StepHandover, ucv1.StepVolumeMigration, ucv1.StepMachineController, ucv1.StepRoll, ucv1.StepVerify,
	} {
		moments["at step "+string(step)] = AtStep(step)
	}
	for _, protocol := range start.Protocols() {
		for name, when := range moments {
			t.Run(string(protocol)+" "+name, func(t *testing.T) { rollbackAndRedo(t, protocol, when) })
		}
		for _, line := range waitingLines(protocol) {
			t.Run(string(protocol)+" at line "+line, func(t *testing.T) { rollbackAndRedo(t, protocol, atLine(line)) })
		}
	}
}

func rollbackAndRedo(t *testing.T, protocol ucv1.HandoverProtocol, when func(*World) bool) {
	t.Helper()
	for seed := range orders(10) {
		expectRedone(t, seed, rolledBackBy(protocol, when))
	}
}

// rolledBackBy is a migration by the protocol that is rolled back at a moment, and then made after all.
func rolledBackBy(protocol ucv1.HandoverProtocol, when func(*World) bool) Scenario {
	return with(func(s *Scenario) {
		s.Interventions = rolledBack(when)
		s.Gates = map[string]bool{"CSIMigrationSimcloud": true}
		s.MaxTicks = 2000
		switch protocol {
		case ucv1.LeaderMigrationProtocol:
			byLock(s)
		case ucv1.SerializedProtocol:
			s.LeasesAreFree = true
		case ucv1.FencedProtocol:
		}
	})
}

func expectRedone(t *testing.T, seed uint64, s Scenario) {
	t.Helper()
	g := NewWithT(t)
	transcript, err := Run(seed, s)
	g.Expect(err).NotTo(HaveOccurred(), transcript.String())
	g.Expect(transcript.Says("asks for the migration again")).To(BeTrue(), transcript.String())
	g.Expect(transcript.Says("Complete: Record: The migration is completed.")).To(BeTrue(), transcript.String())
	g.Expect(transcript.Outcome.Step).To(Equal(ucv1.StepFinished), transcript.String())
}

// TestRollbackKilledBetweenAnyTwoLines rolls back each protocol at a line that the seed draws, and kills the controller in one
// pass after the other. The rules are checked after every step: no loop runs in two managers, load balancers are the same
// objects, every row says that it is rolled back.
func TestRollbackKilledBetweenAnyTwoLines(t *testing.T) {
	t.Parallel()
	for _, protocol := range start.Protocols() {
		t.Run(string(protocol), func(t *testing.T) {
			moments := rollbackMoments(protocol)
			for seed := range orders(180) {
				rng := rand.New(rand.NewPCG(seed, 4))
				s := rolledBackBy(protocol, moments[rng.IntN(len(moments))])
				s.KCMReplicas = 1 + rng.IntN(3)
				points := []KillPoint{AfterDecide, WhileActing, BeforePersist}
				s.KillAt = killedTwice(int(seed), points[rng.IntN(len(points))], 1+rng.IntN(40))
				expectRedone(t, seed, s)
			}
		})
	}
}

// killedTwice kills in the first pass from a number on that comes to the point, and again some passes later.
func killedTwice(first int, point KillPoint, later int) func(int, KillPoint, migration.Decision) bool {
	next, kills := first, 0
	return func(pass int, at KillPoint, _ migration.Decision) bool {
		if at != point || pass < next || kills == 2 {
			return false
		}
		kills, next = kills+1, pass+later
		return true
	}
}

// rollbackMoments are the steps and lines before the point of no return.
func rollbackMoments(protocol ucv1.HandoverProtocol) (moments []func(*World) bool) {
	for _, step := range []ucv1.Step{
		ucv1.StepAddons, ucv1.StepVolumeMigration, ucv1.StepMachineController, ucv1.StepRoll, ucv1.StepVerify,
	} {
		moments = append(moments, AtStep(step))
	}
	for _, line := range waitingLines(protocol) {
		// One that holds at once, as LeaderEndsLast with one KCM, is over when someone looks.
		moments = append(moments, func(w *World) bool { return atLine(line)(w) || w.last.Step == ucv1.StepVolumeMigration })
	}
	return moments
}

// waitingLines are those that do not hold at once, but in a contention.
func waitingLines(protocol ucv1.HandoverProtocol) (names []string) {
	for _, line := range loops.Stages(protocol, "") {
		again := protocol == ucv1.LeaderMigrationProtocol && (line.Name == "FenceOpen" || line.Name == "Leading")
		if !again && line.Name != "WorkloadWithheld" {
			names = append(names, line.Name)
		}
	}
	return names
}

// TestRollbackGoesOnAfterEveryKill kills the controller once at every action of a rollback, at every point of a pass.
func TestRollbackGoesOnAfterEveryKill(t *testing.T) {
	t.Parallel()
	for _, point := range []KillPoint{AfterDecide, WhileActing, BeforePersist} {
		t.Run(string(point), func(t *testing.T) {
			g := NewWithT(t)
			for seed := range orders(10) {
				killed := map[string]bool{}
				s := with(func(s *Scenario) {
					s.Interventions, s.MaxTicks = rolledBack(func(w *World) bool { return w.invariants.replacing > 0 })[:1], 3000
					s.Configure = func(c *ucv1.Cluster) { c.Spec.Handover.RollbackAddons = true }
					s.Gates = map[string]bool{"CSIMigrationSimcloud": true}
					s.KillAt = func(_ int, at KillPoint, d migration.Decision) bool {
						if at != point || d.Next() == nil || position(d.Step) < position(ucv1.StepRollbackMachineController) ||
							killed[d.Next().Why] {
							return false
						}
						killed[d.Next().Why] = true
						return true
					}
				})
				transcript, err := Run(seed, s)
				g.Expect(err).NotTo(HaveOccurred(), transcript.String())
				g.Expect(transcript.Outcome.Step).To(Equal(ucv1.StepRolledBack), transcript.String())
				g.Expect(killed).NotTo(BeEmpty())
			}
		})
	}
}
