package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Step is a row of the migration table. It is output only: nothing reads it back.
// +kubebuilder:validation:Enum=InTree;Admitted;Preflight;Addons;Handover;VolumeMigration;MachineController;Roll;Verify;Complete;Finalize;Finished;RollbackMachineController;RollbackRoll;RollbackVolumes;RollbackFence;RollbackSilence;RollbackLoops;RollbackLock;RollbackAddons;RolledBack
type Step string

// The steps, in the order of the migration table. InTree and Finished stand before and behind it.
const (
	StepInTree            Step = "InTree"
	StepAdmitted          Step = "Admitted"
	StepPreflight         Step = "Preflight"
	StepAddons            Step = "Addons"
	StepHandover          Step = "Handover"
	StepVolumeMigration   Step = "VolumeMigration"
	StepMachineController Step = "MachineController"
	StepRoll              Step = "Roll"
	StepVerify            Step = "Verify"
	StepComplete          Step = "Complete"
	StepFinalize          Step = "Finalize"
	StepFinished          Step = "Finished"
)

// The steps of a rollback, in the order of its table. RolledBack stands behind it.
const (
	StepRollbackMachineController Step = "RollbackMachineController"
	StepRollbackRoll              Step = "RollbackRoll"
	StepRollbackVolumes           Step = "RollbackVolumes"
	StepRollbackFence             Step = "RollbackFence"
	StepRollbackSilence           Step = "RollbackSilence"
	StepRollbackLoops             Step = "RollbackLoops"
	StepRollbackLock              Step = "RollbackLock"
	StepRollbackAddons            Step = "RollbackAddons"
	StepRolledBack                Step = "RolledBack"
)

// Origin says how the cluster came to the external cloud provider.
// +kubebuilder:validation:Enum=InTree;Migrating;External
type Origin string

const (
	// OriginInTree means that the Cluster was seen with the feature off: a later feature is a migration.
	OriginInTree Origin = "InTree"
	// OriginMigrating means that the in-tree cloud provider was in use when the feature was first seen on.
	OriginMigrating Origin = "Migrating"
	// OriginExternal means that the Cluster was created with the feature.
	OriginExternal Origin = "External"
)

