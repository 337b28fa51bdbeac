package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// FleetMode says what a FleetMigration does.
// +kubebuilder:validation:Enum=PlanOnly;Run;Hold
type FleetMode string

const (
	// FleetPlanOnly makes the forecast, and admits no Cluster.
	FleetPlanOnly FleetMode = "PlanOnly"
	// FleetRun admits Clusters.
	FleetRun FleetMode = "Run"
	// FleetHold admits no Cluster. Those that were admitted go on.
	FleetHold FleetMode = "Hold"
)

// Enablement says who sets spec.features.externalCloudProvider.
// +kubebuilder:validation:Enum=Requested;OnAdmission
type Enablement string

const (
	// EnablementRequested leaves it to people and GitOps: the FleetMigration says when a Cluster that has it may start.
	EnablementRequested Enablement = "Requested"
	// EnablementOnAdmission has the FleetMigration set it when it admits a Cluster.
	EnablementOnAdmission Enablement = "OnAdmission"
)

// InFlightPolicy says what Clusters do that are migrating when something closes.
// +kubebuilder:validation:Enum=Continue;HoldRoll
type InFlightPolicy string

const (
	// ContinueInFlight lets them go on.
	ContinueInFlight InFlightPolicy = "Continue"
	// HoldRollInFlight begins no further MachineDeployment in them, and does not pass their point of no return.
	HoldRollInFlight InFlightPolicy = "HoldRoll"
)

// WaveApproval says whether a person has to approve a wave.
// +kubebuilder:validation:Enum=None;Required
type WaveApproval string

const (
	// NoWaveApproval opens a wave when the one before has passed.
	NoWaveApproval WaveApproval = "None"
	// WaveApprovalRequired also asks for an entry of spec.approvals with the wave's gate digest.
	WaveApprovalRequired WaveApproval = "Required"
)

const (
	// FleetPriorityLabel on a Cluster is an integer; within a wave, higher ones start first. Without it, or with anything else, it
	// is 0.
	FleetPriorityLabel = "fleet.usercluster.k8c.io/priority"
	// FleetReleaseAnnotation on a FleetMigration that is being deleted lets it go although Clusters wait in it. They go on
	// waiting.
	FleetReleaseAnnotation = "fleet.usercluster.k8c.io/release"
	// FleetFinalizer keeps a FleetMigration while Clusters wait in it, or while it holds the roll of some.
	FleetFinalizer = "fleet.usercluster.k8c.io/queued-clusters"
)

// FleetMigrationSpec says which Clusters are migrated, in which order, and within which limits.
// +kubebuilder:validation:XValidation:rule="!has(self.approvals) || self.approvals.all(a, self.waves.exists(w, w.name == a.wave))",message="spec.approvals: each wave has to be one of spec.waves"
// +kubebuilder:validation:XValidation:rule="!has(self.rollback) || self.rollback.waves.all(r, self.waves.exists(w, w.name == r))",message="spec.rollback.waves: each wave has to be one of spec.waves"
type FleetMigrationSpec struct {
	// mode is PlanOnly (make the forecast, admit no Cluster), Run, or Hold (admit no Cluster; those that migrate go on).
	// +required
	Mode FleetMode `json:"mode,omitempty"`

	// enablement says who sets spec.features.externalCloudProvider of a Cluster: Requested, a person or GitOps does, and the
	// FleetMigration writes no spec; or OnAdmission, the FleetMigration does when it admits the Cluster. Immutable. Default is
	// Requested.
	// +optional
	Enablement Enablement `json:"enablement,omitempty"`

	// clusterSelector selects Clusters by their labels; {} selects all.
	// +required
	ClusterSelector *metav1.LabelSelector `json:"clusterSelector,omitempty"`

	// namespaceSelector selects the namespaces of Clusters by their labels. When unset, all are selected.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// priority decides which FleetMigration a Cluster belongs to that several select, and whose Clusters start first: the higher
	// one. Default is 0.
	// +optional
	// +kubebuilder:validation:Minimum=-1000
	// +kubebuilder:validation:Maximum=1000
	Priority *int32 `json:"priority,omitempty"`

	// waves of Clusters, in their order. A Cluster belongs to the first one that selects it; one that no wave selects never
	// starts.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	Waves []Wave `json:"waves,omitempty"`

	// approvals of waves that ask for one.
	// +optional
	// +listType=map
	// +listMapKey=wave
	// +kubebuilder:validation:MaxItems=20
	Approvals []ApprovedWave `json:"approvals,omitempty"`

	// budgets limit how many Clusters, or Nodes, migrate at once. All of them hold, and every Cluster that migrates counts,
	// whoever started it.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Budgets []FleetBudget `json:"budgets,omitempty"`

	// maxStartsPerHour is how many Clusters are admitted within an hour; 0 admits none. When unset, there is no such limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	MaxStartsPerHour *int32 `json:"maxStartsPerHour,omitempty"`

	// maintenance says when Clusters may start.
	// +optional
	Maintenance FleetMaintenance `json:"maintenance,omitempty,omitzero"`

	// failures says what a failed Cluster is, and how many stop the FleetMigration.
	// +optional
	Failures FleetFailures `json:"failures,omitempty,omitzero"`

	// onHalt says what Clusters do that migrate when the FleetMigration halts: Continue, or HoldRoll. Default is Continue.
	// +optional
	OnHalt InFlightPolicy `json:"onHalt,omitempty"`

	// rollback has Clusters rolled back that are before their point of no return. Only a person sets it.
	// +optional
	Rollback *FleetRollback `json:"rollback,omitempty"`
}

