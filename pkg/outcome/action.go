package outcome

import (
	"fmt"
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// MachineSetStep lowers an old MachineSet, so that as many of its Machines go. It never raises one.
type MachineSetStep struct {
	// Deployment must still be of this generation, and not be paused.
	Deployment observation.Ref
	Generation int64
	// Version is the resourceVersion that the MachineSet must still have.
	Version  string
	Replicas int32
}

// ActionKind names the one thing that a pass does.
type ActionKind string

// The actions. None of them gives a cloud loop back to KCM but ActionChangeArguments in a rollback
// (pkg/migration/rollback_loops.go).
const (
	// ActionRecord persists facts and changes nothing else.
	ActionRecord ActionKind = "Record"
	// ActionRestoreAnnotations puts the two annotations back on the Cluster.
	ActionRestoreAnnotations ActionKind = "RestoreAnnotations"
	// ActionTakeBaseline stores the inventory.
	ActionTakeBaseline ActionKind = "TakeBaseline"
	// ActionApplyAddons applies one of the sets.
	ActionApplyAddons ActionKind = "ApplyAddons"
	// ActionPruneAddons deletes objects of the inventory that are not wanted any more.
	ActionPruneAddons ActionKind = "PruneAddons"
	// ActionChangeArguments changes flags of a Deployment's container.
	ActionChangeArguments ActionKind = "ChangeArguments"
	// ActionKeepLeader has a ReplicaSet delete its other pods first.
	ActionKeepLeader ActionKind = "KeepLeader"
	// ActionTouch annotates a Deployment, so that whoever reconciles it does so now.
	ActionTouch ActionKind = "Touch"
	// ActionOpenFence lets the CCM's identity write its Lease.
	ActionOpenFence ActionKind = "OpenFence"
	// ActionCloseFence takes that right away again.
	ActionCloseFence ActionKind = "CloseFence"
	// ActionAllowLock makes the Lease of the migration lock and lets both managers hold it.
	ActionAllowLock ActionKind = "AllowLock"
	// ActionReleaseLock clears the name of a holder that has ended from the migration lock.
	ActionReleaseLock ActionKind = "ReleaseLock"
	// ActionReleaseCCMLease clears the name of a former CCM from the CCM's Lease, which has run out.
	ActionReleaseCCMLease ActionKind = "ReleaseCCMLease"
	// ActionFreeLease clears the name of a process that has ended from a manager's Lease, so that the next one leads now.
	ActionFreeLease ActionKind = "FreeLease"
	// ActionGrantLease gives us the right to free KCM's Lease, ActionRevokeLease takes it back.
	ActionGrantLease  ActionKind = "GrantLease"
	ActionRevokeLease ActionKind = "RevokeLease"
	// ActionRemoveLock deletes what is left of the migration lock.
	ActionRemoveLock ActionKind = "RemoveLock"
	// ActionRollMachineDeployment sets forceRestart on one or more MachineDeployments, with an endless minReadySeconds.
	ActionRollMachineDeployment ActionKind = "RollMachineDeployment"
	// ActionCreateCanary makes one extra Machine, and a workload for it.
	ActionCreateCanary ActionKind = "CreateCanary"
	// ActionRemoveCanary takes away what is left of it.
	ActionRemoveCanary ActionKind = "RemoveCanary"
	// ActionMarkMachines has the machine-controller take these first when it scales their MachineSet down.
	ActionMarkMachines ActionKind = "MarkMachines"
	// ActionStepMachineSet lowers an old MachineSet, by no more than what is proven.
	ActionStepMachineSet ActionKind = "StepMachineSet"
	// ActionReturnMinReady gives minReadySeconds back.
	ActionReturnMinReady ActionKind = "ReturnMinReady"
	// ActionSwitchDefaultClass takes the default from StorageClasses and gives it to another one.
	ActionSwitchDefaultClass ActionKind = "SwitchDefaultClass"
	// ActionRenameLoadBalancers gives load balancers in the cloud the CCM's names.
	ActionRenameLoadBalancers ActionKind = "RenameLoadBalancers"
	// ActionRelease lets a deleted Cluster go.
	ActionRelease ActionKind = "Release"
)

// Action is data: what to do, to which objects, with which fields. Acting and planning both read it.
type Action struct {
	Kind    ActionKind
	Objects []observation.Ref
	// Why says in a sentence what it is good for.
	Why string
	// AddonSet to apply.
	AddonSet AddonSetName
	// Arguments to change.
	Arguments *ArgumentChange
	// RestartValue to set, or to keep when minReadySeconds is given back.
	RestartValue string
	// Endless says that the objects get an endless minReadySeconds in the same write.
	Endless bool
	// Versions are the resourceVersions that MachineDeployments must still have, in the order of the objects.
	Versions []string
	// Step of the one object, a MachineSet, or that for which Machines are marked.
	Step *MachineSetStep
	// Canary to make; the first of the objects is the MachineDeployment that it is a copy of.
	Canary *CanaryPlan
	// Lease to free, as it was seen, or that we get the right for.
	Lease *observation.Lease
	// DefaultClass is the name of the one object that becomes the default; none of the others is it afterwards.
	DefaultClass string
	// Renames are what the load balancers of the objects get, in the order of the objects.
	Renames []Rename
}

// Rename of a load balancer in the cloud.
type Rename struct {
	// ID of the load balancer, which has to be called From; no other one may be called To.
	ID, From, To string
}

// VersionOf an object; empty: the action has none.
func (v Action) VersionOf(object observation.Ref) string {
	if at := slices.Index(v.Objects, object); at >= 0 && at < len(v.Versions) {
		return v.Versions[at]
	}
	return ""
}

// Asks says what is asked of one MachineDeployment, or of its Machines or MachineSets, whatever their versions: who refused it
// may accept what asks for something else.
func (v Action) Asks() string {
	if v.Step == nil {
		return fmt.Sprintf("forceRestart %q, endless minReadySeconds %t", v.RestartValue, v.Endless)
	}
	uids := make([]string, 0, len(v.Objects))
	for _, object := range v.Objects {
		uids = append(uids, object.UID)
	}
	slices.Sort(uids) // Which one goes first may change.
	if v.Kind == ActionMarkMachines {
		return fmt.Sprintf("%s %v", v.Kind, uids)
	}
	return fmt.Sprintf("%s %v to %d", v.Kind, uids, v.Step.Replicas)
}

// AddonSetName names one of the sets of addon objects.
type AddonSetName string

const (
	// CCMSet is the cloud-controller-manager.
	CCMSet AddonSetName = "CCM"
	// CSISet is the CSI driver.
	CSISet AddonSetName = "CSI"
	// ProbeSet is the probe of the CCM.
	ProbeSet AddonSetName = "probe"
)
