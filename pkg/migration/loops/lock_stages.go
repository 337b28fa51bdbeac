package loops

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// lockStages are the lines of protocol LeaderMigration behind the first three. When the CCM has taken the lock no one is to
// have it any more: those that are about giving it hold then, also when the hand-over is begun again.
//
//	KCM with the lock ──► CCM with the lock ──► KCM without loops and lock ──► CCM takes the lock ──► CCM without the lock
//
// Across minors the control plane is upgraded before the CCM comes.
func lockStages(settled stage, upgrade []stage, last, silent stage) []stage {
	return slices.Concat([]stage{
		{"LockAllowed", "The Lease of the migration lock exists, and both managers may get and update it.", lockAllowed},
		{
			"KCMArmed", "Every KCM process that may run cloud loops has the migration lock, and one of them holds it. Every other one " +
				"has ended.",
			kcmArmed,
		},
		settled,
	}, upgrade, []stage{
		{
			"CCMArmed",
			"The CCM has the same lock; its fence is open, which was when every Node was Ready, and it leads.",
			ccmArmed,
		},
		last,
		{"LoopsOff", "The arguments of KCM's Deployment switch the cloud loops off, and have no lock.", lockLeavesKCM},
		silent,
		{"LockTaken", "The CCM holds the migration lock.", lockTaken},
		{"LockRemoved", "The CCM runs without the lock, no one holds it, and nothing of it is left.", lockRemoved},
		{"FenceOpen", "The CCM's identity may write its Lease.", fenceOpen},
		{"Leading", "The CCM holds its Lease and renews it.", leading},
	})
}

