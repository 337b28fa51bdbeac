package simtest

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

func plain() Scenario {
	return Scenario{Name: "plain", Pools: []Pool{{Name: "a", Replicas: 2}, {Name: "b", Replicas: 1}}, Services: 1}
}

func with(change func(*Scenario)) Scenario {
	s := plain()
	change(&s)
	return s
}

// then is an intervention that is made when a person is called for.
func then(reason string, do func(*World)) []Intervention {
	return []Intervention{{Name: "does what the condition says", When: Stalled(reason), Do: do}}
}

type scenarioTest struct {
	scenario Scenario
	// ends is the step that the run ends at, reason why, says a line of the story, never one that must not be in it.
	ends   ucv1.Step
	reason string
	says   []string
	never  []string
}

func runScenarios(t *testing.T, tests map[string]scenarioTest) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for seed := range orders(20) {
				transcript, err := Run(seed, test.scenario)
				g.Expect(err).NotTo(HaveOccurred(), transcript.String())
				g.Expect(transcript.Outcome.Step).To(Equal(test.ends), transcript.String())
				g.Expect(transcript.Outcome.Reason).To(Equal(test.reason), transcript.String())
				g.Expect(transcript.Says(test.says...)).To(BeTrue(), transcript.String())
				if len(test.never) > 0 {
					g.Expect(transcript.Says(test.never...)).To(BeFalse(), transcript.String())
				}
			}
		})
	}
}

func TestTroubleThatAPersonIsCalledFor(t *testing.T) {
	t.Parallel()
	runScenarios(t, map[string]scenarioTest{
		"a paused MachineDeployment is Stalled with its name while the others are rolled": {
			scenario: with(func(s *Scenario) { s.Pools[0].Paused = true }),
			ends:     ucv1.StepRoll, reason: ucv1.BlockedMachinesReason, says: []string{"STALLED", "MachineDeployment kube-system/a is " +
				"paused"},
		},
		"a paused MachineDeployment that is scaled up stays outdated although its Machine is annotated": {
			scenario: with(func(s *Scenario) {
				s.Pools[0].Paused = true
				s.Interventions = append(then(ucv1.BlockedMachinesReason, func(w *World) { Scale(w, "a", 3) }), Intervention{
					Name: "unpauses", When: After(2 * time.Minute), Do: Unpause,
				})
			}),
			ends: ucv1.StepFinished, says: []string{"STALLED", "kube-system/a is paused"},
		},
		"a standalone Machine is Stalled with its name": {
			scenario: with(func(s *Scenario) { s.Standalone = []string{"alone"} }),
			ends:     ucv1.StepRoll, reason: ucv1.BlockedMachinesReason, says: []string{"STALLED", "Machine kube-system/alone has no " +
				"MachineDeployment"},
		},
		"a Node without a Machine is Stalled with its name": {
			scenario: with(func(s *Scenario) { s.Strangers = []string{"edge"} }),
			ends:     ucv1.StepVerify, reason: ucv1.NodesNotInitializedReason, says: []string{"STALLED", "edge has no Machine"},
		},
		"a Node without a Machine that a person accepts does not hold up": {
			scenario: with(func(s *Scenario) {
				s.Strangers = []string{"edge"}
				s.Interventions = then(ucv1.NodesNotInitializedReason, func(w *World) {
					Spec(w, func(spec *ucv1.ClusterSpec) { spec.Rollout.AcceptNodes = []string{"edge"} })
				})
			}),
			ends: ucv1.StepFinished, says: []string{"STALLED", "edge has no Machine"},
		},
	})
}

func TestTroubleOfDeletionsNamespacesAndBudgets(t *testing.T) {
	t.Parallel()
	runScenarios(t, map[string]scenarioTest{
		"a deletion that does not end is Stalled with the Machine's name after the deadline": {
			scenario: with(func(s *Scenario) {
				s.Interventions = []Intervention{{Name: "blocks evictions", When: AtStep(ucv1.StepHandover), Do: StickDeletions}}
			}),
			ends: ucv1.StepRoll, reason: ucv1.NodesNotInitializedReason, says: []string{"STALLED", "is being deleted and does not go"},
		},
		"a deletion that goes on at last completes": {
			scenario: with(func(s *Scenario) {
				s.Interventions = append(
					[]Intervention{{Name: "blocks evictions", When: AtStep(ucv1.StepHandover), Do: StickDeletions}},
					then(ucv1.NodesNotInitializedReason, Unstick)...)
			}),
			ends: ucv1.StepFinished,
		},
		"Machines of other namespaces are rolled like the others": {
			scenario: with(func(s *Scenario) { s.Pools[0].Namespace = "team" }),
			ends:     ucv1.StepFinished, says: []string{"RollMachineDeployment", "team/a"},
		},
		"a budget that cannot be read allows nothing": {
			scenario: with(func(s *Scenario) {
				s.Configure = func(c *ucv1.Cluster) { c.Spec.Rollout.MaxConcurrent = new(intstr.FromString("half")) }
			}),
			ends:   ucv1.StepRoll,
			reason: ucv1.InputInvalidReason,
			says:   []string{"allows nothing"},
			never:  []string{"RollMachineDeployment"},
		},
	})
}

