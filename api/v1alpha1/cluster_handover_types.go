package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HandoverProtocolChoice says which protocol is wanted.
// +kubebuilder:validation:Enum=Auto;Fenced;Serialized;LeaderMigration
type HandoverProtocolChoice string

const (
	// AutoProtocol takes Fenced where the fence provably holds, else Serialized.
	AutoProtocol HandoverProtocolChoice = "Auto"
	// FencedProtocolChoice starts the CCM early, behind a fence: the shortest gap.
	FencedProtocolChoice HandoverProtocolChoice = "Fenced"
	// SerializedProtocolChoice starts the CCM only when KCM is proven silent.
	SerializedProtocolChoice HandoverProtocolChoice = "Serialized"
	// LeaderMigrationProtocolChoice hands the cloud loops over by the migration lock of KEP-2436; Auto never takes it.
	LeaderMigrationProtocolChoice HandoverProtocolChoice = "LeaderMigration"
)

// LeaderMigrationMode says in which minors of Kubernetes the managers have the migration lock.
// +kubebuilder:validation:Enum=SameMinor;AcrossMinors
type LeaderMigrationMode string

const (
	// SameMinorLeaderMigration hands the loops over within one minor: KCM and the CCM of it have the lock, where KEP-2436 has one
	// of them (rule OneManager).
	SameMinorLeaderMigration LeaderMigrationMode = "SameMinor"
	// AcrossMinorsLeaderMigration hands the loops over from KCM of one minor to the CCM of the next one, as KEP-2436 has it: the
	// owner of the control plane upgrades it in the middle of the hand-over.
	AcrossMinorsLeaderMigration LeaderMigrationMode = "AcrossMinors"
)

// ContentionPolicy says what happens when KCM's cloud loops come back after the hand-over.
// +kubebuilder:validation:Enum=CloseFence;Report
type ContentionPolicy string

const (
	// CloseFenceOnContention takes the cloud loops from the CCM, so that KCM alone runs them until a person decides.
	CloseFenceOnContention ContentionPolicy = "CloseFence"
	// ReportContention changes nothing: both may run the cloud loops until a person acts.
	ReportContention ContentionPolicy = "Report"
)

// HandoverSpec says what a person decided about the hand-over.
// +kubebuilder:validation:XValidation:rule="!has(self.leaderMigration) || has(self.protocol) && self.protocol == 'LeaderMigration'",message="spec.handover.leaderMigration is for protocol LeaderMigration only: set spec.handover.protocol to it, or remove leaderMigration"
type HandoverSpec struct {
	// protocol that makes the hand-over exclusive: Auto (default), Fenced, Serialized or LeaderMigration. Immutable once
	// the migration started; what it came to, and why, is in status.handover.
	// +optional
	Protocol HandoverProtocolChoice `json:"protocol,omitempty"`

	// leaderMigration says in which minors the managers have the migration lock: SameMinor (default) hands the loops over within
	// the minor of spec.version, AcrossMinors from KCM of that minor to the CCM of the next one, to which the owner upgrades
	// kube-apiserver when status.handover.upgradeAllowedTo names it. Only with protocol LeaderMigration; immutable once the
	// migration started.
	// +optional
	LeaderMigration LeaderMigrationMode `json:"leaderMigration,omitempty"`

	// onContention says what happens when KCM may run cloud loops again after the hand-over: CloseFence (default) or
	// Report.
	// +optional
	OnContention ContentionPolicy `json:"onContention,omitempty"`

	// rollback rolls the migration back: Machines, then the CCM, then the cloud loops are back where they were. It is refused
	// once the point of no return is passed (status.handover.pointOfNoReturn). What is rolled back stays rolled back when this is
	// false again: see retryAfter.
	// +optional
	Rollback bool `json:"rollback,omitempty"`

	// retryAfter is a time; a migration that was rolled back before it (status.rollback.finishedAt) starts again then, when rollback
	// is false. A person sets it, so that a line that is lost from a Git repository starts nothing.
	// +optional
	RetryAfter *metav1.Time `json:"retryAfter,omitempty"`

	// rollbackAddons also deletes the addons when everything else is rolled back. It waits while a volume needs the CSI driver.
	// +optional
	RollbackAddons bool `json:"rollbackAddons,omitempty"`

	// pauseBeforePointOfNoReturn waits before the controller's first step that cannot be rolled back, until it is false. Others
	// pass that point at any time, such as a volume that the CSI driver makes, or a load balancer of another Service: from then on
	// it holds nothing back. status.handover.pointOfNoReturn says so.
	// +optional
	PauseBeforePointOfNoReturn bool `json:"pauseBeforePointOfNoReturn,omitempty"`

	// acceptLostManagers names pods of KCM, and in a rollback of the CCM, whose node is lost and of which a person knows that
	// they have ended. One of KCM that is still there counts only when it is finished, or when it is a static pod whose
	// Node is gone or not Ready.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	AcceptLostManagers []string `json:"acceptLostManagers,omitempty"`

	// acceptOtherManagers names workloads of the user cluster that look like a cloud-controller-manager of it and of which a
	// person knows that they run no cloud loop for it, such as the one of another cluster whose control plane is hosted
	// there: as the message names them, like "Deployment tenants/cloud-controller-manager".
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=530
	AcceptOtherManagers []string `json:"acceptOtherManagers,omitempty"`
}

