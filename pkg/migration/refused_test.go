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

// refusing has a webhook refuse the first MachineDeployment for so long.
func refusing(since time.Duration) func(*Observation) {
	return firstDeployment(func(d *observation.MachineDeployment) {
		d.Refusal = observation.Refusal{By: "webhook m", Since: ago(since)}
	})
}

const refusedNames = "webhook m refuses changes of MachineDeployment kube-system/workers; a dry run shows why"

// rolledAlone has one MachineDeployment, which is rolled.
func rolledAlone(o *Observation) {
	both(alone, firstDeployment(func(d *observation.MachineDeployment) { d.Settled = true }))(o)
}

// ofCanary: it was a canary that was refused; ofStep: changes of its Machines or MachineSets.
func ofCanary(o *Observation) { refusingOnly(observation.RefusedCanary)(o) }
func ofStep(o *Observation)   { refusingOnly(observation.RefusedStep)(o) }

func refusingOnly(of observation.RefusedWrite) func(*Observation) {
	return firstDeployment(func(d *observation.MachineDeployment) { d.Refusal.Of = of })
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
		"minReadySeconds that may not be given back does not hold the others up": {
			given: proving, when: both(both(rolledAlone, twice), refusing(time.Hour)),
			step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment, says: []string{"kube-system/builders"},
		},
		"it is named when the others are done": {
			given: proving, when: both(rolledAlone, refusing(time.Hour)), step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason,
			says: []string{"These are rolled and serve, but their minReadySeconds cannot be given back: " + refusedNames},
		},
		"in a rollback its new Machines are not waited for": {
			given: turningBack, when: both(refusing(time.Hour), firstDeployment(func(d *observation.MachineDeployment) {
				d.RestartValue, d.Guard, d.Settled = back, endless(), false
			})),
			step: ucv1.StepRollbackRoll, fails: ucv1.BlockedMachinesReason, says: []string{refusedNames},
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
			given: begun, when: both(both(twice, refusing(0)), ofCanary), step: ucv1.StepRoll, action: outcome.ActionRecord,
			says: []string{"a canary of MachineDeployment kube-system/builders"},
		},
		"where all canaries are refused, a person is called": {
			given: begun, when: both(refusing(time.Hour), ofCanary), step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason,
			says: []string{"webhook m refuses a canary Machine like those of MachineDeployment kube-system/workers"},
		},
		"what was refused of a canary says nothing when none is asked for": {
			given: begun, when: both(both(refusing(time.Hour), ofCanary), func(o *Observation) {
				o.Cluster.Spec.Rollout.Canary = ucv1.NoCanary
			}),
			step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment,
		},
		"nor of minReadySeconds": {
			given: proving, when: both(both(alone, refusing(time.Hour)), ofCanary), step: ucv1.StepRoll, action: outcome.ActionReturnMinReady,
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

func TestARefusedStep(t *testing.T) {
	const says = "webhook m refuses changes of Machines or MachineSets of MachineDeployment kube-system/workers; a dry run shows why"
	refused := func(since time.Duration) func(*Observation) { return both(refusing(since), ofStep) }
	runDecisions(t, map[string]decision{
		"it may be accepted soon": {
			given: proving, when: refused(0), step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
			says: []string{"Waiting for changes to be accepted: " + says},
		},
		"a person is called after ten minutes": {
			given: proving, when: refused(10 * time.Minute), step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason,
			says: []string{"These cannot be rolled: " + says},
		},
		"old Machines of another one go": {
			given: proving, when: both(twoRoll, refused(time.Hour)), step: ucv1.StepRoll, action: outcome.ActionStepMachineSet,
			says: []string{"new Machines of MachineDeployment kube-system/builders"},
		},
		"it uses the budget up": {
			given: proving, when: both(twice, refused(time.Hour)), step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason, says: []string{says},
		},
		"another one is begun where the budget allows it": {
			given: proving, when: both(both(twice, refused(time.Hour)), func(o *Observation) {
				o.Cluster.Spec.Rollout.MaxConcurrent = new(intstr.FromInt32(2))
			}),
			step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment, says: []string{"kube-system/builders"},
		},
		"what has no old Machine that may go needs none": {
			given: proving, when: both(rolledAlone, refused(time.Hour)), step: ucv1.StepRoll, action: outcome.ActionReturnMinReady,
		},
		"a deleted Cluster keeps the breaker on": {
			given: deleted(proving), when: refused(time.Hour), step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason,
			says: []string{"The Cluster is being deleted, and " + says},
		},
		"and waits before it says so": {
			given: deleted(proving), when: refused(time.Minute), step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
			says: []string{"Waiting for changes to be accepted: " + says},
		},
	})
}

func TestADeletedClusterAndARefusal(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a deleted Cluster gives the others back first": {
			given: deleted(proving), when: both(both(alone, refusing(0)), machines(func(m *observation.Machines) {
				second(m)
				m.Deployments[1].Guard = endless()
			})),
			step: ucv1.StepRoll, action: outcome.ActionReturnMinReady, says: []string{"kube-system/builders"},
		},
		"it waits for what is being rolled before it refusedNames it": {
			given: deleted(proving), when: both(both(rolledAlone, refusing(time.Hour)), machines(func(m *observation.Machines) {
				second(m)
				m.Deployments[1].RestartValue = generation
			})),
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason, says: []string{"Waiting for the Machines of"},
		},
		"and then waits ten minutes, too": {
			given: deleted(proving), when: both(rolledAlone, refusing(time.Minute)), step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
			says: []string{"Waiting for changes to be accepted: " + refusedNames},
		},
		"and refusedNames it then": {
			given: deleted(proving), when: both(rolledAlone, refusing(time.Hour)), step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason,
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
