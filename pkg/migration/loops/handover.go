package loops

import (
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/noreturn"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// HandOver walks the protocol's table until the CCM leads; afterwards the guard takes over.
func HandOver(in pass.Input) outcome.Outcome {
	if in.Facts.Handover.FinishedAt != nil {
		return keepHandedOver(in)
	}
	var instructions []ucv1.Instruction
	for _, l := range stagesOf(in.Facts.Handover.Protocol, in.Facts.Handover.LeaderMigration) {
		out := l.evaluate(in)
		in, instructions = in.With(out), append(instructions, out.Instructions...)
		if !out.Holds || out.Reason == ucv1.NoNodesReason {
			out = failAfterDeadline(in, out)
			out.Stage, out.Instructions = l.name, instructions
			return in.Adds(out, func(facts *ucv1.Facts) { noteStage(facts, l.name) })
		}
	}
	return in.Records("Recording that the CCM leads.", func(facts *ucv1.Facts) {
		facts.Handover.FinishedAt, facts.Handover.Stage = in.Stamp(), ""
		if facts.Handover.LockTakenAt == nil {
			facts.Handover.GapSeconds = gapSeconds(in)
		}
	})
}

// noteStage unless the hand-over is finished.
func noteStage(facts *ucv1.Facts, name string) {
	if facts.Handover.FinishedAt == nil {
		facts.Handover.Stage = name
	}
}

// keepHandedOver keeps the guard. A cluster that was created with the feature is done when its CCM was seen serving a Node:
// the first Node ends what NoNodes allowed.
func keepHandedOver(in pass.Input) outcome.Outcome {
	out := Guarded(in)
	switch {
	case !out.Holds, in.Facts.Origin != ucv1.OriginExternal, in.Facts.CompletedAt != nil:
		return out
	}
	out = CCMCanServe(in)
	if !out.Holds || out.Reason == ucv1.NoNodesReason {
		return out
	}
	return in.Records("Recording that the CCM serves the cluster.", func(facts *ucv1.Facts) { facts.CompletedAt = in.Stamp() })
}

// Guarded is the guard, and what it does about a KCM that runs the cloud loops again.
func Guarded(in pass.Input) outcome.Outcome {
	out := Guard(in)
	if out.Failure != nil && closesFence(in) {
		return beginAgain(in)
	}
	return start.AloneStill(in, out)
}

// failAfterDeadline turns a wait that lasts too long into a failure, unless a person asked for it: from when the loops are off in
// a part of KCM, no one may be running them.
func failAfterDeadline(in pass.Input, out outcome.Outcome) outcome.Outcome {
	started := components.WaitingSince(in)
	if out.Wait == nil || out.Wait.Unknown || started == nil || in.Now.Sub(*started) <= in.Deadlines.Handover ||
		out.Reason == ucv1.WaitingBeforePointOfNoReturnReason {
		return out
	}
	since, recorded := started.UTC().Format(time.RFC3339), in.Facts.Handover
	late := "no one may be running the cloud loops since the hand-over began at " + since
	if recorded.LoopsOffAt == nil && recorded.ChangingSince == nil {
		late = "the hand-over has waited since " + since
	}
	return outcome.Fails(out.Reason, out.Text().Also(late).Also(noreturn.OfferRollback(in)))
}

// gapSeconds counts from the last end of a KCM process that we saw to now, rounded up: an upper bound of what the cloud saw.
func gapSeconds(in pass.Input) *int64 {
	var last time.Time
	for _, process := range in.Facts.Handover.Processes {
		if process.EndedAt != nil && process.EndedAt.After(last) {
			last = process.EndedAt.Time
		}
	}
	if last.IsZero() {
		return nil
	}
	seconds := int64(math.Ceil(in.Now.Sub(last).Seconds()))
	return &seconds
}

func baselineTaken(in pass.Input) outcome.Outcome {
	if in.Facts.Origin == ucv1.OriginExternal || in.Facts.Baseline != nil {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	inventory, known := in.Inventory.Get()
	if !known {
		return outcome.CannotLook("the load balancers and volumes", in.Inventory.Why())
	}
	// The digest is in the name: taken twice, by a pass that did not see the first one yet, it is another Secret.
	digest := inventory.Digest()
	name := in.Cluster.Name + "-ccm-migration-baseline-" + digest[:min(len(digest), 8)]
	out := outcome.Does(outcome.Action{
		Kind: outcome.ActionTakeBaseline, Objects: []observation.Ref{{Kind: "Secret", Namespace: in.Cluster.Namespace, Name: name}},
		Why: fmt.Sprintf(
			"Storing the inventory: %s, %s.",
			wording.Count(
				len(inventory.LoadBalancers),
				"load balancer",
				"load balancers",
			),
			wording.Count(len(inventory.Volumes), "volume", "volumes"),
		),
	})
	return in.Adds(out, func(facts *ucv1.Facts) {
		facts.Baseline = &ucv1.BaselineStatus{SecretName: name, Digest: digest, TakenAt: in.Stamp()}
	})
}

// processesRecorded persists the processes before the first patch: after it, no one could say what had been running.
func processesRecorded(in pass.Input) outcome.Outcome {
	if in.Facts.Handover.StartedAt != nil {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	controlPlane, known := in.ControlPlane.Get()
	if !known {
		return outcome.CannotLook("the control plane", in.ControlPlane.Why())
	}
	if unseen := controlPlane.KCM.Unseen; len(unseen) > 0 {
		return outcome.CannotLook("every static pod of "+controlPlane.KCM.Name, observation.Join(unseen, " ").Without("."))
	}
	if out := start.NoOtherManager(in, start.ByFence); !out.Holds {
		return out
	}
	if out := pass.NodesReady(in); !out.Holds {
		return out
	}
	processes := handover.RecordProcesses(nil, controlPlane.KCM)
	why := fmt.Sprintf("Recording %s of %s before it is changed.", wording.Count(len(processes), "process", "processes"),
		controlPlane.KCM)
	return in.Records(why, func(facts *ucv1.Facts) {
		facts.Handover.StartedAt, facts.Handover.Processes = in.Stamp(), processes
		components.KeepOriginals(facts, controlPlane.KCM, append(slices.Clone(controlPlane.Others), controlPlane.KCM)...)
	})
}

// MergeProcesses takes over the ends that were seen, and adds processes that appeared since: a pod that the old
// template made after the list was written counts like the others.
func MergeProcesses(in pass.Input) pass.Input {
	recorded := in.Facts.Handover
	if recorded == nil || recorded.StartedAt == nil || recorded.FinishedAt != nil {
		return in
	}
	return in.From(in.Changed(func(facts *ucv1.Facts) {
		if len(in.Processes) > 0 {
			facts.Handover.Processes = in.Processes
		}
		if controlPlane, known := in.ControlPlane.Get(); known {
			facts.Handover.Processes = handover.RecordProcesses(facts.Handover.Processes, controlPlane.KCM)
		}
	}))
}

func loopsOff(in pass.Input) outcome.Outcome {
	controlPlane, known := in.ControlPlane.Get()
	if !known {
		return outcome.CannotLook("the control plane", in.ControlPlane.Why())
	}
	kcm := controlPlane.KCM
	if !kcm.Arguments.Understood() {
		return outcome.Fails(ucv1.InputInvalidReason, kcm, ": "+kcm.Arguments.Problem, ".")
	}
	if in.Cluster.Spec.ControlPlane.Instructed() {
		return loopsOffByOthers(in, kcm)
	}
	loops, noted := kcm.Arguments.CloudLoops(), in.Facts.Handover.LoopsOffAt != nil
	switch {
	case len(loops) == 0 && noted:
		return outcome.Holds(ucv1.HoldsReason, "")
	case len(loops) > 0 && noted:
		return contention(in, handover.Contended(kcm))
	case len(loops) == 0:
		// Without the note, loops that come back would be taken for those that no one has switched off yet.
		return in.Records("Recording that the arguments of "+kcm.String()+" switch the cloud loops off.", loopsOffNow(in))
	}
	if out := pass.NodesReady(in); !out.Holds {
		return out
	}
	if out := components.OriginalsKept(in, kcm); !out.Holds {
		return out
	}
	return in.Adds(outcome.Does(switchLoopsOff(in, kcm, loops)), loopsOffNow(in))
}

func loopsOffNow(in pass.Input) func(*ucv1.Facts) {
	return func(facts *ucv1.Facts) { facts.Handover.LoopsOffAt = in.Stamp() }
}

// switchLoopsOff sets feature gates, too: step VolumeMigration would roll KCM out once more, a minute later. They may come this
// early: each Node says in its CSINode which plugins are migrated on it, and KCM goes by that.
// https://github.com/kubernetes/kubernetes/blob/v1.25.16/pkg/controller/volume/attachdetach/util/util.go
// (isCSIMigrationSupportedOnNode).
func switchLoopsOff(in pass.Input, kcm observation.Component, loops []string) outcome.Action {
	action := outcome.Action{
		Kind:    outcome.ActionChangeArguments,
		Objects: []observation.Ref{kcm.Ref},
		Why:     "Switching the cloud loops off in " + kcm.String() + ": " + wording.Names(loops),
		Arguments: &outcome.ArgumentChange{
			Target:    kcm.Ref,
			Container: kcm.Container,
			Set:       []outcome.Flag{components.LoopsOffFlag(kcm.Arguments, in.KCMMinor())},
		},
	}
	gates := in.Provider.Value().MigrationGates
	if missing := components.MissingGates(kcm.Arguments, gates); len(missing) > 0 {
		action.Arguments.Set = append(action.Arguments.Set, components.GatesFlag(kcm.Arguments, gates))
		action.Why += "; and feature gates on: " + wording.Names(missing)
	}
	action.Why += "."
	return action
}

func silent(in pass.Input) outcome.Outcome {
	doubts := handover.Doubts(Silence(in))
	if len(doubts) == 0 {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	if guard := Guard(in); in.Facts.Handover.ContendedAt != nil && guard.Failure != nil {
		return contention(in, guard.Text())
	}
	// A doubt that rests on waiting ends by the clock, not by an event.
	return outcome.WaitsUntil(ucv1.ProvingSilenceReason, observation.Clauses(doubts), 2*time.Second)
}

func fenceOpen(in pass.Input) outcome.Outcome {
	fence, known := in.Fence.Get()
	switch {
	case !known:
		return outcome.CannotLook("the fence", in.Fence.Why())
	case fence.Open:
		return noteFenceOpened(in, outcome.Holds(ucv1.HoldsReason, ""))
	}
	if out := start.NoOtherManager(in, start.ByLease); !out.Holds {
		return out
	}
	if out := pass.NodesReady(in); !out.Holds {
		return out
	}
	if in.CCMLease.IsUnknown() {
		return outcome.CannotLook("the CCM's Lease", in.CCMLease.Why())
	}
	if lease := in.CCMLease.Value(); lease.Holder != "" && lease.Stale(in.Now) {
		return outcome.Does(outcome.Action{
			Kind: outcome.ActionReleaseCCMLease, Objects: []observation.Ref{lease.Ref},
			Why: "Clearing " + lease.Holder + " from " + lease.String() +
				", which has run out: a CCM that could not read it would wait for that once more.",
		})
	}
	return noteFenceOpened(in, outcome.Does(openFenceVerb(fence)))
}

func noteFenceOpened(in pass.Input, out outcome.Outcome) outcome.Outcome {
	if in.Facts.Handover.FenceOpenedAt != nil {
		return out
	}
	return in.Adds(out, func(facts *ucv1.Facts) { facts.Handover.FenceOpenedAt = in.Stamp() })
}

func openFenceVerb(fence observation.Fence) outcome.Action {
	return outcome.Action{Kind: outcome.ActionOpenFence, Why: "Opening the fence: " + fence.Identity + " may now write " +
		fence.Lease + "."}
}

func leading(in pass.Input) outcome.Outcome {
	if out := ccmLeads(in); out.Holds {
		return out
	} else if out.Wait != nil && out.Wait.Unknown {
		return out
	}
	nodes, known := in.Nodes.Get()
	switch {
	case !known:
		return outcome.CannotLook("the Nodes", in.Nodes.Why())
	case len(nodes) == 0:
		return finishWithoutNodes(in)
	}
	since := mayLeadSince(in)
	if waited := in.Now.Sub(since); waited > in.Deadlines.Leader {
		seen := observation.Say("The CCM may lead since " + since.UTC().Format(time.RFC3339) + ", but does not lead yet.").
			Also(observation.Join(in.Addons.Value().CCM.Unhealthy, "; "))
		return outcome.Fails(ucv1.LeaderDeadlineExceededReason,
			observation.Say(seen, " Look at the logs of its pods in the user cluster.").Also(noreturn.OfferRollback(in)))
	}
	return outcome.WaitsUntil(ucv1.WaitingForLeaderReason, "The fence is open; waiting for the CCM to lead.", 2*time.Second)
}

// mayLeadSince is when the CCM's time to lead began: by the migration lock it is waited for three times.
func mayLeadSince(in pass.Input) time.Time {
	handover := in.Facts.Handover
	since := handover.FenceOpenedAt.Time
	for _, later := range []*metav1.Time{handover.LoopsOffAt, handover.LockTakenAt} {
		if handover.Protocol == ucv1.LeaderMigrationProtocol && later != nil && later.After(since) {
			since = later.Time
		}
	}
	return since
}

// finishWithoutNodes ends the hand-over of a cluster that has nothing for a CCM to run on: the loops have nothing to do
// there either, and the first Node starts them.
func finishWithoutNodes(in pass.Input) outcome.Outcome {
	why := "Recording that the hand-over is done; the CCM leads as soon as there is a Node."
	out := in.Records(why, func(facts *ucv1.Facts) { facts.Handover.FinishedAt, facts.Handover.Stage = in.Stamp(), "" })
	out.Reason = ucv1.NoNodesReason
	return out
}

// ccmLeads needs a holder and a renewal that we saw; a Lease that stands still proves nothing.
func ccmLeads(in pass.Input) outcome.Outcome {
	lease, known := in.CCMLease.Get()
	switch {
	case in.CCMLease.IsAbsent():
		return outcome.Waits(ucv1.WaitingForLeaderReason, "The CCM's Lease does not exist.")
	case !known:
		return outcome.CannotLook("the CCM's Lease", in.CCMLease.Why())
	case lease.Holder == "":
		return outcome.Waits(ucv1.WaitingForLeaderReason, lease, " has no holder.")
	}
	if !lease.Renewed(in.Now) {
		return outcome.WaitsUntil(
			ucv1.WaitingForLeaderReason,
			observation.Say(lease, " is not being renewed by "+lease.Holder+"."),
			2*time.Second,
		)
	}
	return outcome.Holds(ucv1.HoldsReason, "KCM is silent and the CCM leads.")
}
