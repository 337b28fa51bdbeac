package plan

import (
	"fmt"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// What nothing in a cluster says is assumed, and the plan names it.
const (
	assumedStart   = 2 * time.Minute
	assumedProbe   = 40 * time.Second
	assumedRollout = time.Minute
	assumedLeader  = 20 * time.Second
	assumedProof   = 2 * time.Minute
	assumedSilence = 45 * time.Second
)

// estimate adds up what the actions of the plan take.
func estimate(in Input, plan Plan, is situation, registering time.Duration) Duration {
	parts := slices.Concat(
		handoverParts(plan),
		registrationParts(registering),
		machineParts(in, plan, is),
		rollbackParts(plan),
		closingParts(plan, is),
	)
	duration := Duration{Parts: slices.DeleteFunc(parts, func(part Part) bool { return part.Seconds <= 0 })}
	for _, part := range duration.Parts {
		duration.Seconds += part.Seconds
	}
	return duration
}

func part(what string, took time.Duration, basis string) Part {
	return Part{What: what, Seconds: int64(took.Seconds()), Basis: basis}
}

const assumedRollouts = "Assumed: every Deployment that is changed rolls out within 1 min."

// handoverParts: everything before Machines are replaced.
func handoverParts(plan Plan) []Part {
	parts := []Part{}
	if does(plan, ucv1.StepAddons, outcome.ActionApplyAddons) > 0 {
		parts = append(parts, part("CCM and CSI driver", assumedStart, "Assumed: their images are pulled and their pods ready "+
			"within 2 min."))
	}
	if slices.ContainsFunc(plan.Actions, func(v Action) bool { return v.Stage == "Probed" && v.Kind == outcome.ActionApplyAddons }) {
		parts = append(parts, part("Probe of the CCM", assumedProbe, "It has to lead for 10 s; assumed: it starts within 30 s."))
	}
	if count := does(plan, ucv1.StepHandover, outcome.ActionChangeArguments); count > 0 {
		parts = append(parts, part("Hand-over", time.Duration(count)*assumedRollout+assumedLeader,
			"Assumed: kube-controller-manager rolls out within 1 min for each change, and the CCM leads within 20 s."))
	}
	return append(parts, rolloutParts(plan, ucv1.StepVolumeMigration, ucv1.StepMachineController)...)
}

// registrationParts: before Nodes are drained. What is left of the interval is the most that it takes.
func registrationParts(took time.Duration) []Part {
	return []Part{part("In-tree volumes are registered", took, fmt.Sprintf("Set: the CSI driver looks for them every %d min; "+
		"this is the most that it takes.",
		int(observation.RegistrationInterval.Minutes())))}
}

// rolloutParts are those of steps that change Deployments.
func rolloutParts(plan Plan, steps ...ucv1.Step) []Part {
	parts := []Part{}
	for _, step := range steps {
		parts = append(
			parts,
			part(
				"Changes of step "+string(step),
				time.Duration(does(plan, step, outcome.ActionChangeArguments))*assumedRollout,
				assumedRollouts,
			),
		)
	}
	return parts
}

// rollbackParts are the rows of a rollback but for its roll.
func rollbackParts(plan Plan) []Part {
	parts := rolloutParts(plan, ucv1.StepRollbackMachineController, ucv1.StepRollbackVolumes)
	closed, pruned := outcome.ActionCloseFence, outcome.ActionPruneAddons
	if does(plan, ucv1.StepRollbackFence, closed)+does(plan, ucv1.StepRollbackFence, pruned) > 0 {
		parts = append(parts, part("The CCM ends", assumedSilence, "Assumed: its pods end within 30 s, and its Lease runs out 15 s "+
			"later."))
	}
	if does(plan, ucv1.StepRollbackLoops, outcome.ActionChangeArguments) > 0 {
		parts = append(parts, part("KCM takes the cloud loops back", assumedRollout+assumedLeader,
			"Assumed: kube-controller-manager rolls out within 1 min, and leads within 20 s."))
	}
	return parts
}

func machineParts(in Input, plan Plan, is situation) []Part {
	parts := []Part{}
	later := in.Start.Observation.Provider.Value().CloudNodeLater && in.Start.Observation.Cluster.Status.CloudNode == nil
	if later && is.migrates() && plan.Outcome.Step != ucv1.StepPreflight {
		parts = append(parts, part("Addresses of Nodes are compared", compared(in),
			"Set: 1 min and 1 s for each Node."))
	}
	if does(plan, ucv1.StepRoll, outcome.ActionCreateCanary) > 0 {
		took, _ := machineTime(in)
		parts = append(parts, part("Canary", took+assumedProof, "As long as a Machine takes to become a Node; assumed: its pod, "+
			"volume and load balancer take 2 min."))
	}
	if len(plan.Rollouts) > 0 {
		parts = append(parts, part("Machines are replaced", rollSpan(in, plan.Rollouts), rollBasis(in, plan.Rollouts)))
	}
	return parts
}

func closingParts(plan Plan, is situation) []Part {
	parts := []Part{}
	if is.migrates() && slices.Contains([]ucv1.Step{ucv1.StepFinished, ucv1.StepFinalize, ucv1.StepComplete}, plan.Outcome.Step) {
		soak := observation.SoakTime(is.cluster)
		if since := is.cluster.Status.StableSince; since != nil {
			soak -= is.now.Sub(since.Time)
		}
		parts = append(parts, part("Soak", soak, "Set by spec.rollout.soakSeconds, or its default of 300."))
	}
	return append(
		parts,
		part(
			"In-tree flags are removed",
			time.Duration(does(plan, ucv1.StepFinalize, outcome.ActionChangeArguments))*assumedRollout,
			assumedRollouts,
		),
	)
}

func does(plan Plan, step ucv1.Step, kind outcome.ActionKind) int {
	count := 0
	for _, action := range plan.Actions {
		if action.Step == step && action.Kind == kind {
			count++
		}
	}
	return count
}

// compared is how long the addresses of Nodes are.
func compared(in Input) time.Duration {
	observed := in.Start.Observation
	deadlines := observed.Deadlines.OrReal()
	return deadlines.Addresses + time.Duration(len(observed.Nodes.Value()))*deadlines.AddressesOfNode
}

// rollSpan: all share the budget, but for a first one that is the canary.
func rollSpan(in Input, rollouts []Rollout) time.Duration {
	lanes, first := make([]int64, max(1, budget(in))), int64(0)
	if firstAlone(in) {
		first, rollouts = rollouts[0].Seconds, rollouts[1:]
	}
	for _, planned := range rollouts {
		slices.Sort(lanes)
		lanes[0] += planned.Seconds
	}
	return time.Duration(first+slices.Max(lanes)) * time.Second
}

func firstAlone(in Input) bool {
	return in.Start.Observation.Cluster.Spec.Rollout.Canary == ucv1.CanaryMachineDeployment
}

// budget is how many MachineDeployments may be rolled at once.
func budget(in Input) int {
	o := in.Start.Observation
	allowed, err := rollout.Allowed(o.Cluster.Spec.Rollout.MaxConcurrent, len(o.Machines.Value().Deployments))
	if err != nil {
		return 0
	}
	return allowed
}

func rollBasis(in Input, rollouts []Rollout) string {
	took, samples := machineTime(in)
	text := fmt.Sprintf("Assumed: a Machine becomes a Node in %s, as nothing here shows how long it takes.", took.Round(time.Second))
	if samples > 0 {
		text = fmt.Sprintf("Measured: a Machine became a Node in %s, the median of %d here.", took.Round(time.Second), samples)
	}
	alone := ""
	if firstAlone(in) {
		alone = "the first of them alone, then "
	}
	text += fmt.Sprintf(" Assumed: its pods go within %s, and no PodDisruptionBudget holds them. Set: maxSurge and maxUnavailable"+
		" of %d MachineDeployments; %sup to %d at once.", assumedDrain, len(rollouts), alone, max(1, budget(in)))
	return text
}
