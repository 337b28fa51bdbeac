package simtest

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// outlives loses the node under KCM's leader at the moment when the processes have been recorded.
func outlives() Intervention {
	return Intervention{
		Name: "loses the node under KCM's leader and force-deletes its pod",
		When: func(w *World) bool { h := w.Cluster.Status.Handover; return h != nil && h.StartedAt != nil },
		Do:   LoseLeadersNode,
	}
}

func TestProofOfSilence(t *testing.T) {
	t.Parallel()
	runScenarios(t, map[string]scenarioTest{
		"a process that outlives its force-deleted pod is never taken for silent": {
			scenario: with(func(s *Scenario) {
				s.Interventions, s.WaitsFor = []Intervention{outlives()}, ucv1.ProvingSilenceReason
			}),
			ends: ucv1.StepHandover, reason: ucv1.ProvingSilenceReason, says: []string{"vanished and its process was not seen to end"},
			never: []string{"OpenFence"},
		},
		"where the CCM's Lease is free its workload comes last": {
			scenario: with(func(s *Scenario) { s.LeasesAreFree = true }), ends: ucv1.StepFinished,
			says: []string{"Recording that the CCM's workload may start"},
		},
		"a process that outlives its pod keeps the CCM's workload away": {
			scenario: with(func(s *Scenario) {
				s.LeasesAreFree, s.Interventions, s.WaitsFor = true, []Intervention{outlives()}, ucv1.ProvingSilenceReason
			}),
			ends: ucv1.StepHandover, reason: ucv1.ProvingSilenceReason, never: []string{"may start", "OpenFence"},
		},
		"a lost process that a person ended and named does not hold up": {
			scenario: with(func(s *Scenario) {
				s.Interventions = []Intervention{outlives(), {
					Name: "switches the lost node off", When: After(2 * time.Minute), Do: SwitchOffLostNodes,
				}, {
					Name: "accepts the lost manager", When: After(3 * time.Minute), Do: AcceptLostManagers,
				}}
			}),
			ends: ucv1.StepFinished, says: []string{"vanished and its process was not seen to end"},
		},
		"a KCM that runs loops in a cluster created with the feature blocks with its arguments": {
			scenario: Scenario{Name: "beta", CreatedWithFeature: true, Strangers: []string{"first"}},
			ends:     ucv1.StepAddons,
			reason:   ucv1.CloudLoopsRunningReason,
			says:     []string{"STALLED", "--cloud-provider=simcloud"},
			never:    []string{"ApplyAddons"},
		},
		"a KCM that runs loops in a cluster created with the feature is fixed by a person": {
			scenario: Scenario{
				Name: "beta", CreatedWithFeature: true, Strangers: []string{"first"},
				Interventions: then(ucv1.CloudLoopsRunningReason, func(w *World) {
					ChangeKCM(w, "person", map[string]string{"cloud-provider": "external"})
				}),
			},
			ends: ucv1.StepFinished,
		},
	})
}

