package plan_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation/simtest"
)

func scenario() simtest.Scenario {
	return simtest.Scenario{
		Name: "alpha", Services: 1, Pools: []simtest.Pool{{Name: "workers", Replicas: 3}, {Name: "builders", Replicas: 2}},
		Classes: []simulation.Class{{Name: "standard", Provisioner: simulation.InTreePlugin, Default: true}},
	}
}

// inputOf is a cluster whose addons no one applied yet.
func inputOf(seed uint64, s simtest.Scenario, now time.Time) plan.Input {
	o := simtest.StartOf(simtest.NewWorld(rand.New(rand.NewPCG(seed, 1)), s)).Observation
	addons := o.Addons.Value()
	probe := []observation.Ref{
		{Kind: "Deployment", Namespace: "kube-system", Name: "probe"},
		{Kind: "Lease", Namespace: "kube-system", Name: "probe"},
	}
	class := observation.Ref{Kind: "StorageClass", Name: o.Provider.Value().DefaultClass.Name}
	addons.CSI.Drifted = append(addons.CSI.Drifted, class)
	addons.CCM.Version, addons.CSI.Version = "v1.30.14", "v1.2.0"
	o.Addons = observation.Known(addons)
	return plan.Input{
		Start: simulation.Start{Observation: o, Now: now, Objects: map[outcome.AddonSetName][]observation.Ref{
			outcome.CCMSet: addons.CCM.Drifted, outcome.CSISet: addons.CSI.Drifted, outcome.ProbeSet: probe,
		}},
		Dry: map[string]plan.Object{
			"Deployment kube-system/simcloud-CCM": {Object: "Deployment kube-system/simcloud-CCM", Operation: plan.Create},
		},
		Pods: observation.Known(plan.Pods{OnNode: map[string]int{}}),
	}
}

func anHour() time.Time { return time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC) }

func kinds(made plan.Plan) []outcome.ActionKind {
	var list []outcome.ActionKind
	for _, action := range made.Actions {
		if action.Conditional == "" {
			list = append(list, action.Kind)
		}
	}
	return list
}

// numbered is an action by its number.
func numbered(made plan.Plan, number int) plan.Action {
	at := slices.IndexFunc(made.Actions, func(action plan.Action) bool { return action.Number == number })
	return made.Actions[at]
}

func TestPlanOfAMigration(t *testing.T) {
	g := NewWithT(t)
	made := plan.Make(inputOf(1, scenario(), anHour()))
	g.Expect(made.Findings).To(BeEmpty())
	g.Expect(made.Outcome.State).To(Equal(plan.Finishes), "%+v", made.Outcome)
	g.Expect(made.Protocol).To(Equal(ucv1.FencedProtocol))
	g.Expect(kinds(made)).To(Equal([]outcome.ActionKind{
		outcome.ActionApplyAddons, outcome.ActionApplyAddons, // the CSI driver, the CCM
		outcome.ActionApplyAddons, outcome.ActionPruneAddons, // the probe
		outcome.ActionTakeBaseline, outcome.ActionChangeArguments, outcome.ActionTouch, outcome.ActionOpenFence,
		outcome.ActionChangeArguments, outcome.ActionChangeArguments, outcome.ActionChangeArguments,
		outcome.ActionCreateCanary, outcome.ActionCreateCanary, // its Service comes last
		outcome.ActionRemoveCanary, outcome.ActionRemoveCanary,
		outcome.ActionRollMachineDeployment, outcome.ActionStepMachineSet, outcome.ActionReturnMinReady,
		outcome.ActionRollMachineDeployment, outcome.ActionStepMachineSet, outcome.ActionReturnMinReady,
		outcome.ActionChangeArguments, outcome.ActionSwitchDefaultClass,
	}))
	g.Expect(made.Rollouts).To(HaveLen(2))
	g.Expect(made.Rollouts[0].Object).To(Equal("MachineDeployment kube-system/builders"), "the smallest first")
	g.Expect(made.Rollouts[0].Machines).To(HaveLen(2))
	g.Expect(made.Rollouts[1].Machines).To(HaveLen(3))
	g.Expect(made.PointOfNoReturn.Passed).To(BeTrue())
	g.Expect(made.PointOfNoReturn.Step).To(Equal(ucv1.StepComplete))
	g.Expect(numbered(made, made.PointOfNoReturn.Action).Kind).To(Equal(outcome.ActionReturnMinReady), "what comes before it")
	g.Expect(made.Afterwards).To(ContainElements(
		plan.Difference{What: "default StorageClass", From: "standard", To: "simcloud-csi"},
		plan.Difference{What: "Deployment user-alpha/kube-controller-manager --cloud-provider", From: "simcloud", To: "external"},
		HaveField("What", "5 Machines and their Nodes"),
	))
}

