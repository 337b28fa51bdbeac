package simtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

func TestWhatIsForeseenIsWhatHappens(t *testing.T) {
	t.Parallel()
	protocol := func(choice ucv1.HandoverProtocolChoice) func(*Scenario) {
		return func(s *Scenario) {
			s.Configure = func(c *ucv1.Cluster) { c.Spec.Handover.Protocol = choice }
		}
	}
	for name, change := range map[string]func(*Scenario){
		"two MachineDeployments":                    func(*Scenario) {},
		"someone grants the CCM its Lease":          func(s *Scenario) { s.LeasesAreFree = true },
		"protocol Serialized":                       protocol(ucv1.SerializedProtocolChoice),
		"protocol LeaderMigration":                  protocol(ucv1.LeaderMigrationProtocolChoice),
		"CSI migration gates":                       func(s *Scenario) { s.Version, s.Gates = "v1.25.16", map[string]bool{"CSIMigrationSimcloud": true} },
		"a CCM whose loop cloud-node comes later":   func(s *Scenario) { s.CloudNodeLater = true },
		"three replicas of KCM":                     func(s *Scenario) { s.KCMReplicas = 3 },
		"a Cluster that is seen for the first time": func(s *Scenario) { s.FlipUnseen = true },
		"a Cluster that was created with the feature": func(s *Scenario) {
			s.CreatedWithFeature, s.KCMExternal, s.Strangers, s.Pools = true, true, []string{"first"}, nil
		},
		"no Machine at all":                              func(s *Scenario) { s.Pools = nil },
		"no machine-controller":                          func(s *Scenario) { s.Pools, s.WithoutMachineController = nil, true },
		"no operating-system-manager":                    func(s *Scenario) { s.WithoutOperatingSystemManager = true },
		"a paused MachineDeployment stops it":            func(s *Scenario) { s.Pools[0].Paused = true },
		"a Machine that stands alone stops it":           func(s *Scenario) { s.Standalone = []string{"alone"} },
		"a Node without a Machine stops it":              func(s *Scenario) { s.Strangers = []string{"bare"} },
		"a default StorageClass of the in-tree provider": func(s *Scenario) { s.Classes = []simulation.Class{class("standard", simulation.InTreePlugin, true)} },
		"two MachineDeployments at once": func(s *Scenario) {
			s.Pools = []Pool{{Name: "a", Replicas: 3}, {Name: "b", Replicas: 1}, {Name: "c", Replicas: 2}, {Name: "d", Replicas: 2}}
			s.Configure = func(c *ucv1.Cluster) { c.Spec.Rollout.MaxConcurrent = new(intstr.FromInt32(2)) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for seed := range orders(10) {
				scenario := with(change)
				future := simulation.Foresee(StartOf(NewWorld(rand.New(rand.NewPCG(seed, 1)), scenario)))
				var done []outcome.Action
				scenario.KillAt = func(_ int, point KillPoint, d migration.Decision) bool {
					if point == AfterDecide && d.Next() != nil {
						done = append(done, *d.Next())
					}
					return false
				}
				transcript, err := Run(seed, scenario)
				g.Expect(err).NotTo(HaveOccurred(), transcript.String())
				g.Expect(future.Endless).To(BeFalse())
				g.Expect(sequence(foreseenVerbs(future))).To(Equal(sequence(done)), transcript.String())
				g.Expect(future.Last.Step).To(Equal(transcript.Outcome.Step))
				g.Expect(future.Replaced).To(HaveLen(transcript.Outcome.Replaced))
			}
		})
	}
}

func foreseenVerbs(future simulation.Future) []outcome.Action {
	actions := make([]outcome.Action, 0, len(future.Passes))
	for _, pass := range future.Passes {
		actions = append(actions, *pass.Decision.Next())
	}
	return actions
}