func TestGuard(t *testing.T) {
	t.Parallel()
	runScenarios(t, map[string]scenarioTest{
		"loops that come back are Stalled with their owner, and nothing more is rolled": {
			scenario: with(func(s *Scenario) {
				s.Interventions = []Intervention{{
					Name: "puts the old arguments back", When: AtStep(ucv1.StepMachineController), Lawless: true,
					Do: func(w *World) { ChangeKCM(w, "gitops", map[string]string{"controllers": "*"}) },
				}}
			}),
			ends: ucv1.StepHandover, reason: ucv1.CloudLoopsContendedReason, says: []string{"STALLED", "changed by gitops"},
			never: []string{"RollMachineDeployment"},
		},
		"a person who stops the CCM because loops came back does not get it back from us": {
			scenario: with(func(s *Scenario) {
				s.Interventions = append([]Intervention{{
					Name: "puts the old arguments back", When: AtStep(ucv1.StepRoll), Lawless: true,
					Do: func(w *World) { ChangeKCM(w, "gitops", map[string]string{"controllers": "*"}) },
				}}, then(ucv1.CloudLoopsContendedReason, func(w *World) { LeaveFence(w, false); DeleteCCM(w) })...)
			}),
			ends: ucv1.StepHandover, reason: ucv1.CloudLoopsContendedReason, says: []string{"STALLED", "changed by gitops"},
		},
		"loops that come back and go again let the migration go on": {
			scenario: with(func(s *Scenario) {
				s.Interventions = append([]Intervention{{
					Name: "puts the old arguments back", When: AtStep(ucv1.StepRoll), Lawless: true,
					Do: func(w *World) { ChangeKCM(w, "gitops", map[string]string{"controllers": "*"}) },
				}}, then(ucv1.CloudLoopsContendedReason, func(w *World) {
					ChangeKCM(w, "", map[string]string{"cloud-provider": "external"})
				})...)
			}),
			ends: ucv1.StepFinished, says: []string{"STALLED", "CloudLoopsContended"},
		},
		"a CCM that does not lead in time is Stalled": {
			scenario: with(func(s *Scenario) {
				s.Interventions = []Intervention{{Name: "holds the CCM's Lease", When: AtStep(ucv1.StepHandover), Do: StopCCM}}
			}),
			ends: ucv1.StepHandover, reason: ucv1.LeaderDeadlineExceededReason, says: []string{"does not lead yet"},
			never: []string{"RollMachineDeployment"},
		},
	})
}

func TestContention(t *testing.T) {
	t.Parallel()
	runScenarios(t, map[string]scenarioTest{
		"loops that come back take them from the CCM, and the hand-over is made again when they are gone": {
			scenario: with(func(s *Scenario) {
				s.Interventions = append([]Intervention{{
					Name: "puts the old arguments back", When: Finished, Lawless: true,
					Do: func(w *World) {
						ChangeKCM(w, "gitops", map[string]string{"cloud-provider": "simcloud", "controllers": "*"})
					},
				}}, Intervention{
					Name: "switches the loops off again", When: After(3 * time.Minute),
					Do: func(w *World) { ChangeKCM(w, "gitops", map[string]string{"cloud-provider": "external"}) },
				})
			}),
			ends: ucv1.StepFinished, says: []string{"STALLED CloudLoopsContended"},
		},
		"where leases are free the CCM's workload goes, and comes back when KCM is silent": {
			scenario: with(func(s *Scenario) {
				s.LeasesAreFree = true
				s.Interventions = append([]Intervention{{
					Name: "puts the old arguments back", When: AtStep(ucv1.StepRoll), Lawless: true,
					Do: func(w *World) { ChangeKCM(w, "gitops", map[string]string{"controllers": "*"}) },
				}}, then(ucv1.CloudLoopsContendedReason, func(w *World) {
					ChangeKCM(w, "", map[string]string{"cloud-provider": "external"})
				})...)
			}),
			ends: ucv1.StepFinished, says: []string{"PruneAddons"},
		},
		"a person may want a report of it only": {
			scenario: with(func(s *Scenario) {
				s.Configure = func(c *ucv1.Cluster) { c.Spec.Handover.OnContention = ucv1.ReportContention }
				s.Interventions = []Intervention{{
					Name: "puts the old arguments back", When: AtStep(ucv1.StepRoll), Lawless: true,
					Do: func(w *World) { ChangeKCM(w, "gitops", map[string]string{"controllers": "*"}) },
				}}
			}),
			ends: ucv1.StepHandover, reason: ucv1.CloudLoopsContendedReason, never: []string{"CloseFence"},
		},
	})
}

func TestProbe(t *testing.T) {
	t.Parallel()
	runScenarios(t, map[string]scenarioTest{
		"a CCM that dies of its election is found before KCM is touched": {
			scenario: with(func(s *Scenario) { s.ProbeDies = true }),
			ends:     ucv1.StepHandover, reason: ucv1.ProbeFailedReason, says: []string{"STALLED ProbeFailed", "last exit code 1"},
			never: []string{"ChangeArguments"},
		},
		"a cloud configuration that a person fixes lets the migration go on": {
			scenario: with(func(s *Scenario) {
				s.ProbeDies = true
				s.Interventions = then(ucv1.ProbeFailedReason, FixCloudConfig)
			}),
			ends: ucv1.StepFinished, says: []string{"STALLED ProbeFailed"},
		},
	})
}

