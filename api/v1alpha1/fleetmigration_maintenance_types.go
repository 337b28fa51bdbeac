package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// FleetMaintenance says when Clusters may start.
type FleetMaintenance struct {
	// windows in which Clusters may start. Without any they may always; where there are some, a Cluster that none selects never
	// may. Of several that select a Cluster, one that is open suffices.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Windows []FleetWindow `json:"windows,omitempty"`

	// exclusions are times in which no Cluster starts, whatever window is open.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Exclusions []FleetExclusion `json:"exclusions,omitempty"`
}

// FleetWindow is a window of some Clusters of a fleet.
type FleetWindow struct {
	MaintenanceWindow `json:",inline"`

	// clusterSelector selects the Clusters that the window is for. When unset, it is for all.
	// +optional
	ClusterSelector *metav1.LabelSelector `json:"clusterSelector,omitempty"`

	// inFlight says what Clusters do that migrate when the window closes: Continue, or HoldRoll. Default is Continue.
	// +optional
	InFlight InFlightPolicy `json:"inFlight,omitempty"`
}

// MaintenanceWindow is a time that comes again and again.
type MaintenanceWindow struct {
	// name of the window.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// schedule says when the window opens: minute, hour, day of month, month and day of week, as in a CronJob, such as
	// "0 22 * * 1-4". Macros such as @daily, and a time zone in it, are refused.
	// +required
	// +kubebuilder:validation:MinLength=9
	// +kubebuilder:validation:MaxLength=120
	// +kubebuilder:validation:XValidation:rule="!self.contains('=') && !self.contains('@')",message="schedule has five fields as in a CronJob, without macros such as @daily and without a time zone: set timeZone"
	Schedule string `json:"schedule,omitempty"`

	// durationSeconds is how long the window stays open, from 15 minutes to 7 days.
	// +required
	// +kubebuilder:validation:Minimum=900
	// +kubebuilder:validation:Maximum=604800
	DurationSeconds int32 `json:"durationSeconds,omitempty"`

	// timeZone of the schedule, by its name in the IANA database, such as Europe/Berlin. A time that the clocks skip is the end
	// of the gap; one that comes twice is the first.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	TimeZone string `json:"timeZone,omitempty"`

	// minRemainingSeconds is how much of the window has to be left for a Cluster to start. Default is 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=604800
	MinRemainingSeconds *int32 `json:"minRemainingSeconds,omitempty"`
}

// FleetExclusion is a time in which no Cluster starts.
// +kubebuilder:validation:XValidation:rule="self.from < self.to",message="an exclusion's from has to be before its to"
type FleetExclusion struct {
	// name of the exclusion.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// from is when it begins.
	// +required
	From metav1.Time `json:"from,omitzero"`

	// to is when it ends.
	// +required
	To metav1.Time `json:"to,omitzero"`

	// inFlight says what Clusters do that migrate then: Continue, or HoldRoll. Default is Continue.
	// +optional
	InFlight InFlightPolicy `json:"inFlight,omitempty"`
}
