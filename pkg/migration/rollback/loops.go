package rollback

import (
	"maps"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Loops is the only place that gives cloud loops back to KCM. The rows above it hold in this very pass: the fence is
// closed, the CCM is gone, and its Lease has run out.
func Loops(in pass.Input) outcome.Outcome {
	kcm := in.ControlPlane.Value().KCM
	if !kcm.Arguments.Understood() {
		return outcome.Fails(ucv1.InputInvalidReason, kcm, ": "+kcm.Arguments.Problem, ".")
	}
	for _, check := range []func(pass.Input, observation.Component) outcome.Outcome{inTreeProvider, loopsAsBefore, kcmLeads} {
		if out := check(in, kcm); !out.Holds {
			return out
		}
	}
	changed, unknown := pass.InventoryChanges(in)
	switch {
	case unknown != "":
		return outcome.CannotLook("the inventory", unknown)
	case len(changed) > 0:
		return outcome.Fails(ucv1.InventoryChangedReason, "Not as before the hand-over: ", observation.Names(changed),
			". Look at KCM's events of these objects; name one in spec.rollout.acceptChanges if it is meant to be so.")
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// inTreeProvider: without it KCM runs no cloud loop, whatever --controllers says.
func inTreeProvider(in pass.Input, kcm observation.Component) outcome.Outcome {
	provider, known := in.Provider.Get()
	if !known {
		return outcome.CannotLook("the catalogue", in.Provider.Why())
	}
	if has, _ := kcm.Arguments.Flag("cloud-provider"); provider.InTreeName != "" && has != provider.InTreeName {
		return outcome.Fails(ucv1.CloudLoopsContendedReason, kcm, " was given --cloud-provider="+has+" by "+handover.Owner(kcm)+
			" and runs no cloud loop; set it to "+provider.InTreeName+" where it gets its arguments from.")
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// loopsAsBefore compares loops, not flags: someone else may have put them back in another spelling.
func loopsAsBefore(in pass.Input, kcm observation.Component) outcome.Outcome {
	kept := components.Original(in.Facts, kcm.Name)
	if kept == nil && in.Facts.Handover.LoopsOffAt != nil && len(kcm.Arguments.CloudLoops()) == 0 {
		return outcome.Fails(ucv1.InputInvalidReason, "What --controllers of ", kcm, " was is not in "+
			"status.handover.original; set it by hand.")
	}
	if in.Cluster.Spec.ControlPlane.Instructed() {
		return loopsOnByOthers(in, kcm, kept)
	}
	if change := givenBack(in, kcm, kept); change != nil {
		return loopsOn(in, kcm, *change)
	}
	if handover := in.Facts.Handover; (handover.LoopsOffAt != nil || handover.LockArmedAt != nil) &&
		in.Facts.Rollback.LoopsOnAt == nil {
		return loopsAreOn(in, kcm) // A pass may end between the change and its record.
	}
	if !kcm.RolledOut {
		return outcome.Waits(ucv1.RollingOutReason, kcm, " is still rolling out.")
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// givenBack is what gives KCM its loops of before and takes the migration lock away, in one change; nil when it is so.
func givenBack(in pass.Input, kcm observation.Component, kept *ucv1.OriginalArguments) *outcome.ArgumentChange {
	change := &outcome.ArgumentChange{Target: kcm.Ref, Container: kcm.Container}
	switch {
	case kept == nil || slices.Equal(kcm.Arguments.CloudLoops(), withControllers(kcm, kept.Controllers).CloudLoops()):
	case kept.Controllers == nil:
		change.Remove = []string{"controllers"}
	default:
		change.Set = []outcome.Flag{{Name: "--controllers", Value: *kept.Controllers}}
	}
	if oursIsLeft(in, kcm.Arguments) {
		components.Disarm(change)
	}
	if len(change.Set)+len(change.Remove) == 0 {
		return nil
	}
	return change
}

// oursIsLeft says that the arguments have our lock, or what an edit left of it. A bare --enable-leader-migration is upstream's
// default lock, of the same name as ours: the KCM that leads would hold it, and row Lock would wait for its Lease without end.
// KCM was refused when it had the flag before, so nothing is taken that was there. Another path is someone else's, and stays.
// https://github.com/kubernetes/controller-manager/blob/v0.30.14/pkg/leadermigration/config/default.go
func oursIsLeft(in pass.Input, arguments observation.Arguments) bool {
	if path, given := arguments.Flag("leader-migration-config"); given {
		return path == handover.LockPath
	}
	return in.Facts.Handover.Protocol == ucv1.LeaderMigrationProtocol && handover.KeepsLock(arguments)
}

// loopsOn does not fight: what is different again although we gave it back is someone else's will.
func loopsOn(in pass.Input, kcm observation.Component, change outcome.ArgumentChange) outcome.Outcome {
	off := len(kcm.Arguments.CloudLoops()) == 0
	switch {
	case in.Facts.Rollback.LoopsOnAt != nil && off:
		return outcome.Fails(ucv1.CloudLoopsContendedReason, kcm, " was given its cloud loops back, and "+handover.Owner(kcm)+
			" switched them off again. No one runs them now: switch them on where it gets its arguments from.")
	case in.Facts.Rollback.LoopsOnAt != nil:
		return outcome.Fails(ucv1.CloudLoopsContendedReason, kcm, " was given back what it had, and "+handover.Owner(kcm)+
			" changed it again. Take out the migration lock and give --controllers its former value where it gets its arguments from.")
	case off:
		if out := pass.NodesReady(in); !out.Holds {
			return out
		}
	}
	action := outcome.Action{
		Kind: outcome.ActionChangeArguments, Objects: []observation.Ref{kcm.Ref}, Arguments: &change,
		Why: "Giving " + kcm.String() + " its cloud loops back: the CCM is silent.",
	}
	if gates := gatesBack(in, kcm); gates != nil {
		change.Set, change.Remove = append(change.Set, gates.Set...), append(change.Remove, gates.Remove...)
		action.Why = "Giving " + kcm.String() +
			" its cloud loops back, and its feature gates: the CCM is silent, and no volume is attached through them."
	}
	return in.Adds(outcome.Does(action), loopsOnNow(in))
}

func loopsAreOn(in pass.Input, kcm observation.Component) outcome.Outcome {
	return in.Records("Recording that "+kcm.String()+" has its cloud loops back.", loopsOnNow(in))
}

func loopsOnNow(in pass.Input) func(*ucv1.Facts) {
	return func(facts *ucv1.Facts) { facts.Rollback.LoopsOnAt = in.Stamp() }
}

// gatesBack ride along, as they did when the loops were switched off: nil where they are as they were, where a volume is attached
// through them, and where no one can say. The loops wait for none of it: row RollbackVolumes does what is left.
func gatesBack(in pass.Input, kcm observation.Component) *outcome.ArgumentChange {
	kept := components.Original(in.Facts, kcm.Name)
	if kept == nil || !detached(in).Holds {
		return nil
	}
	return restoreGates(kcm, kept.FeatureGates, in.Provider.Value().MigrationGates)
}

// loopsOnByOthers asks for it where someone else changes KCM: the CCM is silent, so that the order does not matter.
func loopsOnByOthers(in pass.Input, kcm observation.Component, kept *ucv1.OriginalArguments) outcome.Outcome {
	if out := pass.NodesReady(in); !out.Holds && len(handover.RunningLoops(kcm)) == 0 {
		return out
	}
	back := func(target observation.Component) (*outcome.ArgumentChange, string) {
		return givenBack(in, target, kept), ""
	}
	out := components.EveryTarget(in, []observation.Component{kcm}, back, "")
	if out.Holds && in.Facts.Rollback.LoopsOnAt == nil {
		return loopsAreOn(in, kcm)
	}
	return out
}

// Lock comes when KCM leads without it, and the CCM is gone: then no one can come to hold it.
func Lock(in pass.Input) outcome.Outcome {
	if handover := in.Facts.Handover; handover.Protocol != ucv1.LeaderMigrationProtocol || handover.FinishedAt != nil {
		return outcome.Holds(ucv1.HoldsReason, "") // There is none, or it was removed before the hand-over was finished.
	}
	return loops.LockGone(in)
}

// withControllers are the arguments with another value of --controllers.
func withControllers(c observation.Component, value *string) observation.Arguments {
	flags := maps.Clone(c.Arguments.Flags)
	delete(flags, "controllers")
	if value != nil {
		flags["controllers"] = *value
	}
	return observation.Arguments{Flags: flags}
}

// kcmLeads needs a holder that is a pod of today's template, and a renewal that we saw.
func kcmLeads(in pass.Input, kcm observation.Component) outcome.Outcome {
	if !kcm.Arguments.True("leader-elect", true) || kcm.Replicas == 0 {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	lease, known := in.KCMLease.Get()
	if in.KCMLease.IsUnknown() {
		return outcome.CannotLook("KCM's Lease", in.KCMLease.Why())
	}
	leads := known && lease.Renewed(in.Now) && slices.ContainsFunc(kcm.Pods, func(process observation.Process) bool {
		return process.Started && !process.Ended && components.Leads(in, process) && !lease.AcquireTime.Before(process.StartedAt)
	})
	if !leads {
		return outcome.WaitsUntil(ucv1.WaitingForLeaderReason, observation.Say("Waiting for ", kcm, " to lead."), 2*time.Second)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}