// Wave is a group of Clusters that starts when the wave before has passed. KubeFleet, AKS and GKE call it a stage.
type Wave struct {
	// name of the wave.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// clusterSelector selects Clusters of the FleetMigration; {} selects all that no earlier wave has.
	// +required
	ClusterSelector *metav1.LabelSelector `json:"clusterSelector,omitempty"`

	// maxConcurrency is how many Clusters of the wave may migrate at once, as a number or a percentage of the wave (rounded down,
	// at least one unless it is 0%). Default is 1. 0 allows none.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : self == '100%' || size(self) <= 3 && self.endsWith('%')",message="maxConcurrency is a number from 0, or a percentage up to 100%, such as \"5%\""
	MaxConcurrency *intstr.IntOrString `json:"maxConcurrency,omitempty"`

	// maxFailures is how many Clusters of the wave may be failed; one more halts the FleetMigration. A percentage is of the wave,
	// rounded down. Default is 0.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : self == '100%' || size(self) <= 3 && self.endsWith('%')",message="maxFailures is a number from 0, or a percentage up to 100%, such as \"5%\""
	MaxFailures *intstr.IntOrString `json:"maxFailures,omitempty"`

	// minSuccesses is how many Clusters of the wave have to succeed before it passes. A percentage is of the wave, rounded up, at
	// least one. Default is 90%.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : self == '100%' || size(self) <= 3 && self.endsWith('%')",message="minSuccesses is a number from 1, or a percentage up to 100%, such as \"5%\""
	MinSuccesses *intstr.IntOrString `json:"minSuccesses,omitempty"`

	// soakSeconds is how long the wave has to stay good, after the last of its Clusters has finished or failed, before it passes.
	// Default is 3600.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2592000
	SoakSeconds *int32 `json:"soakSeconds,omitempty"`

	// maxInconclusive is how many of the Clusters that succeeded may have no verdict about their service level objectives, as a
	// number or a percentage of them, rounded down. Default is 100%.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : self == '100%' || size(self) <= 3 && self.endsWith('%')",message="maxInconclusive is a number from 0, or a percentage up to 100%, such as \"5%\""
	MaxInconclusive *intstr.IntOrString `json:"maxInconclusive,omitempty"`

	// canaries are how many Clusters of the wave go first, alone, and have to succeed and soak before the others start. Default
	// is 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Canaries *int32 `json:"canaries,omitempty"`

	// order in which Clusters start: SmallestFirst, by their number of Nodes, or Alphabetical, by namespace and name. Label
	// fleet.usercluster.k8c.io/priority comes before. Default is SmallestFirst.
	// +optional
	Order RolloutOrder `json:"order,omitempty"`

	// approval is None, or Required: the wave opens when spec.approvals has its gate digest. Default is None.
	// +optional
	Approval WaveApproval `json:"approval,omitempty"`
}

// ApprovedWave is a person's approval of a wave.
type ApprovedWave struct {
	// wave that is approved.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Wave string `json:"wave,omitempty"`

	// gateDigest is the digest of the report that was approved: status.waves[].gate.digest. An approval with another digest
	// approves nothing.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[0-9a-f]+$`
	GateDigest string `json:"gateDigest,omitempty"`

	// reason is for people, such as the number of a change request.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`
}

