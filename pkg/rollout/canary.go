package rollout

import (
	"slices"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// canaryWanted: while something is left to be rolled that has Machines, and none was proven.
func canaryWanted(in fleet) bool {
	return canaryDue(in.input) && slices.ContainsFunc(in.pools, needsCanary)
}

// canaryDue: one is asked for, and none was proven.
func canaryDue(in input) bool {
	return canaryKind(in) == ucv1.CanaryMachine && !in.back() && in.o.Cluster.DeletionTimestamp.IsZero() &&
		(in.facts.Canary == nil || in.facts.Canary.ProvenAt == nil)
}

func needsCanary(pool pool) bool {
	return pool.state == Outdated && pool.deployment.Replicas > 0
}

func canaryKind(in input) ucv1.CanaryKind {
	if kind := in.o.Cluster.Spec.Rollout.Canary; kind != "" {
		return kind
	}
	return ucv1.CanaryMachine
}

// canaryFirst makes one extra Machine and waits until it is proven, before the first MachineDeployment is rolled.
//
//	recorded ─► made ─► proven ─► recorded, removed, and the roll begins
//	              └──── deadline passed: a person is called ─► removed, and made again ten minutes later
func canaryFirst(in fleet, intents []Intent) outcome.Outcome {
	if !canaryWanted(in) {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	fact := in.facts.Canary
	_, seen := in.o.Machines.Value().Split()
	switch {
	case fact == nil:
		return beginCanary(in, intents, 1)
	case !in.o.StorageClasses.IsKnown():
		return outcome.CannotLook("the StorageClasses", in.o.StorageClasses.Why())
	case fact.FailedAt != nil && in.now.Sub(fact.FailedAt.Time) > in.o.Deadlines.CanaryRetry:
		if out, left := removeCanary(in); left {
			return out
		}
		return beginCanary(in, intents, fact.Attempt+1)
	case !in.o.Canary.IsKnown():
		return outcome.CannotLook("the canary", in.o.Canary.Why())
	}
	return proveCanary(in, intents, seen)
}

func proveCanary(in fleet, intents []Intent, seen observation.Machines) outcome.Outcome {
	fact := in.facts.Canary
	plan, balanced, unknown := canaryPlan(in.input)
	deadline := fact.StartedAt.Add(in.view.deadline)
	switch {
	case unknown != "":
		return outcome.CannotLook("the baseline", unknown)
	case fact.FailedAt == nil && in.now.After(deadline) && len(seen.Deployments)+len(in.o.Canary.Value().Objects) == 0:
		// It was taken away meanwhile because nothing could be rolled.
		return beginCanary(in, intents, fact.Attempt+1)
	}
	lacks := canaryLacks(in, seen)
	plan.LoadBalancer = balanced && len(lacks) == 0
	if canaryIncomplete(in.input, seen, plan) {
		return createCanary(in, plan, balanced)
	}
	if balanced && len(lacks) == 0 && len(in.o.Canary.Value().Ingress) == 0 {
		lacks = append(lacks, observation.Say("its Service has no load balancer"))
	}
	doubt := doubtCanary(in.input, seen, lacks, deadline)
	if doubt.withoutProof != "" {
		in = in.notes(func(facts *ucv1.Facts) {
			facts.Canary.WithoutProof = append(facts.Canary.WithoutProof, doubt.withoutProof)
		})
	}
	return in.handsOn(judgeCanary(in.input, doubt))
}

// canaryDoubt is what keeps a canary from being proven, until when that is waited for, and what it is called before and after.
type canaryDoubt struct {
	lacks         []observation.Text
	deadline      time.Time
	awaits, fails string
	// pause is how long it is until it is looked at again, where no watch tells of a change.
	pause time.Duration
	// unseen is why its bootstrap data was not looked at.
	unseen string
	// withoutProof is what is left out of the proof and was not noted yet.
	withoutProof string
}

func judgeCanary(in input, doubt canaryDoubt) outcome.Outcome {
	fact, lacks := in.facts.Canary, observation.Join(doubt.lacks, "; ")
	switch {
	case doubt.unseen != "":
		return outcome.CannotLook("the bootstrap data of the canary", doubt.unseen)
	case lacks.Words == "":
		return in.records("Recording that the canary is proven: new Machines become Nodes that serve.", func(facts *ucv1.Facts) {
			facts.Canary.ProvenAt, facts.Canary.FailedAt = in.stamp(), nil
		})
	case in.now.Before(doubt.deadline):
		return outcome.WaitsUntil(doubt.awaits, observation.Say("Waiting for the canary, one extra Machine that is proven before "+
			"others are replaced: ", lacks, "."), observation.Sooner(doubt.deadline.Sub(in.now), doubt.pause))
	case fact.FailedAt == nil:
		return in.records("Recording that the canary is not proven in time.", func(facts *ucv1.Facts) {
			facts.Canary.FailedAt = in.stamp()
		})
	}
	again := fact.FailedAt.Add(in.o.Deadlines.CanaryRetry)
	return outcome.Fails(
		doubt.fails,
		observation.Say("The canary, one extra Machine, was not proven in time, and no other Machine was touched: ", lacks,
			". Look at it: it is kept until "+again.UTC().Format(time.RFC3339)+", then retried; to retry now, change "+
				"spec.rollout.canary.").Also(in.offer()),
	)
}

// beginCanary is recorded before anything is made. Its target is the first that will be rolled and has Machines.
func beginCanary(in fleet, intents []Intent, attempt int32) outcome.Outcome {
	target := ""
	for _, d := range deploymentsOf(in.pools, intents) {
		if target == "" && d.Replicas > 0 {
			target = d.Namespace + "/" + d.Name
		}
	}
	for _, pool := range in.pools {
		if target == "" && needsCanary(pool) {
			target = pool.name()
		}
	}
	return in.records("Recording that a canary of MachineDeployment "+target+" is made.", func(facts *ucv1.Facts) {
		facts.Canary = &ucv1.CanaryStatus{MachineDeployment: target, Attempt: attempt, StartedAt: in.stamp()}
	})
}

// canaryPlan: a part of the proof that the cluster has nothing for is left out. The Service is made last, when everything else is
// proven: the CCM then makes its load balancer for this Node, too, so that the address says that it is among the targets. Nothing
// is sent through it: what address a cluster shows is the tenant's to choose, and none that this controller should connect to.
func canaryPlan(in input) (plan outcome.CanaryPlan, balanced bool, unknown string) {
	before, _, unknown := baseline.AsTaken(in.o.Baseline, in.facts.Baseline)
	plan = outcome.CanaryPlan{Image: in.o.Cluster.Spec.Rollout.CanaryImage, StorageClass: canaryClass(in)}
	if plan.Image == "" {
		plan.Image = outcome.DefaultCanaryImage
	}
	balanced = slices.ContainsFunc(before.LoadBalancers, func(lb observation.LoadBalancer) bool { return len(lb.Ingress) > 0 })
	return plan, balanced, unknown
}

func withoutProof(plan outcome.CanaryPlan, balanced bool) []string {
	var without []string
	if plan.StorageClass == "" {
		without = append(without, "a volume: no StorageClass has a provisioner of the provider's CSI drivers")
	}
	if !balanced {
		without = append(without, "a load balancer: the cluster had no Service of that type with an address before the hand-over")
	}
	return without
}

// canaryIncomplete says that something of it was not made yet, or was taken away.
func canaryIncomplete(in input, seen observation.Machines, plan outcome.CanaryPlan) bool {
	return len(seen.Deployments) == 0 || slices.ContainsFunc(plan.Kinds(), func(kind string) bool {
		return !in.o.Canary.Value().Has(kind)
	})
}

// createCanary can be repeated: its objects have fixed names, and those that are there stay as they are.
func createCanary(in fleet, plan outcome.CanaryPlan, balanced bool) outcome.Outcome {
	fact := in.facts.Canary
	at := slices.IndexFunc(in.pools, func(pool pool) bool { return pool.name() == fact.MachineDeployment })
	_, made := in.o.Machines.Value().Split()
	if at < 0 || len(made.Deployments) == 0 && !needsCanary(in.pools[at]) {
		return beginCanary(in, nil, fact.Attempt)
	}
	out := outcome.Does(outcome.Action{
		Kind: outcome.ActionCreateCanary, Objects: []observation.Ref{in.pools[at].deployment.Ref}, Canary: &plan,
		Why: "Making one extra Machine, a canary, as " + in.pools[at].deployment.String() + " would.",
	})
	return in.adds(out, func(facts *ucv1.Facts) { facts.Canary.WithoutProof = withoutProof(plan, balanced) })
}

// canaryClass is that of the catalogue, or the first by name of the provider's drivers whose volumes go with their claims.
func canaryClass(in input) string {
	provider, class := in.o.Provider.Value(), ""
	for _, seen := range in.o.StorageClasses.Value() {
		switch {
		case seen.Retains || !slices.Contains(provider.CSIDrivers, seen.Provisioner):
		case seen.Name == provider.DefaultClass.Name:
			return seen.Name
		case class == "" || seen.Name < class:
			class = seen.Name
		}
	}
	return class
}

// canaryLacks is what the canary does not show yet: everything that is promised of a Node, and that a workload runs on it.
func canaryLacks(in fleet, seen observation.Machines) []observation.Text {
	if len(seen.Machines) == 0 {
		return observation.Texts([]string{"its Machine is not made"})
	}
	machine := seen.Machines[len(seen.Machines)-1]
	node, found := in.view.nodes[machine.NodeName]
	switch {
	case machine.Deleting:
		return []observation.Text{observation.Say(machine, " is being deleted by someone else")}
	case machine.NodeName == "" || !found:
		return []observation.Text{observation.Say(machine, " has no Node; "+machine.Problem).Without("; ")}
	case machine.Annotation != "true":
		return []observation.Text{observation.Say(machine, " is not marked as external by the machine-controller's webhook")}
	}
	var lacks []observation.Text
	if lack := nodeLacks(in, node, machine); lack != "" {
		lacks = append(lacks, observation.Say(node, " "+lack))
	}
	if !slices.ContainsFunc(
		node.Addresses,
		func(a string) bool { return strings.HasPrefix(a, "InternalIP ") || strings.HasPrefix(a, "ExternalIP ") },
	) {
		lacks = append(lacks, observation.Say(node, " has no address"))
	}
	if labels := topologyLacks(in, node); len(labels) > 0 {
		lacks = append(lacks, observation.Say(node, " lacks labels that the other Nodes have: ", wording.Names(labels)))
	}
	if len(lacks) > 0 {
		return lacks
	}
	return workloadLacks(in.input, node)
}

// topologyLacks are labels that every other Node of its MachineDeployment has.
func topologyLacks(in fleet, canary observation.Node) []string {
	var common []string
	first := true
	for _, deployment := range in.view.machines.Deployments {
		if deployment.Namespace+"/"+deployment.Name != in.facts.Canary.MachineDeployment {
			continue
		}
		for _, machine := range in.view.machinesOf(deployment) {
			node, found := in.view.nodes[machine.NodeName]
			switch {
			case !found:
			case first:
				common, first = node.Topology(), false
			default:
				common = slices.DeleteFunc(common, func(label string) bool { return !slices.Contains(node.Topology(), label) })
			}
		}
	}
	return slices.DeleteFunc(common, func(label string) bool { return slices.Contains(canary.Topology(), label) })
}

// workloadLacks looks at the pod and its volume.
func workloadLacks(in input, node observation.Node) []observation.Text {
	workload := in.o.Canary.Value()
	var lacks []string
	switch {
	case !workload.PodReady || workload.PodNode != node.Name:
		lacks = append(lacks, strings.TrimSuffix("its pod does not run on the Node: "+workload.PodProblem, ": "))
	}
	switch {
	case !workload.Has("PersistentVolumeClaim"):
	case workload.Volume == "":
		lacks = append(lacks, "its volume is not provisioned")
	case !workload.Attached:
		lacks = append(lacks, "volume "+workload.Volume+" is not attached to the Node")
	}
	return observation.Texts(lacks)
}
