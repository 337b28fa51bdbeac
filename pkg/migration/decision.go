package migration

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Decision is what one pass concluded. Exactly one of Verb, Failure and Wait is set, or none when nothing is left to do; only
// VerbRestoreAnnotations, VerbFreeLease and VerbRevokeLease may stand beside a Failure or a Wait, VerbRecord or VerbCloseFence
// beside a Failure that they answer, and the Failure of a halted roll beside any Verb or Wait.
type Decision struct {
	// Step that is current.
	Step ucv1.Step
	// Line of the hand-over's table, while that is current.
	Line string
	// Verb is the one thing to do in this pass.
	Verb *Verb
	// Wait is why nothing is done now although the controller will go on by itself.
	Wait *Wait
	// Failure is why a person must act.
	Failure *Failure
	// Attendance says whether a manager runs the cloud loops; nil while the feature is off.
	Attendance *Attendance
	// Readiness is what a look ahead found; nil unless the feature is off and looks are wanted.
	Readiness *Readiness
	// Leaving says what a Cluster waits for that is being deleted; empty when it does not wait.
	Leaving string
	// LookAfter is when the next pass has to be at the latest, because a Node is late then; zero: the usual time will do.
	LookAfter time.Duration
	// RollsOn are the MachineDeployments that are in the middle of a roll while the Cluster is paused.
	RollsOn string
	// Facts to persist with this pass's status: the whole of them, not a change. Nil: they are as they were.
	Facts *ucv1.Facts
	// Proofs of kubelets to keep, all of them, before the verb is done. Nil: they are as they were.
	Proofs *observation.KeptProofs
	// Proof that KCM is silent, item by item; nil when it was not asked for.
	Proof []ucv1.ProofItem
	// Instructions are what someone else has to change in the control plane, in order.
	Instructions []ucv1.Instruction
	// PointOfNoReturn is how the undo stands; nil when there is nothing to judge.
	PointOfNoReturn *ucv1.PointOfNoReturnStatus
	// Findings are all of preflight, in the order that they are shown in, while they are judged; nil otherwise.
	Findings []observation.Finding
	// Rows is how every row of the table stands, for the conditions.
	Rows []RowState
}

// RowState is how one row of the table stands.
type RowState struct {
	Step    ucv1.Step
	Holds   bool
	Unknown bool
	Reason  string
	Message string
}

// Wait is a wait with its reason; After bounds it where no watch would end it.
type Wait struct {
	Reason  string
	Message string
	// Unknown says that the reason is that we could not look.
	Unknown bool
	After   time.Duration
}

// Failure is something that only a person can fix.
type Failure struct {
	Reason  string
	Message string
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

// ArgumentChange changes flags of a Deployment's container and leaves all others as they are.
type ArgumentChange struct {
	Target        observation.Ref
	Container     string
	InUserCluster bool
	// Set flags, in order. A flag that is there keeps its place and its spelling.
	Set []Flag
	// Remove flags by name.
	Remove []string
	// Mount a file of ours into the container. It stays until a change unmounts it.
	Mount *MountedFile
	// Unmount takes that file out again.
	Unmount bool
}

// MountedFile is a ConfigMap of ours with one file, mounted as a folder.
type MountedFile struct {
	// Volume and ConfigMap are names; the ConfigMap is in the Deployment's namespace.
	Volume    string
	ConfigMap string
	// Folder it is mounted at, Key the file's name in it.
	Folder string
	Key    string
	Data   string
}

// Flag is one flag of a command line.
type Flag struct {
	// Name with its dashes, as it is written when it is not there yet.
	Name  string
	Value string
}