// HandoverProtocol says how the hand-over is made exclusive.
// +kubebuilder:validation:Enum=Fenced;Serialized;LeaderMigration
type HandoverProtocol string

const (
	// FencedProtocol keeps the CCM from writing its Lease until KCM is proven silent.
	FencedProtocol HandoverProtocol = "Fenced"
	// SerializedProtocol does not start the CCM until KCM is proven silent.
	SerializedProtocol HandoverProtocol = "Serialized"
	// LeaderMigrationProtocol has KCM and the CCM share the migration lock until KCM is proven silent.
	LeaderMigrationProtocol HandoverProtocol = "LeaderMigration"
)

// HandoverStatus is the state of the hand-over.
type HandoverStatus struct {
	// protocol that makes the hand-over exclusive.
	// +optional
	Protocol HandoverProtocol `json:"protocol,omitempty"`

	// protocolReason says why it is that protocol.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ProtocolReason string `json:"protocolReason,omitempty"`

	// leaderMigration says in which minors the managers have the migration lock; protocol LeaderMigration only.
	// +optional
	LeaderMigration LeaderMigrationMode `json:"leaderMigration,omitempty"`

	// stage of the protocol that is current; output only.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Stage string `json:"stage,omitempty"`

	// probeStartedAt is since when the probe of the CCM is wanted.
	// +optional
	ProbeStartedAt *metav1.Time `json:"probeStartedAt,omitempty"`

	// probeLedAt is when probeHolder was first seen leading.
	// +optional
	ProbeLedAt *metav1.Time `json:"probeLedAt,omitempty"`

	// probeHolder is the process that has to stay up.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	ProbeHolder string `json:"probeHolder,omitempty"`

	// probedAt is when the probe had led for long enough.
	// +optional
	ProbedAt *metav1.Time `json:"probedAt,omitempty"`

	// probeFailedAt is when the last probe failed.
	// +optional
	ProbeFailedAt *metav1.Time `json:"probeFailedAt,omitempty"`

	// probeProblem is what was seen of it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	ProbeProblem string `json:"probeProblem,omitempty"`

	// probeObjects are those that probeProblem names.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	ProbeObjects []ObjectName `json:"probeObjects,omitempty"`

	// processes of KCM that existed before the first patch; each has to be seen to end.
	// +optional
	// +listType=map
	// +listMapKey=podUID
	// +kubebuilder:validation:MaxItems=20
	Processes []ManagerProcess `json:"processes,omitempty"`

	// proof that KCM runs no cloud loop, item by item, as it was last seen; output only.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Proof []ProofItem `json:"proof,omitempty"`

	// original are the flags of the control plane before it was changed: what a rollback gives back.
	// +optional
	// +listType=map
	// +listMapKey=deployment
	// +kubebuilder:validation:MaxItems=8
	Original []OriginalArguments `json:"original,omitempty"`

	// pointOfNoReturn says whether the migration can still be rolled back, as it was last seen; output only.
	// +optional
	PointOfNoReturn *PointOfNoReturnStatus `json:"pointOfNoReturn,omitempty"`

	// startedAt is when KCM was about to be changed; after a contention, when the hand-over began again.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// loopsOffAt is when the cloud loops were switched off in KCM; on again, someone else did it.
	// +optional
	LoopsOffAt *metav1.Time `json:"loopsOffAt,omitempty"`

	// touchedAt is when KCM's Deployment was touched after its change, so that whoever reconciles it does so before the CCM may
	// lead.
	// +optional
	TouchedAt *metav1.MicroTime `json:"touchedAt,omitempty"`

	// changingSince is since when the cloud loops have been off in a part of KCM that someone else changes: from then on
	// no one may be running them.
	// +optional
	ChangingSince *metav1.Time `json:"changingSince,omitempty"`

	// workloadAllowedAt is when the CCM's workload was allowed to start; protocol Serialized, and LeaderMigration with AcrossMinors.
	// +optional
	WorkloadAllowedAt *metav1.Time `json:"workloadAllowedAt,omitempty"`

	// upgradeAllowedTo is the minor, such as 1.30, to which spec.version may change in the middle of the hand-over; AcrossMinors
	// only. The CCM comes when every kube-apiserver is of it.
	// +optional
	// +kubebuilder:validation:MaxLength=15
	UpgradeAllowedTo string `json:"upgradeAllowedTo,omitempty"`

	// lockArmedAt is when KCM was given the migration lock; protocol LeaderMigration only.
	// +optional
	LockArmedAt *metav1.Time `json:"lockArmedAt,omitempty"`

	// kcmLeaseGrantedAt is when the controller gave itself the right to free KCM's Lease, as far as it may. It is taken back when
	// KCM has rolled out.
	// +optional
	KCMLeaseGrantedAt *metav1.Time `json:"kcmLeaseGrantedAt,omitempty"`

	// kcmLeaseRevokedAt is when the controller last deleted that right, until it is seen to be gone.
	// +optional
	KCMLeaseRevokedAt *metav1.Time `json:"kcmLeaseRevokedAt,omitempty"`

	// lockTakenAt is when the CCM was first seen holding the migration lock; from then on no one is to have it.
	// +optional
	LockTakenAt *metav1.Time `json:"lockTakenAt,omitempty"`

	// contendedAt is when KCM last ran cloud loops again after a hand-over; it was begun again then.
	// +optional
	ContendedAt *metav1.Time `json:"contendedAt,omitempty"`

	// fenceOpenedAt is when the CCM was first allowed to write its Lease.
	// +optional
	FenceOpenedAt *metav1.Time `json:"fenceOpenedAt,omitempty"`

	// finishedAt is when the CCM was first seen leading.
	// +optional
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`

	// gapSeconds is the time between the last seen end of a KCM process and the CCM leading, rounded up. With protocol
	// LeaderMigration it is the time between the first such end and the CCM holding the migration lock.
	// +optional
	// +kubebuilder:validation:Minimum=0
	GapSeconds *int64 `json:"gapSeconds,omitempty"`
}

// ProofState says how one item of the proof of silence stands.
// +kubebuilder:validation:Enum=Proven;NotProven;Unknown
type ProofState string

// The states of an item.
const (
	// ProvenState means that it was seen.
	ProvenState ProofState = "Proven"
	// NotProvenState means that it was looked at, and is not so yet.
	NotProvenState ProofState = "NotProven"
	// UnknownState means that it could not be looked at.
	UnknownState ProofState = "Unknown"
)

// ProofItem is one item of the proof that KCM runs no cloud loop. All have to be proven.
type ProofItem struct {
	// name of the item.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// state of the item.
	// +required
	State ProofState `json:"state,omitempty"`

	// message names what is missing; empty when it is proven.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// ManagerProcess is one container of KCM that may run cloud loops.
type ManagerProcess struct {
	// podUID of its pod.
	// +required
	// +kubebuilder:validation:MaxLength=63
	PodUID string `json:"podUID,omitempty"`

	// podName of its pod, which is also its hostname.
	// +required
	// +kubebuilder:validation:MaxLength=253
	PodName string `json:"podName,omitempty"`

	// nodeName its pod runs on.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	NodeName string `json:"nodeName,omitempty"`

	// bootID of the node when the process was recorded.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	BootID string `json:"bootID,omitempty"`

	// systemUUID of the node: with it, another boot ID is another boot of the same machine. Static pods only.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	SystemUUID string `json:"systemUUID,omitempty"`

	// configHash is what the kubelet identifies the static pod's manifest with. Static pods only.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	ConfigHash string `json:"configHash,omitempty"`

	// containerID of the process.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ContainerID string `json:"containerID,omitempty"`

	// gracePeriodSeconds of its pod.
	// +optional
	GracePeriodSeconds int64 `json:"gracePeriodSeconds,omitempty"`

	// vanishedAt is when its pod was first found missing without its end having been seen.
	// +optional
	VanishedAt *metav1.MicroTime `json:"vanishedAt,omitempty"`

	// endedAt is when its end was seen.
	// +optional
	EndedAt *metav1.MicroTime `json:"endedAt,omitempty"`

	// endedBecause says what proved its end.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	EndedBecause string `json:"endedBecause,omitempty"`
}
