package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// refusing has a webhook refuse for so long that the first MachineDeployment is rolled.
func refusing(since time.Duration) func(*Observation) {
	return refusingOf(observation.RefusedChange, since, outcome.Action{RestartValue: generation, Endless: true}.Asks())
}

// refusingReturn refuses that minReadySeconds is given back; refusingStep that the only old Machine goes.
func refusingReturn(since time.Duration) func(*Observation) {
	return refusingOf(observation.RefusedChange, since, outcome.Action{RestartValue: generation}.Asks())
}

// refusingBack refuses minReadySeconds in a rollback.
func refusingBack(since time.Duration) func(*Observation) {
	return refusingOf(observation.RefusedChange, since, outcome.Action{RestartValue: back}.Asks())
}

func refusingStep(since time.Duration) func(*Observation) {
	return refusingOf(observation.RefusedStep, since, lowering(0))
}

func lowering(to int32) string {
	return outcome.Action{
		Kind: outcome.ActionStepMachineSet, Objects: []observation.Ref{{UID: "ms-old"}}, Step: &outcome.MachineSetStep{Replicas: to},
	}.Asks()
}

func refusingCanary(since time.Duration) func(*Observation) {
	return refusingOf(observation.RefusedCanary, since, "")
}

func refusingOf(of observation.RefusedWrite, since time.Duration, asked string) func(*Observation) {
	return firstDeployment(func(d *observation.MachineDeployment) {
		d.Refusal = observation.Refusal{By: "webhook m", Since: ago(since), Of: of, Asked: asked}
	})
}

const refusedNames = "webhook m refuses changes of MachineDeployment kube-system/workers; a dry run shows why"

// rolledAlone has one MachineDeployment, which is rolled.
func rolledAlone(o *Observation) {
	both(alone, firstDeployment(func(d *observation.MachineDeployment) { d.Settled = true }))(o)
}

// toldBack is rolled back, and still has what the breaker took.
func toldBack(o *Observation) {
	firstDeployment(func(d *observation.MachineDeployment) {
		d.RestartValue, d.Guard, d.Settled = back, endless(), false
	})(o)
}

// halfBack has one Machine of two that is in-tree again.
func halfBack(o *Observation) {
	toldBack(o)
	machines(func(m *observation.Machines) {
		m.Deployments[0].Replicas, m.Deployments[0].MaxUnavailable = 2, 1
		set, machine := m.Sets[0], m.Machines[0]
		m.Sets[0].Current = false
		set.Name, set.UID, set.RestartValue = "workers-3", "ms-back", back
		machine.Name, machine.UID, machine.Set = "workers-3-a", "ma-back", "ms-back"
		machine.NodeName, machine.Annotation = "n3", "false"
		m.Sets, m.Machines = append(m.Sets, set), append(m.Machines, machine)
	})(o)
	edit(&o.Nodes, func(nodes *[]observation.Node) {
		node := (*nodes)[0]
		node.Name, node.UID = "n3", "n3"
		*nodes = append(*nodes, node)
	})
}

func twice(o *Observation) { machines(second)(o) }

func TestAWriteThatIsRefused(t *testing.T) {
	runDecisions(t, map[string]decision{
		"it does not hold the others up": {
			given: rolling, when: both(twice, refusing(0)), step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment,
			says: []string{"kube-system/builders"},
		},
		"it may be accepted soon": {
			given: rolling, when: refusing(10*time.Minute - time.Second), step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
			says: []string{"Waiting for changes to be accepted: " + refusedNames},
		},
		"a person is called after ten minutes": {
			given: rolling, when: refusing(10 * time.Minute), step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason,
			says: []string{"These cannot be rolled: " + refusedNames},
		},
		"and at once when something else is blocked, too": {
			given: rolling, when: both(both(twice, refusing(0)), machines(func(m *observation.Machines) { m.Deployments[1].Paused = true })),
			step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason, says: []string{"builders is paused", "refuses changes of"},
		},
	})
}