func TestMachineControllerThatIsNotFound(t *testing.T) {
	t.Parallel()
	runScenarios(t, map[string]scenarioTest{
		"an operating-system-manager that is not found lets no Machine be rolled": {
			scenario: with(func(s *Scenario) { s.Hidden = []string{"operating-system-manager"} }),
			ends:     ucv1.StepMachineController, reason: ucv1.InputInvalidReason, says: []string{"operating-system-manager"},
		},
		"an operating-system-manager that the spec denies costs the canary's Machine only": {
			scenario: with(func(s *Scenario) {
				s.Hidden, s.WaitsFor, s.UnreadBootstrap = []string{
					"operating-system-manager",
				}, ucv1.CanaryFailedReason, observation.BootstrapRefused
				s.Configure = func(c *ucv1.Cluster) {
					c.Spec.MachineController.OperatingSystemManager.Mode = ucv1.OperatingSystemManagerNone
				}
			}),
			ends: ucv1.StepRoll, reason: ucv1.CanaryFailedReason, says: []string{"a kubelet with the in-tree cloud provider"},
		},
		"an operating-system-manager that the spec denies costs one MachineDeployment at most without a canary": {
			scenario: with(func(s *Scenario) {
				s.Hidden, s.UnreadBootstrap = []string{"operating-system-manager"}, observation.BootstrapRefused
				s.Configure = func(c *ucv1.Cluster) {
					c.Spec.MachineController.OperatingSystemManager.Mode = ucv1.OperatingSystemManagerNone
					c.Spec.Rollout.Canary = ucv1.NoCanary
				}
			}),
			ends: ucv1.StepRoll, reason: ucv1.KubeletsNotExternalReason, says: []string{"a kubelet with the in-tree cloud provider"},
		},
		"what it writes is seen before the canary's Node": {
			scenario: with(func(s *Scenario) {
				s.Hidden, s.WaitsFor = []string{"operating-system-manager"}, ucv1.BootstrapDataNotExternalReason
				s.Configure = func(c *ucv1.Cluster) {
					c.Spec.MachineController.OperatingSystemManager.Mode = ucv1.OperatingSystemManagerNone
				}
			}),
			ends: ucv1.StepRoll, reason: ucv1.BootstrapDataNotExternalReason, says: []string{"starts kubelets without " +
				"--cloud-provider=external"},
		},
		"a webhook that is not found lets no Machine be rolled": {
			scenario: with(func(s *Scenario) { s.Hidden = []string{"machine-controller-webhook"} }),
			ends:     ucv1.StepMachineController, reason: ucv1.InputInvalidReason, says: []string{"machine-controller-webhook"},
		},
	})
}

func TestTroubleWithOwners(t *testing.T) {
	t.Parallel()
	runScenarios(t, map[string]scenarioTest{
		"a forceRestart value that its owner takes out again is Stalled and not applied again": {
			scenario: with(func(s *Scenario) {
				s.Pools = s.Pools[:1]
				s.Interventions = []Intervention{{
					Name: "applies a template without forceRestart",
					When: func(w *World) bool {
						return len(w.Machines.Deployments) > 0 && len(w.Machines.SetsOf(w.Machines.Deployments[0])) > 1
					},
					Do: func(w *World) { w.Machines.Deployments[0].Restart = ""; w.Machines.Deployments[0].Generation++ },
				}}
			}),
			ends:   ucv1.StepRoll,
			reason: ucv1.MachineDeploymentFieldConflictReason,
			says:   []string{"STALLED", "lost annotation forceRestart"},
		},
		"a later revision that keeps the value is up-to-date": {
			scenario: with(func(s *Scenario) {
				s.Interventions = []Intervention{{
					Name: "changes the template", When: AtStep(ucv1.StepVerify), Do: func(w *World) { OwnRevision(w, "a", true) },
				}}
			}),
			ends: ucv1.StepFinished,
		},
		"a MachineDeployment that is deleted in the middle does not hold up": {
			scenario: with(func(s *Scenario) {
				s.Interventions = []Intervention{{Name: "deletes b", When: AtStep(ucv1.StepRoll), Do: func(w *World) { DeletePool(w, "b") }}}
			}),
			ends: ucv1.StepFinished,
		},
		"a machine-controller that loses its flag while rolling gets it back, and what was made meanwhile is not trusted": {
			scenario: with(func(s *Scenario) {
				s.Interventions = []Intervention{
					{Name: "takes the flag away", When: AtStep(ucv1.StepRoll), Do: func(w *World) { LoseFlag(w, "operating-system-manager") }},
					{Name: "changes both templates", Do: func(w *World) { OwnRevision(w, "a", false); OwnRevision(w, "b", false) }},
				}
				s.Configure = func(c *ucv1.Cluster) { c.Spec.Rollout.MaxConcurrent = new(intstr.FromInt32(2)) }
			}),
			ends: ucv1.StepFinished, says: []string{"lost -external-cloud-provider"},
		},
		"a cluster without machine-controller completes when its Nodes are accepted": {
			scenario: Scenario{
				Traits: simulation.Traits{WithoutMachineController: true}, Name: "bare", Strangers: []string{"edge"},
				Configure: func(c *ucv1.Cluster) { c.Spec.Rollout.AcceptNodes = []string{"edge"} },
			},
			ends: ucv1.StepFinished, says: []string{"Finished"},
		},
	})
}