func TestAddonsAndGates(t *testing.T) {
	t.Parallel()
	runScenarios(t, map[string]scenarioTest{
		"addon objects of someone else block with their names and go on when they are gone": {
			scenario: with(func(s *Scenario) {
				s.Interventions = append([]Intervention{{
					Name: "installs another CCM", When: AtStep(ucv1.StepAdmitted),
					Do: func(w *World) {
						AddForeignAddon(w, observation.Ref{Kind: "Deployment", Namespace: "kube-system", Name: "ccm"}, "helm")
					},
				}}, then(ucv1.ForeignObjectsReason, RemoveForeignAddons)...)
			}),
			ends: ucv1.StepFinished, says: []string{"STALLED", "Deployment kube-system/ccm (helm)"},
		},
		"a fence that an earlier Cluster left open blocks the CCM while KCM runs loops": {
			scenario: with(func(s *Scenario) {
				s.Interventions = append([]Intervention{{
					Name: "leaves the fence open", When: AtStep(ucv1.StepAdmitted), Do: func(w *World) { LeaveFence(w, true) },
				}}, then(ucv1.FenceIneffectiveReason, func(w *World) { LeaveFence(w, false) })...)
			}),
			ends: ucv1.StepFinished, says: []string{"STALLED", "FenceIneffective"},
		},
		"annotations that are lost in the middle are restored, and what the pass would have done is done afterwards": {
			scenario: with(func(s *Scenario) {
				s.Interventions = []Intervention{{Name: "loses the annotations", When: AtStep(ucv1.StepAddons), Do: LoseAnnotations}}
			}),
			ends: ucv1.StepFinished, says: []string{"RestoreAnnotations"},
		},
		"gates of the catalogue are switched on in every component before any kubelet": {
			scenario: with(func(s *Scenario) { s.Gates = map[string]bool{"CSIMigrationSimcloud": true} }),
			ends:     ucv1.StepFinished, says: []string{"VolumeMigration", "kube-scheduler"},
		},
	})
}

func TestComponentsBesideKCM(t *testing.T) {
	t.Parallel()
	beside := func(ownership ucv1.ComponentOwnership, change func(*Scenario)) Scenario {
		return with(func(s *Scenario) {
			s.Gates, s.Beside = map[string]bool{"CSIMigrationSimcloud": true}, map[string]ucv1.ComponentOwnership{
				"kube-apiserver": ownership,
			}
			change(s)
		})
	}
	inTreeOnly := func(s *Scenario) { s.Gates = nil }
	runScenarios(t, map[string]scenarioTest{
		"a kube-apiserver that the spec does not mention stops before a kubelet is external while its gate is off": {
			scenario: beside(simulation.Unmentioned, func(*Scenario) {}),
			ends:     ucv1.StepVolumeMigration,
			reason:   ucv1.ComponentUnclaimedReason,
			says: []string{
				"STALLED",
				"kube-apiserver",
				"--feature-gates=CSIMigrationSimcloud=true",
				"Set ownership",
			},
			never: []string{"RollMachineDeployment"},
		},
		"one with an in-tree flag only is never said to be without": {
			scenario: beside(simulation.Unmentioned, inTreeOnly), ends: ucv1.StepFinalize, reason: ucv1.ComponentUnclaimedReason,
			says: []string{"STALLED", "kube-apiserver", "--cloud-provider"},
		},
		"one that is claimed as ours in the middle is changed": {
			scenario: beside(simulation.Unmentioned, func(s *Scenario) {
				s.Interventions = then(ucv1.ComponentUnclaimedReason, func(w *World) { Claim(w, ucv1.OursComponent) })
			}), ends: ucv1.StepFinished, says: []string{"Switching feature gates in Deployment user-plain/kube-apiserver"},
		},
		"one that was claimed in the middle gets its gates back in a rollback": {
			scenario: beside(simulation.Unmentioned, func(s *Scenario) {
				s.MaxTicks = 2000
				s.Interventions = append(then(ucv1.ComponentUnclaimedReason, func(w *World) { Claim(w, ucv1.OursComponent) }), Intervention{
					Name: "asks for the rollback", When: AtStep(ucv1.StepRoll), Do: func(w *World) { Rollback(w, true) },
				})
			}), ends: ucv1.StepRolledBack, says: []string{"Switching feature gates back in Deployment user-plain/kube-apiserver"},
		},
		"a foreign one is waited for": {
			scenario: beside(ucv1.ForeignComponent, func(s *Scenario) { s.WaitsFor = ucv1.WaitingForAdministratorReason }),
			ends:     ucv1.StepVolumeMigration,
			reason:   ucv1.WaitingForAdministratorReason,
			says:     []string{"Waiting for the owners", "kube-apiserver"},
			never:    []string{"STALLED"},
		},
		"a foreign one that its owner changes is not touched": {
			scenario: beside(ucv1.ForeignComponent, func(s *Scenario) { s.Attentive = true }),
			ends:     ucv1.StepFinished, never: []string{"ChangeArguments", "kube-apiserver"},
		},
	})
}