func TestARefusalOfWhatIsRolled(t *testing.T) {
	runDecisions(t, map[string]decision{
		"what is rolled and needs no write is done": {
			given: verifying, when: refusing(time.Hour), step: ucv1.StepVerify, action: outcome.ActionRecord,
		},
		"what is being rolled needs none either": {
			given: proving, when: refusing(time.Hour), step: ucv1.StepRoll, action: outcome.ActionStepMachineSet,
		},
		"nor does what is given back at its end": {
			given: turning, when: both(refusingReturn(time.Hour), firstNode(func(n *observation.Node) { n.CreatedAt = ago(time.Minute) })),
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
			says: []string{"Waiting for the Machines of MachineDeployment kube-system/workers"},
		},
		"minReadySeconds that may not be given back does not hold the others up": {
			given: proving, when: both(both(rolledAlone, twice), refusingReturn(time.Hour)),
			step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment, says: []string{"kube-system/builders"},
		},
		"it is named when the others are done": {
			given: proving, when: both(rolledAlone, refusingReturn(time.Hour)), step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason,
			says: []string{"These are rolled and serve, but their minReadySeconds cannot be given back: " + refusedNames},
		},
		"in a rollback its new Machines are not waited for": {
			given: turningBack, when: both(refusingBack(time.Hour), toldBack),
			step: ucv1.StepRollbackRoll, fails: ucv1.BlockedMachinesReason, says: []string{refusedNames},
		},
		"and old ones do not go step by step": {
			given: turningBack, when: both(halfBack, refusingBack(time.Hour)),
			step: ucv1.StepRollbackRoll, fails: ucv1.BlockedMachinesReason, says: []string{refusedNames},
		},
		"what was refused on the way there says nothing on the way back": {
			given: turningBack, when: both(refusing(time.Hour), toldBack),
			step: ucv1.StepRollbackRoll, action: outcome.ActionReturnMinReady,
		},
		"nor does a roll say anything of minReadySeconds": {
			given: proving, when: both(rolledAlone, refusing(time.Hour)), step: ucv1.StepRoll, action: outcome.ActionReturnMinReady,
		},
	})
}

// again is being rolled under a value that the facts do not know: they were restored from before it.
func again(o *Observation) {
	machines(func(m *observation.Machines) {
		second(m)
		m.Deployments[0].RestartValue, m.Deployments[0].Guard = "former", endless()
		m.Deployments[1].Name = "zebras" // Behind the first one.
	})(o)
}

func TestARefusalKeepsTheBreakerOn(t *testing.T) {
	says := []string{"kube-system/zebras"}
	runDecisions(t, map[string]decision{
		"of a roll": {
			given: rolling, when: both(again, refusing(time.Hour)), step: ucv1.StepRoll,
			action: outcome.ActionRollMachineDeployment, says: says,
		},
		"of a canary": {
			given: begun, when: both(again, refusingCanary(time.Hour)), step: ucv1.StepRoll, action: outcome.ActionRecord, says: says,
		},
	})
}

func TestARefusedCanary(t *testing.T) {
	runDecisions(t, map[string]decision{
		"the canary is made of another one": {
			given: begun, when: both(twice, refusing(0)), step: ucv1.StepRoll, action: outcome.ActionRecord,
			says: []string{"a canary of MachineDeployment kube-system/builders"},
		},
		"a canary that is refused is of another one, too": {
			given: begun, when: both(twice, refusingCanary(0)), step: ucv1.StepRoll, action: outcome.ActionRecord,
			says: []string{"a canary of MachineDeployment kube-system/builders"},
		},
		"where all canaries are refused, a person is called": {
			given: begun, when: refusingCanary(time.Hour), step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason,
			says: []string{"webhook m refuses a canary Machine like those of MachineDeployment kube-system/workers"},
		},
		"what was refused of a canary says nothing when none is asked for": {
			given: begun, when: both(refusingCanary(time.Hour), func(o *Observation) {
				o.Cluster.Spec.Rollout.Canary = ucv1.NoCanary
			}),
			step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment,
		},
		"nor of minReadySeconds": {
			given: proving, when: both(alone, refusingCanary(time.Hour)), step: ucv1.StepRoll, action: outcome.ActionReturnMinReady,
		},
	})
}

// twoRoll has another MachineDeployment that is as far as the first one.
func twoRoll(o *Observation) {
	machines(func(m *observation.Machines) {
		d := m.Deployments[0]
		d.Name, d.UID = "builders", "md2"
		m.Deployments = append(m.Deployments, d)
		for _, set := range m.Sets {
			set.Name, set.UID, set.Deployment = "b-"+set.Name, "b-"+set.UID, d.UID
			m.Sets = append(m.Sets, set)
		}
		for _, machine := range m.Machines {
			machine.Name, machine.UID, machine.Set, machine.NodeName = "b-"+machine.Name, "b-"+machine.UID, "b-"+machine.Set, "b-"+machine.NodeName
			m.Machines = append(m.Machines, machine)
		}
	})(o)
	edit(&o.Nodes, func(nodes *[]observation.Node) {
		for _, node := range *nodes {
			node.Name, node.UID = "b-"+node.Name, "b-"+node.UID
			*nodes = append(*nodes, node)
		}
	})
	edit(&o.Bootstraps, func(all *map[string]observation.BootstrapData) { (*all)["md2"] = (*all)["md"] })
}

