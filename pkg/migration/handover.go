package migration

import (
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// handover walks the protocol's table until the CCM leads; afterwards the guard takes over.
func (p *pass) handover() outcome.Outcome {
	if p.facts.Handover.FinishedAt != nil {
		return p.handedOver()
	}
	for _, l := range stagesOf(p.facts.Handover.Protocol) {
		p.facts.Handover.Stage = l.name
		out := l.evaluate(p)
		out.Stage = l.name
		if !out.Holds || out.Reason == ucv1.NoNodesReason {
			return p.failAfterDeadline(out)
		}
	}
	p.facts.Handover.FinishedAt = p.stamp()
	if p.facts.Handover.LockTakenAt == nil {
		p.facts.Handover.GapSeconds = p.gap()
	}
	p.facts.Handover.Stage = ""
	return outcome.Records("Recording that the CCM leads.")
}

// handedOver keeps the guard. A cluster that was created with the feature is done when its CCM was seen serving a Node:
// the first Node ends what NoNodes allowed.
func (p *pass) handedOver() outcome.Outcome {
	out := p.guarded()
	switch {
	case !out.Holds, p.facts.Origin != ucv1.OriginExternal, p.facts.CompletedAt != nil:
		return out
	}
	out = p.ccmCanServe()
	if !out.Holds || out.Reason == ucv1.NoNodesReason {
		return out
	}
	p.facts.CompletedAt = p.stamp()
	return outcome.Records("Recording that the CCM serves the cluster.")
}

// guarded is the guard, and what it does about a KCM that runs the cloud loops again.
func (p *pass) guarded() outcome.Outcome {
	out := p.guard()
	if out.Failure != nil && p.closesFence() {
		return p.beginAgain()
	}
	return p.aloneStill(out)
}

// failAfterDeadline turns a wait that lasts too long into a failure: from the first patch on, no one may be running the cloud
// loops.
func (p *pass) failAfterDeadline(out outcome.Outcome) outcome.Outcome {
	started := p.waitingSince()
	if out.Wait == nil || out.Wait.Unknown || started == nil || p.now.Sub(*started) <= p.o.Deadlines.Handover {
		return out
	}
	failed := outcome.Fails(out.Reason, "The hand-over began at "+started.UTC().Format(time.RFC3339)+
		" and no one may be running the cloud loops. ", out.Text(), p.undoOffer())
	failed.Stage = out.Stage
	return failed
}

// gap counts from the last end of a KCM process that we saw to now, rounded up: an upper bound of what the cloud saw.
func (p *pass) gap() *int64 {
	var last time.Time
	for _, process := range p.facts.Handover.Processes {
		if process.EndedAt != nil && process.EndedAt.After(last) {
			last = process.EndedAt.Time
		}
	}
	if last.IsZero() {
		return nil
	}
	seconds := int64(math.Ceil(p.now.Sub(last).Seconds()))
	return &seconds
}

func (p *pass) baselineTaken() outcome.Outcome {
	if p.facts.Origin == ucv1.OriginExternal || p.facts.Baseline != nil {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	inventory, known := p.o.Inventory.Get()
	if !known {
		return outcome.CannotLook("the load balancers and volumes", p.o.Inventory.Why())
	}
	// The digest is in the name: taken twice, by a pass that did not see the first one yet, it is another Secret.
	digest := inventory.Digest()
	name := p.o.Cluster.Name + "-ccm-migration-baseline-" + digest[:min(len(digest), 8)]
	p.facts.Baseline = &ucv1.BaselineStatus{SecretName: name, Digest: digest, TakenAt: p.stamp()}
	return outcome.Does(outcome.Action{
		Kind: outcome.ActionTakeBaseline, Objects: []observation.Ref{{Kind: "Secret", Namespace: p.o.Cluster.Namespace, Name: name}},
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
}

// processesRecorded persists the processes before the first patch: after it, no one could say what had been running.
func (p *pass) processesRecorded() outcome.Outcome {
	if p.facts.Handover.StartedAt != nil {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	controlPlane, known := p.o.ControlPlane.Get()
	if !known {
		return outcome.CannotLook("the control plane", p.o.ControlPlane.Why())
	}
	if unseen := controlPlane.KCM.Unseen; len(unseen) > 0 {
		return outcome.CannotLook("every static pod of "+controlPlane.KCM.Name, observation.Join(unseen, " ").Without("."))
	}
	for _, ask := range []func() outcome.Outcome{func() outcome.Outcome { return p.alone(byFence) }, p.nodesReady} {
		if out := ask(); !out.Holds {
			return out
		}
	}
	p.facts.Handover.StartedAt = p.stamp()
	p.facts.Handover.Processes = handover.RecordProcesses(nil, controlPlane.KCM)
	p.rememberOriginals(append(slices.Clone(controlPlane.Others), controlPlane.KCM)...)
	return outcome.Records(fmt.Sprintf("Recording %s of %s before it is changed.",
		wording.Count(len(p.facts.Handover.Processes), "process", "processes"), controlPlane.KCM))
}

// mergeProcesses takes over the ends that were seen, and adds processes that appeared since: a pod that the old
// template made after the list was written counts like the others.
func (p *pass) mergeProcesses() {
	recorded := p.facts.Handover
	if recorded == nil || recorded.StartedAt == nil || recorded.FinishedAt != nil {
		return
	}
	if len(p.o.Processes) > 0 {
		recorded.Processes = p.o.Processes
	}
	if controlPlane, known := p.o.ControlPlane.Get(); known {
		recorded.Processes = handover.RecordProcesses(recorded.Processes, controlPlane.KCM)
	}
}

func (p *pass) loopsOff() outcome.Outcome {
	controlPlane, known := p.o.ControlPlane.Get()
	if !known {
		return outcome.CannotLook("the control plane", p.o.ControlPlane.Why())
	}
	kcm := controlPlane.KCM
	if !kcm.Arguments.Understood() {
		return outcome.Fails(ucv1.InputInvalidReason, kcm, ": "+kcm.Arguments.Problem)
	}
	if p.o.Cluster.Spec.ControlPlane.Instructed() {
		return p.loopsOffByOthers(kcm)
	}
	loops, noted := kcm.Arguments.CloudLoops(), p.facts.Handover.LoopsOffAt != nil
	switch {
	case len(loops) == 0 && noted:
		return outcome.Holds(ucv1.HoldsReason, "")
	case len(loops) > 0 && noted:
		return p.contention(handover.Contended(kcm))
	case len(loops) == 0:
		// Without the note, loops that come back would be taken for those that no one has switched off yet.
		p.facts.Handover.LoopsOffAt = p.stamp()
		return outcome.Records("Recording that the arguments of " + kcm.String() + " switch the cloud loops off.")
	}
	if out := p.nodesReady(); !out.Holds {
		return out
	}
	if !p.rememberOriginals(kcm) {
		return outcome.Records("Recording the arguments of " + kcm.String() + " before they are changed.")
	}
	p.facts.Handover.LoopsOffAt = p.stamp()
	return outcome.Does(p.switchLoopsOff(kcm, loops))
}

// switchLoopsOff sets feature gates, too: step VolumeMigration would roll KCM out once more, a minute later. They may come this
// early: each Node says in its CSINode which plugins are migrated on it, and KCM goes by that.
// https://github.com/kubernetes/kubernetes/blob/v1.25.16/pkg/controller/volume/attachdetach/util/util.go
// (isCSIMigrationSupportedOnNode).
func (p *pass) switchLoopsOff(kcm observation.Component, loops []string) outcome.Action {
	action := outcome.Action{
		Kind:    outcome.ActionChangeArguments,
		Objects: []observation.Ref{kcm.Ref},
		Why:     "Switching the cloud loops off in " + kcm.String() + ": " + wording.Names(loops),
		Arguments: &outcome.ArgumentChange{
			Target:    kcm.Ref,
			Container: kcm.Container,
			Set:       []outcome.Flag{loopsOffFlag(kcm.Arguments, p.minor())},
		},
	}
	gates := p.o.Provider.Value().MigrationGates
	if missing := missingGates(kcm.Arguments, gates); len(missing) > 0 {
		action.Arguments.Set = append(action.Arguments.Set, gatesFlag(kcm.Arguments, gates))
		action.Why += "; and feature gates on: " + wording.Names(missing)
	}
	action.Why += "."
	return action
}

func (p *pass) silent() outcome.Outcome {
	doubts := handover.Doubts(p.silence())
	if len(doubts) == 0 {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	if guard := p.guard(); p.facts.Handover.ContendedAt != nil && guard.Failure != nil {
		return p.contention(guard.Text())
	}
	// A doubt that rests on waiting ends by the clock, not by an event.
	return outcome.WaitsUntil(ucv1.ProvingSilenceReason, observation.Join(doubts, " "), 2*time.Second)
}

func (p *pass) fenceOpen() outcome.Outcome {
	fence, known := p.o.Fence.Get()
	switch {
	case !known:
		return outcome.CannotLook("the fence", p.o.Fence.Why())
	case fence.Open:
		if p.facts.Handover.FenceOpenedAt == nil {
			p.facts.Handover.FenceOpenedAt = p.stamp()
		}
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	if out := p.alone(byLease); !out.Holds {
		return out
	}
	if out := p.nodesReady(); !out.Holds {
		return out
	}
	if p.o.CCMLease.IsUnknown() {
		return outcome.CannotLook("the CCM's Lease", p.o.CCMLease.Why())
	}
	if lease := p.o.CCMLease.Value(); lease.Holder != "" && lease.Stale(p.now) {
		return outcome.Does(outcome.Action{
			Kind: outcome.ActionReleaseCCMLease, Objects: []observation.Ref{lease.Ref},
			Why: "Clearing " + lease.Holder + " from " + lease.String() +
				", which has run out: a CCM that could not read it would wait for that once more.",
		})
	}
	if p.facts.Handover.FenceOpenedAt == nil {
		p.facts.Handover.FenceOpenedAt = p.stamp()
	}
	return outcome.Does(openFenceVerb(fence))
}

func openFenceVerb(fence observation.Fence) outcome.Action {
	return outcome.Action{Kind: outcome.ActionOpenFence, Why: "Opening the fence: " + fence.Identity + " may now write " +
		fence.Lease + "."}
}

// nodesReady protects Nodes: the lifecycle loop deletes NotReady Nodes that the cloud does not know.
func (p *pass) nodesReady() outcome.Outcome {
	nodes, known := p.o.Nodes.Get()
	if !known {
		return outcome.CannotLook("the Nodes", p.o.Nodes.Why())
	}
	var notReady []string
	for _, node := range nodes {
		if !node.Ready {
			notReady = append(notReady, node.Name)
		}
	}
	if len(notReady) > 0 {
		return outcome.Waits(ucv1.NodesNotReadyReason, "These Nodes are not Ready, and the cloud loops would delete them if the "+
			"cloud does not know them: "+
			wording.Names(notReady)+". Repair or delete them.")
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

func (p *pass) leading() outcome.Outcome {
	if out := p.ccmLeads(); out.Holds {
		return out
	} else if out.Wait != nil && out.Wait.Unknown {
		return out
	}
	nodes, known := p.o.Nodes.Get()
	switch {
	case !known:
		return outcome.CannotLook("the Nodes", p.o.Nodes.Why())
	case len(nodes) == 0:
		return p.finishWithoutNodes()
	}
	since := p.mayLeadSince()
	if waited := p.now.Sub(since); waited > p.o.Deadlines.Leader {
		return outcome.Fails(ucv1.LeaderDeadlineExceededReason, "The CCM may lead since "+since.UTC().Format(time.RFC3339)+
			", but does not lead yet.", sentences(p.o.Addons.Value().CCM.Unhealthy), " Look at the logs of its pods in the user cluster.",
			p.undoOffer())
	}
	return outcome.WaitsUntil(ucv1.WaitingForLeaderReason, "The fence is open; waiting for the CCM to lead.", 2*time.Second)
}

// mayLeadSince is when the CCM's time to lead began: by the migration lock it is waited for three times.
func (p *pass) mayLeadSince() time.Time {
	handover := p.facts.Handover
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
func (p *pass) finishWithoutNodes() outcome.Outcome {
	p.facts.Handover.FinishedAt = p.stamp()
	p.facts.Handover.Stage = ""
	out := outcome.Records("Recording that the hand-over is done; the CCM leads as soon as there is a Node.")
	out.Reason = ucv1.NoNodesReason
	return out
}

// ccmLeads needs a holder and a renewal that we saw; a Lease that stands still proves nothing.
func (p *pass) ccmLeads() outcome.Outcome {
	lease, known := p.o.CCMLease.Get()
	switch {
	case p.o.CCMLease.IsAbsent():
		return outcome.Waits(ucv1.WaitingForLeaderReason, "The CCM's Lease does not exist.")
	case !known:
		return outcome.CannotLook("the CCM's Lease", p.o.CCMLease.Why())
	case lease.Holder == "":
		return outcome.Waits(ucv1.WaitingForLeaderReason, lease, " has no holder.")
	}
	if !lease.Renewed(p.now) {
		return outcome.WaitsUntil(
			ucv1.WaitingForLeaderReason,
			observation.Say(lease, " is not being renewed by "+lease.Holder+"."),
			2*time.Second,
		)
	}
	return outcome.Holds(ucv1.HoldsReason, "KCM is silent and the CCM leads.")
}

func (p *pass) minor() int {
	return observation.MinorOf(p.o.Cluster.Spec.Version)
}