// FleetBudget limits how many Clusters, or Nodes of Clusters, migrate at once.
// +kubebuilder:validation:XValidation:rule="has(self.maxConcurrency) != has(self.maxNodes)",message="a budget has either maxConcurrency or maxNodes"
type FleetBudget struct {
	// name of the budget.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// per is the key of a label: there is one budget for each of its values. Clusters without the label share one. When unset,
	// there is one budget for all Clusters.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Per string `json:"per,omitempty"`

	// maxConcurrency is how many Clusters may migrate at once; 0 allows none.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	MaxConcurrency *int32 `json:"maxConcurrency,omitempty"`

	// maxNodes is how many Nodes the Clusters may have together whose Machines are not all replaced yet; 0 allows none. A Cluster
	// with more Nodes than that goes alone.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000000
	MaxNodes *int32 `json:"maxNodes,omitempty"`
}

// FleetFailures says what a failed Cluster is, and how many stop the FleetMigration.
type FleetFailures struct {
	// graceSeconds is how long a Cluster may be Stalled before it counts as failed. Default is 900.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=604800
	GraceSeconds *int32 `json:"graceSeconds,omitempty"`

	// progressDeadlineSeconds is how long a Cluster may take since its admission before it counts as failed. The time in which a
	// person paused it does not count. Default is 14400.
	// +optional
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=2592000
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`

	// max is how many Clusters of all waves together may be failed; one more halts the FleetMigration. When unset, only the waves
	// have a limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	Max *int32 `json:"max,omitempty"`

	// haltAtOnce are reasons of a Cluster's conditions of which one halts the FleetMigration, without a grace. Default is
	// CloudLoopsContended, CloudLoopsUnattended, FenceIneffective and InventoryChanged. An empty list names none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	HaltAtOnce []string `json:"haltAtOnce,omitzero"`

	// countSince ends a halt that began at this time or before, and forgives failures that began before it: a person looked at
	// them.
	// +optional
	CountSince *metav1.Time `json:"countSince,omitempty"`
}

// RollbackScope says which Clusters of a wave are rolled back.
// +kubebuilder:validation:Enum=InFlight;All
type RollbackScope string

const (
	// RollbackInFlight is those that migrate.
	RollbackInFlight RollbackScope = "InFlight"
	// RollbackAll is also those that have succeeded, where they are before their point of no return.
	RollbackAll RollbackScope = "All"
)

// FleetRollback says which Clusters are rolled back.
type FleetRollback struct {
	// waves of which Clusters are rolled back.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=40
	Waves []string `json:"waves,omitempty"`

	// scope is InFlight (Clusters that migrate) or All. Clusters that are past their point of no return, or for which that is not
	// known, stay as they are and are named.
	// +required
	Scope RollbackScope `json:"scope,omitempty"`
}

// FleetMigration migrates Clusters in waves, under limits, and halts by itself.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=fm,scope=Cluster
// +kubebuilder:printcolumn:name="Mode",type="string",JSONPath=`.spec.mode`
// +kubebuilder:printcolumn:name="Clusters",type="string",JSONPath=`.status.summary`,description="Clusters succeeded/total"
// +kubebuilder:printcolumn:name="InFlight",type="integer",JSONPath=`.status.clusters.inFlight`,description="Clusters that migrate now"
// +kubebuilder:printcolumn:name="Failed",type="integer",JSONPath=`.status.clusters.failed`
// +kubebuilder:printcolumn:name="Halted",type="string",JSONPath=`.status.conditions[?(@.type=="Halted")].status`
// +kubebuilder:printcolumn:name="Wave",type="string",JSONPath=`.status.wave`,description="The first wave that has not passed"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:validation:XValidation:rule="(has(self.spec.enablement) ? self.spec.enablement : 'Requested') == (has(oldSelf.spec.enablement) ? oldSelf.spec.enablement : 'Requested')",message="spec.enablement is immutable: it says who owns a field of the Clusters"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.waves) || oldSelf.status.waves.all(w, !has(w.openedAt) || self.spec.waves.exists(s, s.name == w.name))",message="spec.waves: a wave that has opened may not be removed"
type FleetMigration struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what is wanted.
	// +required
	Spec FleetMigrationSpec `json:"spec,omitzero"`

	// status says what is.
	// +optional
	Status FleetMigrationStatus `json:"status,omitempty,omitzero"`
}

// FleetMigrationList is a list of FleetMigrations.
//
// +kubebuilder:object:root=true
type FleetMigrationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items of the list.
	Items []FleetMigration `json:"items"`
}
