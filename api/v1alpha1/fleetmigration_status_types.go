package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WaveState says how far a wave is.
// +kubebuilder:validation:Enum=Waiting;AwaitingApproval;Open;Soaking;Passed;Empty
type WaveState string

const (
	// WaveWaiting waits for the wave before.
	WaveWaiting WaveState = "Waiting"
	// WaveAwaitingApproval could open and waits for a person.
	WaveAwaitingApproval WaveState = "AwaitingApproval"
	// WaveOpen starts Clusters.
	WaveOpen WaveState = "Open"
	// WaveSoaking has enough successes, and has to stay so.
	WaveSoaking WaveState = "Soaking"
	// WavePassed lets the next one open. It is never taken back.
	WavePassed WaveState = "Passed"
	// WaveEmpty has no Cluster, and is skipped.
	WaveEmpty WaveState = "Empty"
)

// FleetMigrationStatus says what is. It stays below 64 KiB at all limits, however many Clusters there are.
type FleetMigrationStatus struct {
	// observedGeneration is the generation that the status was computed from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Ready, Reconciling or Stalled, Accepted, AllClustersPlaced, WindowOpen and Halted.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// summary is Clusters succeeded/total.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Summary string `json:"summary,omitempty"`

	// wave is the first one that has not passed.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Wave string `json:"wave,omitempty"`

	// clusters counts the Clusters; each is in one state.
	// +optional
	Clusters FleetCount `json:"clusters,omitempty,omitzero"`

	// nodes counts their Nodes.
	// +optional
	Nodes FleetNodeCount `json:"nodes,omitempty,omitzero"`

	// outOfScope counts Clusters that are selected and that there is nothing to migrate in, by reason.
	// +optional
	// +listType=map
	// +listMapKey=reason
	// +kubebuilder:validation:MaxItems=16
	OutOfScope []ReasonCount `json:"outOfScope,omitempty"`

	// unplaced are Clusters that no wave selects. They never start.
	// +optional
	Unplaced NamedCount `json:"unplaced,omitempty,omitzero"`

	// waves are those of the spec, and how far they are.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	Waves []WaveStatus `json:"waves,omitempty"`

	// queue says what queued Clusters wait for. A Cluster may wait for several things; it counts to the first.
	// +optional
	// +listType=map
	// +listMapKey=reason
	// +kubebuilder:validation:MaxItems=16
	Queue []ReasonCount `json:"queue,omitempty"`

	// budgets are the 20 fullest.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Budgets []BudgetStatus `json:"budgets,omitempty"`

	// maintenance says which windows are open.
	// +optional
	Maintenance MaintenanceStatus `json:"maintenance,omitempty,omitzero"`

	// admitting are Clusters that are being admitted. It is written before they are, so that no other manager, and none with an
	// older view, admits others in their place.
	// +optional
	// +listType=map
	// +listMapKey=uid
	// +kubebuilder:validation:MaxItems=30
	Admitting []AdmittingCluster `json:"admitting,omitempty"`

	// halt is why no Cluster is admitted any more. It ends when spec.failures.countSince is its time or later.
	// +optional
	Halt *FleetHalt `json:"halt,omitempty"`

	// forecast of the end.
	// +optional
	Forecast *FleetForecast `json:"forecast,omitempty"`

	// timeline has the newest events.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=30
	Timeline []FleetEvent `json:"timeline,omitempty"`
}

// FleetCount counts Clusters by what they are. All but total add up to total.
type FleetCount struct {
	// total is the number of all.
	Total int32 `json:"total"`
	// notRequested do not have the feature.
	NotRequested int32 `json:"notRequested"`
	// ineligible wait for something that is wrong with themselves.
	Ineligible int32 `json:"ineligible"`
	// queued wait for their turn.
	Queued int32 `json:"queued"`
	// inFlight migrate now.
	InFlight int32 `json:"inFlight"`
	// succeeded have condition CSIKubeletMigrationCompleted.
	Succeeded int32 `json:"succeeded"`
	// failed need a person.
	Failed int32 `json:"failed"`
	// rolledBack were rolled back, or are being.
	RolledBack int32 `json:"rolledBack"`
}

// FleetNodeCount counts Nodes.
type FleetNodeCount struct {
	// known are those of all Clusters whose number is known.
	Known int32 `json:"known"`
	// inFlight are those of Clusters whose Machines are being replaced.
	InFlight int32 `json:"inFlight"`
	// migrated are those of Clusters that have succeeded.
	Migrated int32 `json:"migrated"`
}