func TestDeletionAndPause(t *testing.T) {
	t.Parallel()
	deleted := func(when func(*World) bool) Scenario {
		return with(func(s *Scenario) {
			s.Interventions = []Intervention{{Name: "deletes the Cluster", When: when, Do: DeleteCluster}}
		})
	}
	tests := map[string]struct {
		scenario Scenario
		finished bool
		says     []string
	}{
		"a Cluster that is deleted before the hand-over just goes": {
			scenario: deleted(AtStep(ucv1.StepAddons)),
		},
		"a Cluster that is deleted in the hand-over goes when the CCM leads": {
			scenario: deleted(func(w *World) bool { h := w.Cluster.Status.Handover; return h != nil && h.StartedAt != nil }),
			finished: true, says: []string{"goes when the hand-over is complete"},
		},
		"a Cluster that is deleted in the roll goes when what was begun is rolled out": {
			scenario: deleted(func(w *World) bool { return w.invariants.restarts[w.Machines.Deployments[1].UID] > 0 }),
			finished: true, says: []string{"the deleted Cluster goes when what was begun is rolled out",
				"Waiting for the Machines of MachineDeployment " +
					"kube-system/b"},
		},
		"a Cluster that is deleted when it is migrated just goes": {
			scenario: deleted(Finished), finished: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for seed := range orders(20) {
				transcript, err := Run(seed, test.scenario)
				g.Expect(err).NotTo(HaveOccurred(), transcript.String())
				outcome := transcript.Outcome
				g.Expect(outcome.Released).To(BeTrue(), transcript.String())
				g.Expect(outcome.Facts.Handover != nil && outcome.Facts.Handover.FinishedAt != nil).To(
					Equal(test.finished),
					transcript.String(),
				)
				g.Expect(transcript.Says(test.says...)).To(BeTrue(), transcript.String())
			}
		})
	}
}

func TestAPausedClusterIsLeftAlone(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	pause := func(on bool) func(*World) {
		return func(w *World) { Spec(w, func(s *ucv1.ClusterSpec) { s.Paused = on }) }
	}
	s := with(func(s *Scenario) {
		s.Interventions = []Intervention{{Name: "pauses the Cluster", When: AtStep(ucv1.StepRoll), Do: pause(true)}}
	})
	transcript, err := Run(1, s)
	g.Expect(err).NotTo(HaveOccurred(), transcript.String())
	g.Expect(transcript.Outcome.Facts.CompletedAt).To(BeNil())
	s.Interventions = append(s.Interventions, Intervention{Name: "unpauses it", When: After(2 * time.Minute), Do: pause(false)})
	transcript, err = Run(1, s)
	g.Expect(err).NotTo(HaveOccurred(), transcript.String())
	g.Expect(transcript.Outcome.Step).To(Equal(ucv1.StepFinished))
}
