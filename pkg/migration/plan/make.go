package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// Input is what a plan is made from.
type Input struct {
	// Start is the cluster as it was observed.
	Start simulation.Start
	// Dry is what the API server's dry run says of the objects of the addons, by their names.
	Dry map[string]Object
	// Pools say how the machine-controller replaces Machines, by the UID of the MachineDeployment.
	Pools map[string]Pool
	// Pods are what would have to move.
	Pods observation.Observed[Pods]
}

// Pool is what a MachineDeployment says of its rolling update.
type Pool struct {
	MaxSurge, MaxUnavailable int32
}

// Pods are those that a drain evicts.
type Pods struct {
	// OnNode counts them by Node.
	OnNode map[string]int
	// Budgets with the Nodes of their pods, one for each pod.
	Budgets []PodBudget
}

// PodBudget is a PodDisruptionBudget.
type PodBudget struct {
	Name    string
	Allowed int32
	Nodes   []string
}

// Make the plan. The same input gives the same plan.
func Make(in Input) Plan {
	o := in.Start.Observation
	in.Start.Differing = differing(in)
	future := simulation.Foresee(in.Start)
	is := situationOf(in, future)
	plan := Plan{
		Cluster: o.Cluster.Namespace + "/" +
			o.Cluster.Name, Provider: o.Cluster.Spec.Cloud.ProviderName, Version: o.Cluster.Spec.Version,
		Now: is.sentence(), Findings: findings(in, is), Actions: actions(in, future), PointOfNoReturn: pointOfNoReturn(in, future, is),
	}
	plan.Outcome = outcomeOf(future, is, plan.changes())
	if handover := future.Facts.Handover; handover != nil && is.handsOver() {
		plan.Protocol, plan.ProtocolReason = handover.Protocol, handover.ProtocolReason
	}
	plan.Rollouts = rollouts(in, future)
	plan.Duration = estimate(in, plan, is, future.Registering)
	plan.Afterwards = afterwards(in, plan, future, is)
	plan.Limits = limits(in, plan)
	plan.Summary = plan.summarize()
	plan.Digest = plan.digest(o)
	return plan
}

// differing are the objects of the addons that a dry run found and would change.
func differing(in Input) []observation.Ref {
	var refs []observation.Ref
	for _, objects := range in.Start.Objects {
		for _, object := range objects {
			if in.Dry[object.String()].Operation == Change {
				refs = append(refs, object)
			}
		}
	}
	return refs
}

// changes counts what is done in any case: what is numbered in the list.
func (p *Plan) changes() int {
	return len(slices.DeleteFunc(slices.Clone(p.Actions), func(action Action) bool { return action.Number == 0 }))
}

// findings are those of preflight, which is judged once: before the start.
func findings(in Input, is situation) []observation.Finding {
	if !is.starts() {
		return []observation.Finding{}
	}
	return start.Findings(in.Start.Observation, in.Start.Now)
}

func outcomeOf(future simulation.Future, is situation, changes int) Outcome {
	last := future.Last
	outcome := Outcome{State: Finishes, Step: last.Step, Message: is.ending(future, changes), Instructions: last.Instructions}
	switch {
	case last.Calls() != nil:
		outcome.State, outcome.Reason, outcome.Message = Stalls, last.Calls().Reason, last.Calls().Message
	case last.Wait != nil:
		outcome.State, outcome.Reason, outcome.Message = Waits, last.Wait.Reason, last.Wait.Message
	case future.Endless:
		outcome.State, outcome.Reason, outcome.Message = Waits, "", "The simulation came to no end; report this as a bug."
	}
	return outcome
}

// pointOfNoReturn is the first pass in which the rollback is refused.
func pointOfNoReturn(in Input, future simulation.Future, is situation) PointOfNoReturn {
	if is.rollingBack {
		return PointOfNoReturn{Reason: is.noReturn()} // Judged once, before it begins.
	}
	done := 0
	for _, pass := range future.Passes {
		seen := pass.Decision.PointOfNoReturn
		if seen != nil && seen.State == ucv1.PointOfNoReturnPassed {
			return passedAt(in, pass.Decision, done)
		}
		if counted(pass.Decision) {
			done++
		}
	}
	if seen := future.Last.PointOfNoReturn; seen != nil {
		if seen.State == ucv1.PointOfNoReturnPassed {
			return passedAt(in, future.Last, done)
		}
		return PointOfNoReturn{Reason: "It is not reached. " + seen.Next}
	}
	return PointOfNoReturn{Reason: is.noReturn()}
}

func passedAt(in Input, decision migration.Decision, done int) PointOfNoReturn {
	passed := PointOfNoReturn{Passed: true, Step: decision.Step, Action: done, Reason: decision.PointOfNoReturn.Reason}
	if facts := decision.Facts; facts != nil && facts.CompletedAt != nil && in.Start.Observation.Cluster.Status.CompletedAt == nil {
		// The time is one of the model.
		passed.Step, passed.Reason = ucv1.StepComplete, "The migration is completed: every Node is proven, and nothing was lost."
	}
	return passed
}

func limits(in Input, plan Plan) []string {
	known := []string{
		"People are absent: no one else changes anything, and no process crashes.",
		"Load balancers and volumes stay as they are; whether they did is compared with the baseline before the migration completes.",
		"Within a MachineDeployment the machine-controller chooses which Machine goes next.",
		"Objects that are new are named, and their fields are not compared with anything; the command render prints them.",
	}
	always := len(known)
	for _, action := range plan.Actions {
		for _, object := range action.Objects {
			if object.Note != "" {
				known = append(known, object.Object+": "+object.Note+".")
			}
		}
	}
	if slices.ContainsFunc(plan.Findings, observation.Finding.Blocks) && plan.Outcome.Step != ucv1.StepPreflight {
		known = append(known, "The migration does not start while a finding blocks; the plan goes on as if all of them were fixed "+
			"or accepted.")
	}
	if in.Start.Observation.Cluster.Spec.Handover.PauseBeforePointOfNoReturn {
		known = append(known, "spec.handover.pauseBeforePointOfNoReturn holds the migration before the point of no return; the plan "+
			"goes on as if it were released there.")
	}
	if !in.Pods.IsKnown() {
		known = append(known, "The pods that have to move, and their PodDisruptionBudgets: "+in.Pods.Why()+".")
	}
	slices.Sort(known[always:])
	return slices.Compact(known)
}

// summarize is what fits into a status. It has no times, and does not count what is done only when it is needed.
func (p *Plan) summarize() string {
	machines := 0
	for _, rollout := range p.Rollouts {
		machines += len(rollout.Machines)
	}
	text := fmt.Sprintf("%d changes; %d Machines of %d MachineDeployments are replaced.", p.changes(), machines, len(p.Rollouts))
	if p.Protocol != "" {
		text += " Hand-over by protocol " + string(p.Protocol) + "."
	}
	switch p.Outcome.State {
	case Finishes:
		text += " " + p.Outcome.Message
	case Stalls, Waits:
		text += " It stops at step " + string(p.Outcome.Step) + ", and a person has to act: " + p.Outcome.Reason + "."
	}
	if ids := p.blocking(); len(ids) > 0 {
		text += " It does not start before these are fixed or accepted: " + strings.Join(ids, ", ") + "."
	}
	return text
}

// blocking are the IDs of the findings that keep it from starting, and what no one could look at.
func (p *Plan) blocking() []string {
	var ids []string
	for _, finding := range p.Findings {
		if finding.Blocks() {
			ids = append(ids, cmp.Or(finding.ID, finding.Message))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
