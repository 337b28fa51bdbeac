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
func (r *roll) canaryWanted(pools []pool) bool {
	return r.canaryKind() == ucv1.CanaryMachine && !r.back() && r.o.Cluster.DeletionTimestamp.IsZero() &&
		(r.facts.Canary == nil || r.facts.Canary.ProvenAt == nil) && slices.ContainsFunc(pools, needsCanary)
}

func needsCanary(pool pool) bool {
	return pool.state == Outdated && pool.deployment.Replicas > 0
}

func (r *roll) canaryKind() ucv1.CanaryKind {
	if kind := r.o.Cluster.Spec.Rollout.Canary; kind != "" {
		return kind
	}
	return ucv1.CanaryMachine
}

// canary makes one extra Machine and waits until it is proven, before the first MachineDeployment is rolled.
//
//	recorded ─► made ─► proven ─► recorded, removed, and the roll begins
//	              └──── deadline passed: a person is called ─► removed, and made again ten minutes later
func (r *roll) canary(pools []pool, intents []Intent) outcome.Outcome {
	if !r.canaryWanted(pools) {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	fact := r.facts.Canary
	_, seen := r.o.Machines.Value().Split()
	switch {
	case fact == nil:
		return r.beginCanary(pools, intents, 1)
	case !r.o.StorageClasses.IsKnown():
		return outcome.CannotLook("the StorageClasses", r.o.StorageClasses.Why())
	case fact.FailedAt != nil && r.now.Sub(fact.FailedAt.Time) > r.o.Deadlines.CanaryRetry:
		if out, left := r.removeCanary(); left {
			return out
		}
		return r.beginCanary(pools, intents, fact.Attempt+1)
	case !r.o.Canary.IsKnown():
		return outcome.CannotLook("the canary", r.o.Canary.Why())
	}
	return r.proveCanary(pools, intents, seen)
}

func (r *roll) proveCanary(pools []pool, intents []Intent, seen observation.Machines) outcome.Outcome {
	fact := r.facts.Canary
	plan, balanced, unknown := r.canaryPlan()
	deadline := fact.StartedAt.Add(r.fleet().deadline)
	switch {
	case unknown != "":
		return outcome.CannotLook("the baseline", unknown)
	case fact.FailedAt == nil && r.now.After(deadline) && len(seen.Deployments)+len(r.o.Canary.Value().Objects) == 0:
		// It was taken away meanwhile because nothing could be rolled.
		return r.beginCanary(pools, intents, fact.Attempt+1)
	}
	lacks := r.canaryLacks(seen)
	plan.LoadBalancer = balanced && len(lacks) == 0
	if r.canaryIncomplete(seen, plan) {
		return r.createCanary(pools, plan, balanced)
	}
	if balanced && len(lacks) == 0 && len(r.o.Canary.Value().Ingress) == 0 {
		lacks = append(lacks, observation.Say("its Service has no load balancer"))
	}
	return r.judgeCanary(r.doubtCanary(seen, lacks, deadline))
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
}

func (r *roll) judgeCanary(doubt canaryDoubt) outcome.Outcome {
	fact, lacks := r.facts.Canary, observation.Join(doubt.lacks, "; ")
	switch {
	case doubt.unseen != "":
		return outcome.CannotLook("the bootstrap data of the canary", doubt.unseen)
	case lacks.Words == "":
		fact.ProvenAt, fact.FailedAt = r.stamp(), nil
		return outcome.Records("Recording that the canary is proven: new Machines become Nodes that serve.")
	case r.now.Before(doubt.deadline):
		return outcome.WaitsUntil(doubt.awaits, observation.Say("Waiting for the canary, one extra Machine that is proven before "+
			"others are replaced: ", lacks, "."), observation.Sooner(doubt.deadline.Sub(r.now), doubt.pause))
	case fact.FailedAt == nil:
		fact.FailedAt = r.stamp()
		return outcome.Records("Recording that the canary is not proven in time.")
	}
	again := fact.FailedAt.Add(r.o.Deadlines.CanaryRetry)
	return outcome.Fails(
		doubt.fails,
		"The canary, one extra Machine, was not proven in time, and no other Machine was touched: ", lacks,
		". It stays until "+again.UTC().Format(time.RFC3339)+" for you to look at, and is made again then; or change "+
			"spec.rollout.canary."+r.offer(),
	)
}

// beginCanary is recorded before anything is made. Its target is the first that will be rolled and has Machines.
func (r *roll) beginCanary(pools []pool, intents []Intent, attempt int32) outcome.Outcome {
	target := ""
	for _, d := range deploymentsOf(pools, intents) {
		if target == "" && d.Replicas > 0 {
			target = d.Namespace + "/" + d.Name
		}
	}
	for _, pool := range pools {
		if target == "" && needsCanary(pool) {
			target = pool.name()
		}
	}
	r.facts.Canary = &ucv1.CanaryStatus{MachineDeployment: target, Attempt: attempt, StartedAt: r.stamp()}
	return outcome.Records("Recording that a canary of MachineDeployment " + target + " is made.")
}

// canaryPlan: a part of the proof that the cluster has nothing for is left out. The Service is made last, when everything else is
// proven: the CCM then makes its load balancer for this Node, too, so that the address says that it is among the targets. Nothing
// is sent through it: what address a cluster shows is the tenant's to choose, and none that this controller should connect to.
func (r *roll) canaryPlan() (plan outcome.CanaryPlan, balanced bool, unknown string) {
	before, _, unknown := baseline.AsTaken(r.o.Baseline, r.facts.Baseline)
	plan = outcome.CanaryPlan{Image: r.o.Cluster.Spec.Rollout.CanaryImage, StorageClass: r.canaryClass()}
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
func (r *roll) canaryIncomplete(seen observation.Machines, plan outcome.CanaryPlan) bool {
	return len(seen.Deployments) == 0 || slices.ContainsFunc(plan.Kinds(), func(kind string) bool {
		return !r.o.Canary.Value().Has(kind)
	})
}

// createCanary can be repeated: its objects have fixed names, and those that are there stay as they are.
func (r *roll) createCanary(pools []pool, plan outcome.CanaryPlan, balanced bool) outcome.Outcome {
	fact := r.facts.Canary
	at := slices.IndexFunc(pools, func(pool pool) bool { return pool.name() == fact.MachineDeployment })
	if at < 0 {
		return r.beginCanary(pools, nil, fact.Attempt)
	}
	fact.WithoutProof = withoutProof(plan, balanced)
	return outcome.Does(outcome.Action{
		Kind: outcome.ActionCreateCanary, Objects: []observation.Ref{pools[at].deployment.Ref}, Canary: &plan,
		Why: "Making one extra Machine, a canary, as " + pools[at].deployment.String() + " would.",
	})
}

// canaryClass is that of the catalogue, or the first by name of the provider's drivers whose volumes go with their claims.
func (r *roll) canaryClass() string {
	provider, class := r.o.Provider.Value(), ""
	for _, seen := range r.o.StorageClasses.Value() {
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
func (r *roll) canaryLacks(seen observation.Machines) []observation.Text {
	if len(seen.Machines) == 0 {
		return observation.Texts([]string{"its Machine is not made"})
	}
	machine := seen.Machines[len(seen.Machines)-1]
	view := r.fleet()
	node, found := view.nodes[machine.NodeName]
	switch {
	case machine.Deleting:
		return []observation.Text{observation.Say(machine, " is being deleted by someone else")}
	case machine.NodeName == "" || !found:
		return []observation.Text{observation.Say(machine, " has no Node; "+machine.Problem).Without("; ")}
	case machine.Annotation != "true":
		return []observation.Text{observation.Say(machine, " is not marked as external by the machine-controller's webhook")}
	}
	var lacks []observation.Text
	if lack := r.nodeLacks(view, node, machine); lack != "" {
		lacks = append(lacks, observation.Say(node, " "+lack))
	}
	if !slices.ContainsFunc(
		node.Addresses,
		func(a string) bool { return strings.HasPrefix(a, "InternalIP ") || strings.HasPrefix(a, "ExternalIP ") },
	) {
		lacks = append(lacks, observation.Say(node, " has no address"))
	}
	if labels := r.topologyLacks(node); len(labels) > 0 {
		lacks = append(lacks, observation.Say(node, " lacks labels that the other Nodes have: ", wording.Names(labels)))
	}
	if len(lacks) > 0 {
		return lacks
	}
	return r.workloadLacks(node)
}

// topologyLacks are labels that every other Node of its MachineDeployment has.
func (r *roll) topologyLacks(canary observation.Node) []string {
	view := r.fleet()
	var common []string
	first := true
	for _, deployment := range view.machines.Deployments {
		if deployment.Namespace+"/"+deployment.Name != r.facts.Canary.MachineDeployment {
			continue
		}
		for _, machine := range view.machinesOf(deployment) {
			node, found := view.nodes[machine.NodeName]
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
func (r *roll) workloadLacks(node observation.Node) []observation.Text {
	workload := r.o.Canary.Value()
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