// sequence has one line for each action, and each MachineDeployment by itself. What only clears up behind others is not in it,
// nor is what changes nothing but the status. What goes on beside the roll comes last: no one can know before between which
// others.
func sequence(actions []outcome.Action) []string {
	var lines, beside []string
	for _, action := range actions {
		switch action.Kind {
		case outcome.ActionRecord,
			outcome.ActionRestoreAnnotations,
			outcome.ActionGrantLease,
			outcome.ActionRevokeLease,
			outcome.ActionReleaseCCMLease,
			outcome.ActionReleaseLock,
			outcome.ActionFreeLease,
			outcome.ActionKeepLeader,
			outcome.ActionMarkMachines,
			outcome.ActionStepMachineSet:
		case outcome.ActionTakeBaseline, outcome.ActionRemoveLock: // Who takes the Lease in the meantime leaves it behind.
			lines = append(lines, string(action.Kind))
		case outcome.ActionRollMachineDeployment:
			for _, object := range action.Objects {
				lines = append(lines, string(action.Kind)+" "+object.String())
			}
		case outcome.ActionRemoveCanary, outcome.ActionReturnMinReady:
			for _, object := range action.Objects {
				beside = append(beside, string(action.Kind)+" "+object.String())
			}
		default:
			lines = append(lines, line(action))
		}
	}
	slices.Sort(beside)
	return append(lines, beside...)
}

func line(action outcome.Action) string {
	var objects []string
	for _, object := range action.Objects {
		objects = append(objects, object.String())
	}
	slices.Sort(objects)
	text := string(action.Kind) + " " + strings.Join(objects, ", ")
	if action.Arguments != nil {
		text += fmt.Sprint(" ", action.Arguments.Set, action.Arguments.Remove)
	}
	return text
}

func TestAWorldGoesOnFromTheMiddle(t *testing.T) {
	t.Parallel()
	for _, step := range []ucv1.Step{
		ucv1.StepAddons, ucv1.StepHandover, ucv1.StepMachineController, ucv1.StepRoll, ucv1.StepFinalize,
	} {
		t.Run(string(step), func(t *testing.T) {
			g := NewWithT(t)
			scenario := plain()
			w := NewWorld(rand.New(rand.NewPCG(1, 1)), scenario)
			for w.last.Step != step {
				g.Expect(w.Ticks()).To(BeNumerically("<", 900))
				g.Expect(w.round()).To(Succeed())
			}
			future := simulation.Foresee(StartOf(w))
			g.Expect(future.Last.Step).To(Equal(ucv1.StepFinished), "%+v", future.Last)
			g.Expect(future.Endless).To(BeFalse())
		})
	}
}

func TestWhatCouldNotBeLookedAtIsNotKnownInTheFuture(t *testing.T) {
	t.Parallel()
	for _, fact := range []string{
		"Provider", "CloudConfig", "ControlPlane", "MachineController", "Addons", "Fence", "Machines", "Nodes", "Inventory",
		"OtherManagers", "StorageClasses",
	} {
		t.Run(fact, func(t *testing.T) {
			g := NewWithT(t)
			start := StartOf(NewWorld(rand.New(rand.NewPCG(1, 1)), plain()))
			Forget(&start.Observation, fact)
			future := simulation.Foresee(start)
			g.Expect(future.Last.Step).NotTo(Equal(ucv1.StepFinished))
			g.Expect(future.Last.Wait).NotTo(BeNil())
			g.Expect(future.Last.Wait.Unknown).To(BeTrue(), "%+v", future.Last)
		})
	}
}

func TestTheFutureChangesNothingOfWhatWasObserved(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := NewWorld(rand.New(rand.NewPCG(1, 1)), plain())
	start := StartOf(w)
	before, cluster := fmt.Sprintf("%+v", start.Observation), start.Observation.Cluster.DeepCopy()
	first, second := simulation.Foresee(start), simulation.Foresee(start)
	g.Expect(fmt.Sprintf("%+v", start.Observation)).To(Equal(before))
	g.Expect(start.Observation.Cluster).To(Equal(cluster), "the text has its address only")
	g.Expect(sequence(foreseenVerbs(first))).To(Equal(sequence(foreseenVerbs(second))))
}