func TestWhatTheCanaryAndTheBreakerChangeIsShown(t *testing.T) {
	g := NewWithT(t)
	objects := map[outcome.ActionKind][]plan.Object{}
	for _, action := range plan.Make(inputOf(1, scenario(), anHour())).Actions {
		objects[action.Kind] = append(objects[action.Kind], action.Objects...)
	}
	g.Expect(objects[outcome.ActionCreateCanary]).To(ContainElements(
		plan.Object{Object: "MachineDeployment kube-system/ccm-migration-canary", Operation: plan.Create},
		plan.Object{Object: "Pod kube-system/ccm-migration-canary", Operation: plan.Create},
		plan.Object{Object: "Service kube-system/ccm-migration-canary", Operation: plan.Create},
	))
	g.Expect(objects[outcome.ActionRemoveCanary]).To(HaveEach(HaveField("Operation", plan.Delete)))
	g.Expect(objects[outcome.ActionRollMachineDeployment]).To(ContainElement(plan.Object{
		Object: "MachineDeployment kube-system/builders", Operation: plan.Change, Changes: []plan.FieldChange{
			{
				Path: "spec.template.metadata.annotations[forceRestart]",
				To:   "(made when the roll starts)",
			},
			{Path: "spec.minReadySeconds", To: "2147483647"},
		},
	}))
	g.Expect(objects[outcome.ActionStepMachineSet]).To(
		ContainElement(HaveField("Changes", []plan.FieldChange{{Path: "spec.replicas", From: "3", To: "0"}})),
	)
	g.Expect(objects[outcome.ActionReturnMinReady]).To(
		HaveEach(HaveField("Changes", []plan.FieldChange{{Path: "spec.minReadySeconds", From: "ours"}})),
	)
}

func TestAPlanGoesOnBehindWhatBlocks(t *testing.T) {
	g := NewWithT(t)
	in := inputOf(1, scenario(), anHour())
	whole := plan.Make(in)
	in.Start.Observation.Findings = observation.Known([]observation.Finding{
		{ID: "NodeNotReady", Severity: observation.Blocking, Message: "It is not Ready.", Objects: []string{"Node n1"}},
		{
			ID:          "QuotaUnknown",
			Severity:    observation.Warning,
			NotLookedAt: true,
			BeforeRoll:  true,
			Message:     "Could not look at the quota.",
		},
	})
	made := plan.Make(in)
	g.Expect(made.Findings).To(HaveLen(2))
	g.Expect(made.Sequence()).To(Equal(whole.Sequence()), "what is done afterwards stands there all the same")
	g.Expect(made.Summary).To(HaveSuffix("It does not start before these are fixed or accepted: NodeNotReady."))
	g.Expect(made.Limits).To(ContainElement(ContainSubstring("does not start while a finding blocks")))
	g.Expect(made.Digest).To(Equal(whole.Digest), "it starts only when nothing blocks any more")

	in.Start.Observation.Cluster.Spec.Preflight.Accept = []ucv1.AcceptedFinding{{ID: "NodeNotReady", Reason: "known"}}
	accepted := plan.Make(in)
	g.Expect(accepted.Summary).NotTo(ContainSubstring("fixed"))
	g.Expect(accepted.Digest).NotTo(Equal(whole.Digest), "what was accepted is a part of what is approved")
}

func TestTheOrderOfMachineDeploymentsIsNotApproved(t *testing.T) {
	g := NewWithT(t)
	scaled := scenario()
	scaled.Pools[0].Replicas, scaled.Pools[1].Replicas = scaled.Pools[1].Replicas, scaled.Pools[0].Replicas
	before, after := plan.Make(inputOf(1, scenario(), anHour())), plan.Make(inputOf(1, scaled, anHour()))
	g.Expect(after.Rollouts[0].Object).NotTo(Equal(before.Rollouts[0].Object), "the smallest is rolled first")
	g.Expect(after.Digest).To(Equal(before.Digest))
	alphabetical := inputOf(1, scenario(), anHour())
	alphabetical.Start.Observation.Cluster.Spec.Rollout.Order = ucv1.Alphabetical
	g.Expect(plan.Make(alphabetical).Digest).NotTo(Equal(before.Digest), "a person changed it")
}