func lockAllowed(in pass.Input) outcome.Outcome {
	lock, known := in.Lock.Get()
	switch {
	case !start.WantsLock(in.Facts):
		return outcome.Holds(ucv1.HoldsReason, "")
	case !known:
		return outcome.CannotLook("the migration lock", in.Lock.Why())
	case in.Fence.IsUnknown():
		// Both managers get the lock behind a fence; across minors no row above has looked at it.
		return outcome.CannotLook("the fence", in.Fence.Why())
	case !lock.Granted:
		return outcome.Does(outcome.Action{Kind: outcome.ActionAllowLock, Why: "Making the Lease of the migration lock, and letting " +
			"both managers hold it."})
	case len(lock.Denied) > 0:
		// The authorizer sees new rules a moment later.
		return outcome.WaitsUntil(ucv1.ArmingReason, wording.Clauses(lock.Denied)+" Our Role and RoleBinding are there; look for "+
			"an authorizer that denies it.", 2*time.Second)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// kcmArmed gives KCM the lock once. Without it again, someone else did it.
func kcmArmed(in pass.Input) outcome.Outcome {
	if !start.WantsLock(in.Facts) || in.Facts.Handover.LoopsOffAt != nil && in.Fence.Value().Open {
		return outcome.Holds(ucv1.HoldsReason, "") // Its loops are off, which the next lines are about.
	}
	controlPlane, known := in.ControlPlane.Get()
	if !known {
		return outcome.CannotLook("the control plane", in.ControlPlane.Why())
	}
	kcm := controlPlane.KCM
	if !kcm.Arguments.Understood() {
		return outcome.Fails(ucv1.InputInvalidReason, kcm, ": "+kcm.Arguments.Problem, ".")
	}
	if in.Cluster.Spec.ControlPlane.Instructed() {
		return armedByOthers(in, kcm)
	}
	return armedByUs(in, kcm)
}

func armedByUs(in pass.Input, kcm observation.Component) outcome.Outcome {
	if handover.MayRunUnlocked(kcm.Arguments) {
		if in.Facts.Handover.LockArmedAt != nil {
			return contention(in, handover.Contended(kcm))
		}
		return armKCM(in, kcm)
	}
	if in.Facts.Handover.LockArmedAt == nil && handover.Armed(kcm.Arguments) {
		return in.Records("Recording that "+kcm.String()+" has the migration lock.", lockArmedNow(in))
	}
	if doubts := handover.LockDoubts(Silence(in)); len(doubts) > 0 {
		return outcome.WaitsUntil(ucv1.ArmingReason, staysBehind(in, observation.Clauses(doubts)), 2*time.Second)
	}
	return lockHeld(in, kcm)
}

// staysBehind says what KCM needs where its owner may have upgraded it with kube-apiserver, which has no deadline.
func staysBehind(in pass.Input, doubts observation.Text) observation.Text {
	if !start.AwaitsUpgrade(in.Facts) {
		return doubts
	}
	return doubts.Also(fmt.Sprintf("leave KCM at 1.%d, or take the lock out in the rollout that upgrades it", in.KCMMinor()))
}

func armKCM(in pass.Input, kcm observation.Component) outcome.Outcome {
	change, out := arming(in, kcm)
	if change == nil {
		return out
	}
	if out := pass.NodesReady(in); !out.Holds {
		return out
	}
	return in.Adds(outcome.Does(outcome.Action{
		Kind: outcome.ActionChangeArguments, Objects: []observation.Ref{kcm.Ref}, Arguments: change,
		Why: "Giving " + kcm.String() + " the migration lock.",
	}), lockArmedNow(in))
}

// arming is the change that gives KCM the lock; nil with why there is none.
func arming(in pass.Input, kcm observation.Component) (*outcome.ArgumentChange, outcome.Outcome) {
	if !in.Provider.IsKnown() {
		return nil, outcome.CannotLook("the catalogue", in.Provider.Why())
	}
	configuration, problems := handover.RenderLock(in.Cluster, in.Provider.Value().InTreeName)
	if len(problems) > 0 {
		return nil, outcome.Fails(ucv1.MigrationLockRefusedReason, wording.Clauses(problems))
	}
	file := configuration.File
	file.ConfigMap = handover.LockConfigMap(in.Cluster)
	change := &outcome.ArgumentChange{Target: kcm.Ref, Container: kcm.Container, Set: configuration.Flags, Mount: &file}
	return change, outcome.Outcome{}
}

func lockArmedNow(in pass.Input) func(*ucv1.Facts) {
	return func(facts *ucv1.Facts) { facts.Handover.LockArmedAt = in.Stamp() }
}

// lockHeld asks for a holder before the CCM comes: a KCM that cannot get the lock runs no loop, and would say nothing.
func lockHeld(in pass.Input, kcm observation.Component) outcome.Outcome {
	lock, known := in.Lock.Get()
	switch {
	case !handover.Armed(kcm.Arguments):
		return outcome.Holds(ucv1.HoldsReason, "") // The loops are off there already.
	case !known:
		return outcome.CannotLook("the migration lock", in.Lock.Why())
	case lock.Lease.Holder == "" || !lock.Lease.Renewed(in.Now):
		return outcome.WaitsUntil(
			ucv1.ArmingReason,
			"No one holds the migration lock yet. If it stays so, KCM is not "+
				handover.KCMUser+" in the user cluster: let its user write Lease "+
				handover.LockName+".",
			2*time.Second,
		)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// ccmArmed: the CCM was applied with the lock, behind the fence: by the row Addons from the beginning, or across minors by the
// line before.
func ccmArmed(in pass.Input) outcome.Outcome {
	if !start.WantsLock(in.Facts) {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	open := fenceOpen(in)
	if !open.Holds {
		return open
	}
	leads := leadsUnlessEmpty(in.With(open))
	leads.Facts = cmp.Or(leads.Facts, open.Facts)
	return leads
}

// leadsUnlessEmpty: without Nodes no CCM runs, and the loops have nothing to do. The last line deals with that.
func leadsUnlessEmpty(in pass.Input) outcome.Outcome {
	if nodes, known := in.Nodes.Get(); known && len(nodes) == 0 {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	return leading(in)
}

// lockLeavesKCM switches the loops off and takes the lock out in one change.
func lockLeavesKCM(in pass.Input) outcome.Outcome {
	out := loopsOff(in)
	if out.Action != nil && out.Action.Arguments != nil {
		components.Disarm(out.Action.Arguments)
	}
	if !out.Holds {
		return out
	}
	kcm := in.ControlPlane.Value().KCM
	if !handover.Armed(kcm.Arguments) {
		return out
	}
	change := &outcome.ArgumentChange{Target: kcm.Ref, Container: kcm.Container}
	components.Disarm(change)
	return outcome.Does(outcome.Action{
		Kind: outcome.ActionChangeArguments, Objects: []observation.Ref{kcm.Ref}, Arguments: change,
		Why: "Taking the migration lock out of " + kcm.String() + ", which runs no cloud loop.",
	})
}

// lockTaken is the moment at which the CCM runs the loops: it runs them while it holds both Leases.
func lockTaken(in pass.Input) outcome.Outcome {
	if !start.WantsLock(in.Facts) {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	lock, known := in.Lock.Get()
	nodes, nodesKnown := in.Nodes.Get()
	if !known {
		return outcome.CannotLook("the migration lock", in.Lock.Why())
	}
	taken := lock.Lease.Holder != "" && lock.Lease.Holder == in.CCMLease.Value().Holder && lock.Lease.Renewed(in.Now)
	if !taken && (!nodesKnown || len(nodes) > 0) {
		return lockAwaited(in, lock.Lease)
	}
	return in.Records("Recording that the CCM has the migration lock, which no one needs any more.", func(facts *ucv1.Facts) {
		facts.Handover.LockTakenAt = in.Stamp()
		if taken {
			facts.Handover.GapSeconds = lockGap(in)
		}
	})
}

// lockAwaited frees a lock whose holder has ended: the CCM would wait for one lease duration otherwise. A KCM that was not
// seen to end keeps it, because its process could go on.
func lockAwaited(in pass.Input, lease observation.Lease) outcome.Outcome {
	if lease.Holder != "" && handover.HeldByTheDead(in.Facts.Handover.Processes, lease) {
		return outcome.Does(outcome.Action{
			Kind: outcome.ActionReleaseLock, Objects: []observation.Ref{lease.Ref},
			Why: "Clearing " + lease.Holder + ", which was seen to end, from " + lease.String() + ", so that the CCM takes it now.",
		})
	}
	if out := leading(in); !out.Holds {
		return out
	}
	return outcome.WaitsUntil(ucv1.ArmingReason, "KCM is silent; waiting for the CCM to take the migration lock, which takes one "+
		"lease duration at most.", 2*time.Second)
}

// lockGap counts from the first end of a KCM process after the loops were switched off: its holder did not end before.
func lockGap(in pass.Input) *int64 {
	off := in.Facts.Handover.LoopsOffAt
	var first *metav1.MicroTime
	for _, process := range in.Facts.Handover.Processes {
		if end := process.EndedAt; end != nil && off != nil && !end.Time.Before(off.Time) && (first == nil || end.Before(first)) {
			first = end
		}
	}
	if first == nil {
		return nil
	}
	seconds := int64(math.Ceil(in.Now.Sub(first.Time).Seconds()))
	return &seconds
}

// lockRemoved rolls the CCM out without the lock. KCM is silent, so that whoever held it is gone then.
func lockRemoved(in pass.Input) outcome.Outcome {
	if out := workloadApplied(in); !out.Holds {
		return out
	}
	return LockGone(in)
}

// UnusedLock deletes what was made for a lock that no one was given; where it cannot be looked at, it is left.
func UnusedLock(in pass.Input) outcome.Outcome {
	recorded := in.Facts.Handover
	if !in.Lock.IsKnown() || recorded == nil || recorded.StartedAt == nil || recorded.FinishedAt != nil {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	return LockGone(in)
}

// LockGone deletes what is left of the lock when no one holds it.
func LockGone(in pass.Input) outcome.Outcome {
	lock, known := in.Lock.Get()
	switch {
	case in.Facts.Handover.ContendedAt != nil:
		return outcome.Holds(ucv1.HoldsReason, "") // It was removed before the hand-over was begun again.
	case !known:
		return outcome.CannotLook("the migration lock", in.Lock.Why())
	case lock.Lease.Holder != "" && !lock.Lease.Stale(in.Now):
		return outcome.WaitsUntil(
			ucv1.ArmingReason,
			observation.Say(lock.Lease, " is still held by "+lock.Lease.Holder+"; it is deleted when no one holds it."),
			2*time.Second,
		)
	case len(lock.Left) > 0:
		return outcome.Does(outcome.Action{
			Kind: outcome.ActionRemoveLock, Objects: lock.Left, Why: "Deleting what is left of the migration lock: " +
				wording.Names(observation.RefNames(lock.Left)) + ".",
		})
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}
