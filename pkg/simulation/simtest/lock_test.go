package simtest

import (
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// byLock asks for protocol LeaderMigration.
func byLock(s *Scenario) {
	before := s.Configure
	s.Configure = func(c *ucv1.Cluster) {
		if before != nil {
			before(c)
		}
		c.Spec.Handover.Protocol = ucv1.LeaderMigrationProtocolChoice
	}
}

// acrossMinors has the owner of two API servers upgrade them in the middle of the hand-over.
func acrossMinors(s *Scenario) {
	byLock(s)
	before := s.Configure
	s.Configure = func(c *ucv1.Cluster) {
		before(c)
		c.Spec.Handover.LeaderMigration = ucv1.AcrossMinorsLeaderMigration
	}
	s.APIServers = 2
}

func locked(change func(*Scenario)) Scenario {
	return with(func(s *Scenario) {
		byLock(s)
		change(s)
	})
}

// atLine waits for a line of the hand-over.
func atLine(line string) func(*World) bool {
	return func(w *World) bool { return w.last.Stage == line }
}

func TestLeaderMigration(t *testing.T) {
	t.Parallel()
	putBack := func(when func(*World) bool, arguments map[string]string) Scenario {
		return locked(func(s *Scenario) {
			s.Interventions = append([]Intervention{{
				Name: "puts KCM's old arguments back", When: when, Lawless: true,
				Do: func(w *World) { ChangeKCM(w, "gitops", arguments) },
			}}, then(ucv1.CloudLoopsContendedReason, func(w *World) {
				ChangeKCM(w, "", map[string]string{"cloud-provider": "external"})
			})...)
		})
	}
	runScenarios(t, map[string]scenarioTest{
		"the lock goes from KCM to the CCM": {
			scenario: locked(func(*Scenario) {}), ends: ucv1.StepFinished,
			says: []string{"RemoveLock", "ConfigMap", "Lease", "Role"},
		},
		"one KCM": {
			scenario: locked(func(s *Scenario) { s.KCMReplicas = 1 }), ends: ucv1.StepFinished,
			says: []string{"ReleaseLock", "was seen to end"},
		},
		"where leases are free it is refused": {
			scenario: locked(func(s *Scenario) { s.LeasesAreFree = true }), ends: ucv1.StepPreflight, reason: ucv1.FenceIneffectiveReason,
			never: []string{"AllowLock", "ChangeArguments"},
		},
		"a cluster without Nodes": {
			scenario: locked(func(s *Scenario) { s.Pools = nil }), ends: ucv1.StepFinished, says: []string{"RemoveLock"},
		},
		"a KCM of another name in the user cluster stops before the CCM comes": {
			scenario: locked(func(s *Scenario) {
				s.KCMIsSomeoneElse = true
				s.Interventions = then(ucv1.ArmingReason, func(w *World) { w.Traits.KCMIsSomeoneElse = false })
			}),
			ends: ucv1.StepFinished, says: []string{"STALLED Arming", "KCM is not system:kube-controller-manager"},
		},
		"KCM loses the lock while the CCM leads with it": {
			scenario: putBack(
				func(w *World) bool { return w.last.Stage == "CCMArmed" && w.CCM.Leader() != nil },
				map[string]string{"enable-leader-migration": "false"},
			),
			ends: ucv1.StepFinished,
			says: []string{"STALLED CloudLoopsContended"},
		},
		"KCM gets its loops back while the CCM waits for the lock": {
			scenario: putBack(atLine("Silent"), map[string]string{"controllers": "*"}), ends: ucv1.StepFinished,
			says: []string{"STALLED CloudLoopsContended"},
		},
		"KCM gets its loops back when all is done": {
			scenario: locked(func(s *Scenario) {
				s.Interventions = contended(AtStep(ucv1.StepMachineController))
				s.Interventions[1].When = func(w *World) bool { return Stalled(ucv1.CloudLoopsContendedReason)(w) && !w.Leases.FenceOpen }
			}),
			ends: ucv1.StepFinished, says: []string{"CloseFence"},
		},
	})
}

// TestLeaderMigrationInEveryOrder interrupts it everywhere: the controller is killed at each of its passes.
func TestLeaderMigrationInEveryOrder(t *testing.T) {
	t.Parallel()
	for name, scenario := range map[string]func(func(*Scenario)) Scenario{"within a minor": locked, "across minors": across} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for pass := range orders(60) {
				for _, point := range []KillPoint{AfterDecide, WhileActing, BeforePersist} {
					s := scenario(func(s *Scenario) {
						s.KillAt = func(at int, where KillPoint, _ migration.Decision) bool { return at == int(pass) && where == point }
					})
					transcript, err := Run(pass, s)
					g.Expect(err).NotTo(HaveOccurred(), transcript.String())
					g.Expect(transcript.Outcome.Step).To(Equal(ucv1.StepFinished), transcript.String())
				}
			}
		})
	}
}

func across(change func(*Scenario)) Scenario {
	return with(func(s *Scenario) {
		acrossMinors(s)
		s.Version = "v1.29.0"
		change(s)
	})
}

func TestLeaderMigrationAcrossMinors(t *testing.T) {
	t.Parallel()
	allowed := func(w *World) bool {
		return w.Cluster.Status.Handover != nil && w.Cluster.Status.Handover.UpgradeAllowedTo != ""
	}
	back := func(when func(*World) bool) Scenario {
		return across(func(s *Scenario) {
			s.Interventions = []Intervention{{Name: "asks for the rollback", When: when, Do: func(w *World) { Rollback(w, true) }}}
		})
	}
	runScenarios(t, map[string]scenarioTest{
		"the CCM of the next minor comes when every API server is of it": {
			scenario: across(func(*Scenario) {}), ends: ucv1.StepFinished, says: []string{"owner: spec.version is v1.30.0"},
		},
		"spec.version that is changed too early lets no CCM come": {
			scenario: across(func(s *Scenario) { s.Owner = simulation.TellsFirst }), ends: ucv1.StepFinished, says: []string{"RemoveLock"},
		},
		"from the last minor that knows the provider no way leads back": {
			scenario: across(func(s *Scenario) { s.Version = "v1.30.14" }), ends: ucv1.StepFinished, says: []string{"RemoveLock"},
		},
		"an owner who never upgrades is waited for": {
			scenario: across(func(s *Scenario) {
				s.Owner, s.WaitsFor = simulation.Away, ucv1.UpgradeRequiredReason
			}), ends: ucv1.StepHandover, reason: ucv1.UpgradeRequiredReason, never: []string{"OpenFence", "STALLED"},
		},
		"it goes back before the upgrade is allowed": {
			scenario: back(atLine("KCMArmed")), ends: ucv1.StepRolledBack, never: []string{"OpenFence"},
		},
		"it goes back when the upgrade is allowed and not done": {
			scenario: back(allowed), ends: ucv1.StepRolledBack, never: []string{"OpenFence"},
		},
		"it goes back while the CCM of the next minor leads": {
			scenario: back(func(w *World) bool { return w.CCM.Leader() != nil }), ends: ucv1.StepRolledBack,
			says: []string{"spec.version is v1.30.0"},
		},
		"it goes back with the loops off": {
			scenario: back(atLine("Silent")), ends: ucv1.StepRolledBack,
		},
	})
}