func TestFieldsOfTheControlPlaneAreShownBeforeAndAfter(t *testing.T) {
	g := NewWithT(t)
	made := plan.Make(inputOf(1, scenario(), anHour()))
	var changes []plan.FieldChange
	for _, action := range made.Actions {
		if action.Kind == outcome.ActionChangeArguments {
			g.Expect(action.Cluster).To(Equal("management"))
			changes = append(changes, action.Objects[0].Changes...)
		}
	}
	g.Expect(changes).To(ContainElements(
		plan.FieldChange{
			Path: "spec.template.spec.containers[kube-controller-manager] --controllers", From: "*,bootstrapsigner",
			To: "*,bootstrapsigner,-cloud-node-lifecycle-controller,-node-route-controller,-service-lb-controller",
		},
		HaveField("Path", "spec.template.spec.containers[machine-controller] -node-external-cloud-provider"),
	))
}

func TestDigestStaysWhileNothingOfImportanceChanges(t *testing.T) {
	g := NewWithT(t)
	digest := plan.Make(inputOf(1, scenario(), anHour())).Digest
	g.Expect(digest).To(HaveLen(64))
	for seed := range uint64(5) {
		g.Expect(plan.Make(inputOf(seed, scenario(), anHour().Add(time.Duration(seed)*time.Hour))).Digest).To(Equal(digest))
	}
	scaled := scenario()
	scaled.Pools[0].Replicas = 4
	g.Expect(plan.Make(inputOf(1, scaled, anHour())).Digest).To(Equal(digest), "an autoscaler changes no plan")
}

func TestDigestChangesWithWhatIsDone(t *testing.T) {
	digest := plan.Make(inputOf(1, scenario(), anHour())).Digest
	for name, change := range map[string]func(*simtest.Scenario, *plan.Input){
		"another protocol": func(_ *simtest.Scenario, in *plan.Input) {
			in.Start.Observation.Cluster.Spec.Handover.Protocol = ucv1.SerializedProtocolChoice
		},
		"another version of the CCM": func(_ *simtest.Scenario, in *plan.Input) {
			addons := in.Start.Observation.Addons.Value()
			addons.CCM.Version = "v1.30.15"
			in.Start.Observation.Addons = observation.Known(addons)
		},
		"a field of an object that is there": func(_ *simtest.Scenario, in *plan.Input) {
			object := in.Dry["Deployment kube-system/simcloud-CCM"]
			object.Operation, object.Changes = plan.Change, []plan.FieldChange{{Path: "spec.replicas", From: "1", To: "2"}}
			in.Dry["Deployment kube-system/simcloud-CCM"] = object
		},
		"another MachineDeployment": func(s *simtest.Scenario, in *plan.Input) {
			s.Pools = append(s.Pools, simtest.Pool{Name: "more", Replicas: 1})
			*in = inputOf(1, *s, anHour())
		},
		"a paused MachineDeployment": func(s *simtest.Scenario, in *plan.Input) {
			s.Pools[1].Paused = true
			*in = inputOf(1, *s, anHour())
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenario()
			in := inputOf(1, s, anHour())
			change(&s, &in)
			NewWithT(t).Expect(plan.Make(in).Digest).NotTo(Equal(digest))
		})
	}
}

func TestAPlanEndsWhereAPersonHasToAct(t *testing.T) {
	g := NewWithT(t)
	s := scenario()
	s.Pools[0].Paused = true
	made := plan.Make(inputOf(1, s, anHour()))
	g.Expect(made.Outcome).To(
		And(HaveField("State", plan.Stalls), HaveField("Reason", ucv1.BlockedMachinesReason), HaveField("Step", ucv1.StepRoll)),
	)
	g.Expect(made.PointOfNoReturn.Passed).To(BeFalse())
	g.Expect(made.Summary).To(ContainSubstring("a person has to act: BlockedMachines"))
}

func TestFindingsStandInThePlan(t *testing.T) {
	g := NewWithT(t)
	in := inputOf(1, scenario(), anHour())
	in.Start.Observation.CloudConfig = observation.Absent[observation.CloudConfig]()
	in.Start.Observation.Fence = observation.Unknown[observation.Fence]("timeout")
	made := plan.Make(in)
	g.Expect(made.Findings).To(ConsistOf(
		And(HaveField("Severity", observation.Blocking), HaveField("Reason", ucv1.InputInvalidReason)),
		And(HaveField("NotLookedAt", true), HaveField("Message", ContainSubstring("timeout"))),
	))
	g.Expect(made.Actions).To(BeEmpty())
	g.Expect(made.Outcome.State).To(Equal(plan.Stalls))
}