// loses the new Node of what is rolled. One Machine is wanted, and it may be unavailable, so that the old one may go.
func loses(o *Observation) {
	both(firstNode(func(n *observation.Node) { n.Ready, n.ReadyChangedAt = false, ago(time.Hour) }), machines(func(m *observation.Machines) {
		m.Deployments[0].Replicas = 1
	}))(o)
}

func TestARefusedStep(t *testing.T) {
	const says = "webhook m refuses changes of Machines or MachineSets of MachineDeployment kube-system/workers; a dry run shows why"
	runDecisions(t, map[string]decision{
		"it may be accepted soon": {
			given: proving, when: refusingStep(0), step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
			says: []string{"Waiting for changes to be accepted: " + says},
		},
		"a person is called after ten minutes": {
			given: proving, when: refusingStep(10 * time.Minute), step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason,
			says: []string{"These cannot be rolled: " + says},
		},
		"old Machines of another one go": {
			given: proving, when: both(twoRoll, refusingStep(time.Hour)), step: ucv1.StepRoll, action: outcome.ActionStepMachineSet,
			says: []string{"new Machines of MachineDeployment kube-system/builders"},
		},
		"it uses the budget up": {
			given: proving, when: both(twice, refusingStep(time.Hour)), step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason, says: []string{says},
		},
		"another one is begun where the budget allows it": {
			given: proving, when: both(both(twice, refusingStep(time.Hour)), func(o *Observation) {
				o.Cluster.Spec.Rollout.MaxConcurrent = new(intstr.FromInt32(2))
			}),
			step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment, says: []string{"kube-system/builders"},
		},
		"what has no old Machine that may go needs none": {
			given: proving, when: both(rolledAlone, refusingStep(time.Hour)), step: ucv1.StepRoll, action: outcome.ActionReturnMinReady,
		},
		"what is asked for now may be accepted: a person has marked the Machine": {
			given: proving, when: refusingOf(observation.RefusedStep, time.Hour, outcome.Action{
				Kind: outcome.ActionMarkMachines, Objects: []observation.Ref{{UID: "old"}}, Step: &outcome.MachineSetStep{},
			}.Asks()), step: ucv1.StepRoll, action: outcome.ActionStepMachineSet,
		},
		"nor is it another one than was refused": {
			given: proving, when: refusingOf(observation.RefusedStep, time.Hour, lowering(1)), step: ucv1.StepRoll, action: outcome.ActionStepMachineSet,
		},
		"a new Node that is lost is named before it": {
			given: proving, when: both(loses, refusingStep(time.Hour)), step: ucv1.StepRoll, fails: ucv1.NodesNotInitializedReason,
			says: []string{"were initialized and are not Ready: Machine kube-system/workers-2-a"},
		},
		"a deleted Cluster keeps the breaker on": {
			given: deleted(proving), when: refusingStep(time.Hour), step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason,
			says: []string{"The Cluster is being deleted, and " + says},
		},
		"and waits before it says so": {
			given: deleted(proving), when: refusingStep(time.Minute), step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
			says: []string{"Waiting for changes to be accepted: " + says},
		},
	})
}

func TestADeletedClusterAndARefusal(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a deleted Cluster gives the others back first": {
			given: deleted(proving), when: both(both(alone, refusingReturn(0)), machines(func(m *observation.Machines) {
				second(m)
				m.Deployments[1].Guard = endless()
			})),
			step: ucv1.StepRoll, action: outcome.ActionReturnMinReady, says: []string{"kube-system/builders"},
		},
		"it waits for what is being rolled before it refusedNames it": {
			given: deleted(proving), when: both(both(rolledAlone, refusingReturn(time.Hour)), machines(func(m *observation.Machines) {
				second(m)
				m.Deployments[1].RestartValue = generation
			})),
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason, says: []string{"Waiting for the Machines of"},
		},
		"and then waits ten minutes, too": {
			given: deleted(proving), when: both(rolledAlone, refusingReturn(time.Minute)), step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
			says: []string{"Waiting for changes to be accepted: " + refusedNames},
		},
		"and refusedNames it then": {
			given: deleted(proving), when: both(rolledAlone, refusingReturn(time.Hour)), step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason,
			says: []string{"The Cluster is being deleted, and " + refusedNames},
		},
	})
}

func TestACanaryThatIsMadeStaysWithItsMachineDeployment(t *testing.T) {
	o := made()
	both(machines(second), refusing(0))(&o)
	next := Decide(o, noon()).Next()
	NewWithT(t).Expect(next).NotTo(HaveField("Why", ContainSubstring("a canary of MachineDeployment kube-system/builders")))
}
