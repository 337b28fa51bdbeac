package migration

import (
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// addons puts the CSI driver and the fenced CCM in place. Once the hand-over is finished only drift is looked at: the
// CCM's health is then asked for where something depends on it.
func addons(in input) outcome.Outcome {
	if in.Facts.Handover != nil && in.Facts.Handover.FinishedAt != nil {
		return addonsDrift(in)
	}
	switch back := loopsAreBack(in); {
	case back.IsUnknown():
		return outcome.CannotLook("the control plane", back.Why())
	case back.IsKnown():
		return outcome.Holds(ucv1.HoldsReason, "CCM and CSI were applied; they are not repaired while KCM may run cloud loops.")
	}
	return addonsInPlace(in)
}

func addonsInPlace(in input) outcome.Outcome {
	if out := renderable(in); !out.Holds {
		return out
	}
	addons, known := in.Addons.Get()
	if !known {
		return outcome.CannotLook("the addons in the user cluster", in.Addons.Why())
	}
	if out := setApplied(in, outcome.CSISet, addons.CSI); !out.Holds {
		return out
	}
	if ccmFollows(in) {
		return outcome.Holds(ucv1.HoldsReason, "The CSI driver is applied; the CCM follows within the hand-over.")
	}
	if out := fenceHolds(in); !out.Holds {
		return out
	}
	if out := setApplied(in, outcome.CCMSet, addons.CCM); !out.Holds {
		return out
	}
	return failAfterDeadline(in, healthy(in, addons))
}

// renderable names what is missing for the manifests; without it no one would know why they are not applied.
func renderable(in input) outcome.Outcome {
	for _, check := range []func(input) (*observation.Finding, string){
		checkReleased, checkProvider, checkProfile, checkCloudConfig,
	} {
		if finding, _ := check(in); finding != nil {
			return outcome.Fails(finding.Reason, finding.Text())
		}
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// externalAddons is the row of a cluster that was created with the feature. Its KCM must run no cloud loop before the
// CCM is put beside it.
func externalAddons(in input) outcome.Outcome {
	if in.Facts.Handover == nil {
		if out := judgeInputs(in); !out.Holds {
			return out
		}
		if out := approved(in); !out.Holds {
			return out
		}
		kcm := in.ControlPlane.Value().KCM
		return in.Records("Recording what the CCM inherits from "+kcm.String()+".", func(facts *ucv1.Facts) {
			facts.Inherited = inherit(in.Cluster, kcm.Arguments)
			facts.Handover = newHandover(in)
		})
	}
	if in.Facts.Handover.FinishedAt == nil {
		if out := judgeInputs(in); !out.Holds {
			return out
		}
	}
	return addons(in)
}

func judgeInputs(in input) outcome.Outcome {
	findings, unknown := inputFindings(in)
	if kcm := in.ControlPlane.Value().KCM; len(findings) == 0 && len(handover.RunningLoops(kcm)) > 0 {
		return outcome.Fails(ucv1.CloudLoopsRunningReason, loopsRunning(kcm))
	}
	return judge(findings, unknown, "")
}

func loopsRunning(kcm observation.Component) observation.Text {
	provider, _ := kcm.Arguments.Flag("cloud-provider")
	controllers, given := kcm.Arguments.Flag("controllers")
	arguments := "--cloud-provider=" + provider
	if given {
		arguments += " --controllers=" + controllers
	}
	return observation.Say("The Cluster was created with externalCloudProvider, but ", kcm, " runs "+
		wording.Names(handover.RunningLoops(kcm))+
		" ("+arguments+"); set --cloud-provider=external there, no CCM is put beside it until then. If the cluster is in-tree, "+
		"delete the Cluster object, create it without the feature, and switch that on afterwards.")
}

// setApplied says whether a set is as wanted.
func setApplied(in input, name outcome.AddonSetName, set observation.AddonSet) outcome.Outcome {
	if set.SatisfiedBy != "" {
		return outcome.Holds(ucv1.HoldsReason, set.SatisfiedBy)
	}
	if name == outcome.CCMSet && withholdsWorkload(in.Facts) && !set.WorkloadWithheld {
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

// fenceHolds asks, before the CCM's workload exists, whether its identity is really kept from its Lease.
func fenceHolds(in input) outcome.Outcome {
	fence, known := in.Fence.Get()
	switch {
	case !known:
		return outcome.CannotLook("the fence", in.Fence.Why())
	case in.Facts.Handover.FenceOpenedAt != nil || len(fence.Allowed) == 0 || serialized(in.Facts):
		return outcome.Holds(ucv1.HoldsReason, "")
	case fence.Open:
		return openFenceHolds(in, fence)
	}
	return outcome.Fails(ucv1.FenceIneffectiveReason, fenceProblem(fence))
}

// fenceProblem says what keeps the fence from holding, and how to find it.
func fenceProblem(f observation.Fence) observation.Text {
	lease := leaseRef(f.Lease)
	if f.Open {
		return observation.Say("The fence is open already, as an earlier Cluster left it: "+f.Identity+" may write ", lease,
			". Delete the RoleBinding in namespace "+lease.Namespace+" that allows it.")
	}
	return observation.Say(f.Identity+" may "+strings.Join(f.Allowed, ", ")+" ", lease,
		" although our fence is closed; find the RBAC rule with 'kubectl auth can-i --list -n "+lease.Namespace+" --as="+f.Identity+
			"' and remove it.")
}

// leaseRef names a Lease that is known as namespace/name.
func leaseRef(lease string) observation.Ref {
	namespace, name, _ := strings.Cut(lease, "/")
	return observation.Ref{Kind: "Lease", Namespace: namespace, Name: name}
}

// openFenceHolds is for an open fence that we did not note. It is harmless only where the whole proof holds: a crash came
// between opening and noting it, and then the proof is waited for again, or an earlier Cluster object opened it.
func openFenceHolds(in input, fence observation.Fence) outcome.Outcome {
	doubts := handover.Doubts(silence(in))
	if wantsLock(in.Facts) {
		doubts = handover.LockDoubts(silence(in))
	}
	switch {
	case len(doubts) == 0:
		return outcome.Holds(ucv1.HoldsReason, "")
	case in.Facts.Handover.StartedAt != nil:
		return outcome.WaitsUntil(ucv1.ProvingSilenceReason,
			observation.Say("The fence is open already. ", observation.Join(doubts, " ")), 2*time.Second)
	}
	return outcome.Fails(ucv1.FenceIneffectiveReason, fenceProblem(fence), " ", observation.Join(doubts, " "))
}

// healthy accepts workloads that cannot be scheduled only in a cluster that is seen to have no Node at all.
func healthy(in input, addons observation.Addons) outcome.Outcome {
	sets := []observation.AddonSet{addons.CSI, addons.CCM}
	if handover := in.Facts.Handover; handover != nil && handover.StartedAt != nil && handover.FinishedAt == nil {
		// While no one runs the cloud loops, a slow CSI driver must not prolong that.
		sets = sets[1:]
	}
	unhealthy, unschedulable := unhealthyWorkloads(sets)
	nodes, known := in.Nodes.Get()
	switch {
	case len(unhealthy) == 0 && len(addons.Obsolete) > 0:
		return outcome.Does(pruneVerb(addons.Obsolete))
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

func pruneVerb(obsolete []observation.Ref) outcome.Action {
	return outcome.Action{
		Kind: outcome.ActionPruneAddons, Objects: obsolete,
		Why: "Deleting addon objects that are not wanted any more: " + wording.Names(observation.RefNames(obsolete)) + ".",
	}
}

// addonsDrift repairs, and does not wait for health: what is broken by someone else is fixed. Once the migration is
// completed, it holds even when nothing can be looked at. While the guard is broken nothing is repaired: a person who
// stopped the CCM or closed its fence, because KCM runs the loops again, must not get it back from us.
func addonsDrift(in input) outcome.Outcome {
	guard := guard(in)
	if guard.Failure != nil {
		return outcome.Holds(ucv1.HoldsReason, "CCM and CSI were applied; they are not repaired while KCM may run cloud loops.")
	}
	switch finding, _ := checkReleased(in); {
	case finding == nil:
	case in.Facts.CompletedAt != nil:
		return outcome.Holds(ucv1.AddonsReleasedReason, "The CCM and the CSI driver are neither applied nor repaired, because "+
			"spec.addons.management is Released.")
	default:
		return outcome.Fails(finding.Reason, finding.Text())
	}
	out := drift(in)
	if out.Action != nil && !guard.Holds {
		return guard
	}
	return out
}

func drift(in input) outcome.Outcome {
	addons, known := in.Addons.Get()
	if !known {
		return unseenAddons(in)
	}
	if out := setApplied(in, outcome.CSISet, addons.CSI); !out.Holds {
		return out
	}
	if out := setApplied(in, outcome.CCMSet, addons.CCM); !out.Holds {
		return out
	}
	if probe := in.Probe.Value(); len(probe.Left) > 0 {
		return outcome.Does(pruneVerb(probe.Left))
	}
	healthy := healthy(in, addons)
	if healthy.Action != nil {
		return healthy
	}
	// The first Node must not meet a closed fence.
	if out := fenceStaysOpen(in); !out.Holds || healthy.Reason != ucv1.NoNodesReason {
		return out
	}
	return healthy
}

func unseenAddons(in input) outcome.Outcome {
	if in.Facts.CompletedAt != nil {
		return outcome.Holds(ucv1.HoldsReason, "CCM and CSI were applied; they cannot be looked at now: "+in.Addons.Why()+".")
	}
	if out := renderable(in); !out.Holds {
		return out
	}
	return outcome.CannotLook("the addons in the user cluster", in.Addons.Why())
}

// fenceStaysOpen opens it again after someone closed it, and asks for the proof before, as the first time.
func fenceStaysOpen(in input) outcome.Outcome {
	fence, seen := in.Fence.Get()
	if !seen || fence.Open {
		return outcome.Holds(ucv1.HoldsReason, "CCM and CSI are applied.")
	}
	if doubts := handover.Doubts(silence(in)); len(doubts) > 0 {
		return outcome.WaitsUntil(ucv1.ProvingSilenceReason,
			observation.Say("The fence was closed by someone and is not opened again yet. ", observation.Join(doubts, " ")), 2*time.Second)
	}
	if out := noOtherManager(in, byLease); !out.Holds {
		return out
	}
	return outcome.Does(openFenceVerb(fence))
}
