package applied

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// Renderable names what is missing for the manifests; without it no one would know why they are not applied.
func Renderable(in pass.Input) outcome.Outcome {
	for _, check := range []func(pass.Input) (*observation.Finding, string){
		start.CheckReleased, start.CheckProvider, start.CheckProfile, start.CheckCloudConfig,
	} {
		if finding, _ := check(in); finding != nil {
			return outcome.Fails(finding.Reason, finding.Text())
		}
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// Set says whether a set is as wanted.
func Set(in pass.Input, name outcome.AddonSetName, set observation.AddonSet) outcome.Outcome {
	if set.SatisfiedBy != "" {
		return outcome.Holds(ucv1.HoldsReason, set.SatisfiedBy)
	}
	if name == outcome.CCMSet && start.WithholdsWorkload(in.Facts) && !set.WorkloadWithheld {
		return outcome.CannotLook("the CCM's objects", "its workload was not withheld when the user cluster was looked at")
	}
	if in.Cluster.Spec.Addons.Adoption == ucv1.Adopt {
		set = set.Due()
	}
	if len(set.Foreign) > 0 {
		if out := mayTakeOver(in, name, set); !out.Holds {
			return out
		}
	}
	if len(set.Drifted)+len(set.Foreign) > 0 {
		out := outcome.Does(outcome.Action{
			Kind: outcome.ActionApplyAddons, AddonSet: name, Objects: set.Drifted,
			Why: "Applying the " + string(name) + " addon: " +
				observation.Names(append(observation.Texts(set.Drifted), set.Foreign...)).Words + ".",
		})
		if name == outcome.CCMSet {
			return in.Adds(out, forgetProbe)
		}
		return out
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// Healthy accepts workloads that cannot be scheduled only in a cluster that is seen to have no Node at all.
func Healthy(in pass.Input, addons observation.Addons) outcome.Outcome {
	sets := []observation.AddonSet{addons.CSI, addons.CCM}
	if handover := in.Facts.Handover; handover != nil && handover.StartedAt != nil && handover.FinishedAt == nil {
		// While no one runs the cloud loops, a slow CSI driver must not prolong that.
		sets = sets[1:]
	}
	unhealthy, unschedulable := unhealthyWorkloads(sets)
	nodes, known := in.Nodes.Get()
	switch {
	case len(unhealthy) == 0 && len(addons.Obsolete) > 0:
		return outcome.Does(Prune(addons.Obsolete))
	case len(unhealthy) == 0:
		return outcome.Holds(ucv1.HoldsReason, "CCM and CSI are applied and healthy.")
	case unschedulable && !known:
		return outcome.CannotLook("the Nodes", in.Nodes.Why())
	case unschedulable && len(nodes) == 0:
		return outcome.Holds(ucv1.NoNodesReason, "CCM and CSI are applied; the cluster has no Node to run them yet.")
	}
	return outcome.Waits(ucv1.RollingOutReason, observation.Names(unhealthy), ".")
}

// unhealthyWorkloads of the sets, and whether a Node is all that they wait for.
func unhealthyWorkloads(sets []observation.AddonSet) (unhealthy []observation.Text, unschedulable bool) {
	unschedulable = true
	for _, set := range sets {
		if len(set.Unhealthy) == 0 || set.SatisfiedBy != "" {
			continue
		}
		unhealthy = append(unhealthy, set.Unhealthy...)
		unschedulable = unschedulable && set.Unschedulable
	}
	return unhealthy, unschedulable
}

// Prune deletes what no addon of ours wants any more.
func Prune(obsolete []observation.Ref) outcome.Action {
	return outcome.Action{
		Kind: outcome.ActionPruneAddons, Objects: obsolete,
		Why: "Deleting addon objects that are not wanted any more: " + wording.Names(observation.RefNames(obsolete)) + ".",
	}
}

// Unseen is for addons that could not be looked at: a migration that is completed holds all the same.
func Unseen(in pass.Input) outcome.Outcome {
	if in.Facts.CompletedAt != nil {
		return outcome.Holds(ucv1.HoldsReason, "CCM and CSI were applied; they cannot be looked at now: "+in.Addons.Why()+".")
	}
	if out := Renderable(in); !out.Holds {
		return out
	}
	return outcome.CannotLook("the addons in the user cluster", in.Addons.Why())
}

// forgetProbe: what was proven, or failed, was another CCM.
func forgetProbe(facts *ucv1.Facts) {
	if handover := facts.Handover; handover.StartedAt == nil {
		handover.ProbedAt, handover.ProbeFailedAt, handover.ProbeProblem, handover.ProbeObjects = nil, nil, "", nil
	}
}