func TestDisruptionAndDuration(t *testing.T) {
	g := NewWithT(t)
	in := inputOf(1, scenario(), anHour())
	machines := in.Start.Observation.Machines.Value()
	var node string
	for _, machine := range machines.Machines {
		node = machine.NodeName
	}
	in.Pools = map[string]plan.Pool{}
	for _, deployment := range machines.Deployments {
		in.Pools[deployment.UID] = plan.Pool{MaxSurge: 1, MaxUnavailable: 1}
	}
	in.Pods = observation.Known(plan.Pods{
		OnNode: map[string]int{node: 7}, Budgets: []plan.PodBudget{{Name: "web/front", Nodes: []string{node, node, "elsewhere"}}},
	})
	made := plan.Make(in)
	moved := 0
	for _, rollout := range made.Rollouts {
		moved += *rollout.Pods
		for _, budget := range rollout.Budgets {
			g.Expect(budget).To(Equal(plan.Budget{Name: "web/front", Pods: 2}))
			g.Expect(rollout.Disruption).To(ContainSubstring("web/front"))
		}
	}
	g.Expect(moved).To(Equal(7))
	// 5 min assumed for a Node, 1 min for its pods: in batches of two, one of two and two of three.
	g.Expect(made.Rollouts[0].Seconds).To(BeEquivalentTo(360))
	g.Expect(made.Rollouts[1].Seconds).To(BeEquivalentTo(720))
	sum := int64(0)
	for _, part := range made.Duration.Parts {
		g.Expect(part.Basis).NotTo(BeEmpty(), part.What)
		sum += part.Seconds
	}
	g.Expect(made.Duration.Seconds).To(Equal(sum))
	g.Expect(made.Duration.Parts).To(ContainElement(And(HaveField("What", "Soak"), HaveField("Seconds", BeEquivalentTo(10)))))
}

func TestAPlanCanBeRead(t *testing.T) {
	g := NewWithT(t)
	made := plan.Make(inputOf(1, scenario(), anHour()))
	data, err := json.Marshal(made)
	g.Expect(err).NotTo(HaveOccurred())
	again := plan.Plan{}
	g.Expect(json.Unmarshal(data, &again)).To(Succeed())
	g.Expect(again).To(Equal(made))
}

func TestMachineDeploymentsShareTheBudget(t *testing.T) {
	for canary, alone := range map[ucv1.CanaryKind]bool{ucv1.CanaryMachine: false, ucv1.CanaryMachineDeployment: true} {
		t.Run(string(canary), func(t *testing.T) {
			g := NewWithT(t)
			in := inputOf(1, scenario(), anHour())
			in.Start.Observation.Cluster.Spec.Rollout.Canary = canary
			in.Start.Observation.Cluster.Spec.Rollout.MaxConcurrent = new(intstr.FromInt32(2))
			made := plan.Make(in)
			longest := max(made.Rollouts[0].Seconds, made.Rollouts[1].Seconds)
			if alone {
				longest = made.Rollouts[0].Seconds + made.Rollouts[1].Seconds
			}
			g.Expect(made.Duration.Parts).To(
				ContainElement(And(HaveField("What", "Machines are replaced"), HaveField("Seconds", longest))),
			)
		})
	}
}

// A plan is made while a person waits for it, and by the controller while it waits for an approval.
func BenchmarkMake(b *testing.B) {
	for name, pools := range map[string]struct{ count, machines int }{
		"10 Machines": {1, 10}, "100 Machines": {1, 100}, "1000 Machines": {1, 1000},
		"1000 Machines of 100 MachineDeployments": {100, 10},
	} {
		large := scenario()
		large.Pools = nil
		for i := range pools.count {
			large.Pools = append(large.Pools, simtest.Pool{Name: "workers-" + strconv.Itoa(i), Replicas: pools.machines})
		}
		in := inputOf(1, large, anHour())
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				plan.Make(in)
			}
		})
	}
}

func TestThePlanCountsTheRegistrationOfVolumes(t *testing.T) {
	s := scenario()
	for by, want := range map[string]OmegaMatcher{
		"volumes.example.com": ContainElement(And(HaveField("What", "In-tree volumes are registered"), HaveField("Seconds", BeNumerically("~", 1800, 60)))),
		"":                    Not(ContainElement(HaveField("What", "In-tree volumes are registered"))),
	} {
		s.RegisteredBy = by
		NewWithT(t).Expect(plan.Make(inputOf(1, s, anHour())).Duration.Parts).To(want)
	}
}
