package outcome

import (
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

// VerbKind names the one thing that a pass does.
type VerbKind string

// The verbs. None of them gives a cloud loop back to KCM but VerbChangeArguments in an undo (undo_loops.go).
const (
	// VerbRecord persists facts and changes nothing else.
	VerbRecord VerbKind = "Record"
	// VerbRestoreAnnotations puts the two annotations back on the Cluster.
	VerbRestoreAnnotations VerbKind = "RestoreAnnotations"
	// VerbTakeBaseline stores the inventory.
	VerbTakeBaseline VerbKind = "TakeBaseline"
	// VerbApplyAddons applies one of the sets.
	VerbApplyAddons VerbKind = "ApplyAddons"
	// VerbPruneAddons deletes objects of the inventory that are not wanted any more.
	VerbPruneAddons VerbKind = "PruneAddons"
	// VerbChangeArguments changes flags of a Deployment's container.
	VerbChangeArguments VerbKind = "ChangeArguments"
	// VerbKeepLeader has a ReplicaSet delete its other pods first.
	VerbKeepLeader VerbKind = "KeepLeader"
	// VerbOpenFence lets the CCM's identity write its Lease.
	VerbOpenFence VerbKind = "OpenFence"
	// VerbCloseFence takes that right away again.
	VerbCloseFence VerbKind = "CloseFence"
	// VerbAllowLock makes the Lease of the migration lock and lets both managers hold it.
	VerbAllowLock VerbKind = "AllowLock"
	// VerbReleaseLock clears the name of a holder that has ended from the migration lock.
	VerbReleaseLock VerbKind = "ReleaseLock"
	// VerbReleaseCCMLease clears the name of a former CCM from the CCM's Lease, which has run out.
	VerbReleaseCCMLease VerbKind = "ReleaseCCMLease"
	// VerbFreeLease clears the name of a process that has ended from a manager's Lease, so that the next one leads now.
	VerbFreeLease VerbKind = "FreeLease"
	// VerbGrantLease gives us the right to free KCM's Lease, VerbRevokeLease takes it back.
	VerbGrantLease  VerbKind = "GrantLease"
	VerbRevokeLease VerbKind = "RevokeLease"
	// VerbRemoveLock deletes what is left of the migration lock.
	VerbRemoveLock VerbKind = "RemoveLock"
	// VerbRollMachineDeployment sets forceRestart on one or more MachineDeployments, with an endless minReadySeconds.
	VerbRollMachineDeployment VerbKind = "RollMachineDeployment"
	// VerbCreateCanary makes one extra Machine, and a workload for it.
	VerbCreateCanary VerbKind = "CreateCanary"
	// VerbRemoveCanary takes away what is left of it.
	VerbRemoveCanary VerbKind = "RemoveCanary"
	// VerbMarkMachines has the machine-controller take these first when it scales their MachineSet down.
	VerbMarkMachines VerbKind = "MarkMachines"
	// VerbStepMachineSet lowers an old MachineSet, by no more than what is proven.
	VerbStepMachineSet VerbKind = "StepMachineSet"
	// VerbReturnMinReady gives minReadySeconds back.
	VerbReturnMinReady VerbKind = "ReturnMinReady"
	// VerbSwitchDefaultClass takes the default from StorageClasses and gives it to another one.
	VerbSwitchDefaultClass VerbKind = "SwitchDefaultClass"
	// VerbRelease lets a deleted Cluster go.
	VerbRelease VerbKind = "Release"
)

// Verb is data: what to do, to which objects, with which fields. Acting and planning both read it.
type Verb struct {
	Kind    VerbKind
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
	// Step of the one object, a MachineSet.
	Step *MachineSetStep
	// Canary to make; the first of the objects is the MachineDeployment that it is a copy of.
	Canary *CanaryPlan
	// Lease to free, as it was seen, or that we get the right for.
	Lease *observation.Lease
	// DefaultClass is the name of the one object that becomes the default; none of the others is it afterwards.
	DefaultClass string
}

// VersionOf an object; empty: the verb has none.
func (v Verb) VersionOf(object observation.Ref) string {
	if at := slices.Index(v.Objects, object); at >= 0 && at < len(v.Versions) {
		return v.Versions[at]
	}
	return ""
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