// ReasonCount counts Clusters with one reason.
type ReasonCount struct {
	// reason in CamelCase.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	NamedCount `json:",inline"`
}

// NamedCount counts Clusters and names some.
type NamedCount struct {
	// count is how many they are.
	Count int32 `json:"count"`

	// examples are up to three, as namespace/name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:MaxLength=317
	Examples []string `json:"examples,omitempty"`
}

// WaveStatus says how far a wave is.
type WaveStatus struct {
	// name of the wave.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Name string `json:"name,omitempty"`

	// state of the wave.
	// +optional
	State WaveState `json:"state,omitempty"`

	// waitsFor is the reason why it is not further.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	WaitsFor string `json:"waitsFor,omitempty"`

	// openedAt is when its first Cluster could start. It is never taken back.
	// +optional
	OpenedAt *metav1.Time `json:"openedAt,omitempty"`

	// passedAt is when it passed. It is never taken back.
	// +optional
	PassedAt *metav1.Time `json:"passedAt,omitempty"`

	// clusters counts those of the wave.
	// +optional
	Clusters FleetCount `json:"clusters,omitempty,omitzero"`

	// gate is the report about the waves before: what an approval approves.
	// +optional
	Gate *GateStatus `json:"gate,omitempty"`

	// failed are the newest three.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=3
	Failed []FailedCluster `json:"failed,omitempty"`
}

// GateStatus is the report about the waves before a wave.
type GateStatus struct {
	// digest of this wave's settings and of the counts below. A failure that comes late changes it; a Cluster that joins does not.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Digest string `json:"digest,omitempty"`

	// succeeded is the number of Clusters that succeeded.
	Succeeded int32 `json:"succeeded"`
	// failed is the number of Clusters that failed.
	Failed int32 `json:"failed"`
	// met is the number of Clusters that met their service level objectives.
	Met int32 `json:"met"`
	// inconclusive is the number of Clusters with too little to judge them by.
	Inconclusive int32 `json:"inconclusive"`
	// violated is the number of Clusters that violated them.
	Violated int32 `json:"violated"`
}

// FailedCluster is a Cluster that needs a person.
type FailedCluster struct {
	// cluster as namespace/name.
	// +required
	// +kubebuilder:validation:MaxLength=317
	Cluster string `json:"cluster,omitempty"`

	// reason in CamelCase.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Reason string `json:"reason,omitempty"`

	// since is from when it has needed one.
	// +required
	Since metav1.Time `json:"since,omitzero"`
}

// BudgetStatus says how full a budget is.
type BudgetStatus struct {
	// name of the budget.
	// +required
	// +kubebuilder:validation:MaxLength=40
	Name string `json:"name,omitempty"`

	// value of its label.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Value string `json:"value,omitempty"`

	// used is how many Clusters, or Nodes, count in it now.
	Used int32 `json:"used"`

	// limit is how many may.
	Limit int32 `json:"limit"`
}

// MaintenanceStatus says which windows are open.
type MaintenanceStatus struct {
	// open windows.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=40
	Open []string `json:"open,omitempty"`

	// nextChangeAt is when the next window or exclusion begins or ends.
	// +optional
	NextChangeAt *metav1.Time `json:"nextChangeAt,omitempty"`
}

// AdmittingCluster is a Cluster that is being admitted.
type AdmittingCluster struct {
	// namespace of the Cluster.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name of the Cluster.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// uid of the Cluster.
	// +required
	// +kubebuilder:validation:MaxLength=63
	UID string `json:"uid,omitempty"`

	// wave that it is admitted in.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Wave string `json:"wave,omitempty"`
}

// FleetHalt is why no Cluster is admitted any more.
type FleetHalt struct {
	// at is when it began.
	// +required
	At metav1.Time `json:"at,omitzero"`

	// reason in CamelCase.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Reason string `json:"reason,omitempty"`

	// message says what happened and what to do.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// clusters that caused it, as namespace/name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=317
	Clusters []string `json:"clusters,omitempty"`
}

// FleetForecast is when the last Cluster will have been migrated, if all goes as it did so far.
type FleetForecast struct {
	// earliest time of the end.
	// +required
	Earliest metav1.Time `json:"earliest,omitzero"`

	// latest time of the end.
	// +required
	Latest metav1.Time `json:"latest,omitzero"`
}

// FleetEvent is something that happened.
type FleetEvent struct {
	// time it happened.
	// +required
	Time metav1.Time `json:"time,omitzero"`

	// kind in CamelCase, such as Admitted, WaveOpened, WavePassed, Halted or Resumed.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Kind string `json:"kind,omitempty"`

	// message in one sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
}