// Facts are what the world cannot say again. Everything else is derived on each pass.
type Facts struct {
	// origin says how the cluster came to the external cloud provider.
	// +optional
	Origin Origin `json:"origin,omitempty"`

	// lookAhead is when the cluster is looked at while its feature is off.
	// +optional
	LookAhead *LookAheadStatus `json:"lookAhead,omitempty"`

	// startedAt is when Admitted and Preflight were judged; both hold from then on.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// inherited is what the CCM takes over from KCM's arguments. Read later, when the in-tree flags are gone, load
	// balancers would change their names.
	// +optional
	Inherited *InheritedConfiguration `json:"inherited,omitempty"`

	// handover is the resolved protocol and the KCM processes that existed before the first patch.
	// +optional
	Handover *HandoverStatus `json:"handover,omitempty"`

	// adoption is what taking over the objects of someone else changes. It stands here before anything of them is changed,
	// so that a person can read it; no one could say later what they were like.
	// +optional
	Adoption *AdoptionStatus `json:"adoption,omitempty"`

	// baseline is the inventory taken before the hand-over; the Secret holds it, the digest proves it.
	// +optional
	Baseline *BaselineStatus `json:"baseline,omitempty"`

	// machineControllerConfiguredAt is when all Deployments of the machine-controller first had their flags and no old
	// pod: MachineSets made later are up-to-date by themselves.
	// +optional
	MachineControllerConfiguredAt *metav1.Time `json:"machineControllerConfiguredAt,omitempty"`

	// cloudNode is how far the CCM's loop cloud-node is, for a provider whose CCM starts without it.
	// +optional
	CloudNode *CloudNodeStatus `json:"cloudNode,omitempty"`

	// rollGeneration is the forceRestart value, made once: a restarted controller never rolls twice.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	RollGeneration string `json:"rollGeneration,omitempty"`

	// rolledMachineDeployments are the UIDs of those that were given the forceRestart value: one that lost it to another
	// owner is not given it again. The oldest are dropped.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MaxLength=63
	RolledMachineDeployments []string `json:"rolledMachineDeployments,omitempty"`

	// canary is how far the canary is that comes before the roll.
	// +optional
	Canary *CanaryStatus `json:"canary,omitempty"`

	// breaker is what the circuit breaker of the roll did.
	// +optional
	Breaker *BreakerStatus `json:"breaker,omitempty"`

	// stableSince is since when the proof on the nodes has been complete.
	// +optional
	StableSince *metav1.Time `json:"stableSince,omitempty"`

	// slo holds the service level numbers: what was measured once is not there a second time.
	// +optional
	SLO *SLOStatus `json:"slo,omitempty"`

	// pointOfNoReturnAt is when rollback became impossible. What a person takes away again, such as a Machine, takes it back;
	// completion is for good.
	// +optional
	PointOfNoReturnAt *metav1.Time `json:"pointOfNoReturnAt,omitempty"`

	// unattendedSince is since when no manager has been known to run the cloud loops. It goes when one runs them.
	// +optional
	UnattendedSince *metav1.Time `json:"unattendedSince,omitempty"`

	// rollback is how far the rollback is.
	// +optional
	Rollback *RollbackStatus `json:"rollback,omitempty"`

	// completedAt is when the migration completed; the rows up to Complete hold from then on.
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`

	// defaultStorageClass is how the default StorageClass was judged, once: whoever changes it later is not fought.
	// +optional
	DefaultStorageClass *DefaultStorageClassStatus `json:"defaultStorageClass,omitempty"`

	// renamedLoadBalancers is set when every load balancer that the in-tree provider made has the CCM's name, where
	// spec.cloud.loadBalancers is Rename. No one looks after that.
	// +optional
	RenamedLoadBalancers *RenamedLoadBalancersStatus `json:"renamedLoadBalancers,omitempty"`
}

// InheritedConfiguration is what the CCM takes over from KCM.
type InheritedConfiguration struct {
	// clusterName is the value of --cluster-name.
	// +required
	// +kubebuilder:validation:MaxLength=253
	ClusterName string `json:"clusterName,omitempty"`

	// clusterCIDR is the value of --cluster-cidr.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	ClusterCIDR string `json:"clusterCIDR,omitempty"`

	// configureCloudRoutes says whether KCM ran the route loop.
	// +optional
	ConfigureCloudRoutes bool `json:"configureCloudRoutes,omitempty"`

	// allocateNodeCIDRs says whether KCM ran node IPAM; it goes on doing so.
	// +optional
	AllocateNodeCIDRs bool `json:"allocateNodeCIDRs,omitempty"`

	// clusterUID is what volumes of clusters with the same name are told apart by: the UID of the Cluster that began. One that
	// returns under its name has another UID.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ClusterUID string `json:"clusterUID,omitempty"`

	// loops that KCM ran, by their registered names.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=63
	Loops []string `json:"loops,omitempty"`
}

// AdoptionStatus is the plan of an adoption.
type AdoptionStatus struct {
	// plannedAt is when the plan was written.
	// +required
	PlannedAt metav1.Time `json:"plannedAt,omitzero"`

	// changes is one line for each object: what it is, who seems to manage it, and the fields that change. It has no values;
	// the command adoption shows those.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	Changes []string `json:"changes,omitempty"`
}

// BaselineStatus points at the inventory taken before the hand-over.
type BaselineStatus struct {
	// secretName of the Secret with the inventory, in the namespace of the Cluster.
	// +required
	// +kubebuilder:validation:MaxLength=253
	SecretName string `json:"secretName,omitempty"`

	// digest of the inventory: sha256 in hex.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Digest string `json:"digest,omitempty"`

	// takenAt is when it was taken.
	// +optional
	TakenAt *metav1.Time `json:"takenAt,omitempty"`
}

// ClusterStatus says what the controller saw and did.
type ClusterStatus struct {
	Facts `json:",inline"`

	// observedGeneration is the generation of the spec that this status was computed from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the cluster.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// about are the objects that the message of condition Ready names, in its order; at most ten.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	About []ObjectName `json:"about,omitempty"`

	// step that is current, for people; nothing reads it back.
	// +optional
	Step Step `json:"step,omitempty"`

	// admission is the claim of a FleetMigration to the Cluster. The fleet's own field manager writes it.
	// +optional
	Admission *AdmissionStatus `json:"admission,omitempty"`

	// instructions are what someone else has to change in the control plane, in this order. They are there while
	// spec.controlPlane.change is Instruct, or the type External, and there is something to change or to prove.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=60
	Instructions []Instruction `json:"instructions,omitempty"`

	// preflight is what was found before the start, and, while the feature is off, by the last look ahead. For a cluster that was
	// created with the feature it is what keeps its addons back.
	// +optional
	Preflight *PreflightStatus `json:"preflight,omitempty"`

	// plan of the migration, where spec.mode or spec.approval asks for one.
	// +optional
	Plan *PlanStatus `json:"plan,omitempty"`

	// machines counts Machines.
	// +optional
	Machines *ProgressCount `json:"machines,omitempty"`

	// machineDeployments counts MachineDeployments.
	// +optional
	MachineDeployments *ProgressCount `json:"machineDeployments,omitempty"`

	// nodes counts Nodes.
	// +optional
	Nodes *NodeCount `json:"nodes,omitempty"`

	// addons says which versions are applied.
	// +optional
	Addons *AddonsStatus `json:"addons,omitempty"`

	// inventory says how the cluster differs from the baseline.
	// +optional
	Inventory *InventoryStatus `json:"inventory,omitempty"`

	// acceptances are what persons vouch for in the spec, and who does; output only. It holds the first hundred.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Acceptances []AcceptanceStatus `json:"acceptances,omitempty"`

	// timeline of what happened, newest last; the oldest entries are dropped.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=80
	Timeline []TimelineEntry `json:"timeline,omitempty"`
}

// ProgressCount counts objects that are replaced.
type ProgressCount struct {
	// total is the number of all objects.
	Total int32 `json:"total"`

	// upToDate is the number of those that are replaced, or need no replacing.
	UpToDate int32 `json:"upToDate"`

	// blocked is the number of those that a person must look at.
	Blocked int32 `json:"blocked"`

	// summary is upToDate/total, for the printer column.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Summary string `json:"summary,omitempty"`
}

// NodeCount counts Nodes.
type NodeCount struct {
	// total is the number of all Nodes.
	Total int32 `json:"total"`

	// initialized is the number of Nodes that are Ready, without the uninitialized taint, and with the provider's providerID.
	Initialized int32 `json:"initialized"`

	// proven counts the Nodes of Machines whose kubelets are proven external, as they were when the migration completed. It is
	// there from when the baseline was taken.
	// +optional
	Proven *ProvenCount `json:"proven,omitempty"`
}

// ProvenCount counts Nodes by what proves that their kubelets are external, the strongest proof first.
type ProvenCount struct {
	// total is the number of all proven Nodes.
	Total int32 `json:"total"`

	// taint is the number of those that were seen with the taint uninitialized.
	Taint int32 `json:"taint"`

	// synced is the number of those that an event of the CCM's loop cloud-node said to be initialized.
	Synced int32 `json:"synced"`

	// providerID is the number of those whose providerID was set by the CCM.
	ProviderID int32 `json:"providerID"`
}

// AddonsStatus says which addons are applied.
type AddonsStatus struct {
	// cloudControllerManagerVersion is the version of the CCM.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	CloudControllerManagerVersion string `json:"cloudControllerManagerVersion,omitempty"`

	// csiVersion is the version of the CSI driver.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	CSIVersion string `json:"csiVersion,omitempty"`

	// objects is the number of objects in our inventory.
	// +optional
	Objects int32 `json:"objects,omitempty"`
}
