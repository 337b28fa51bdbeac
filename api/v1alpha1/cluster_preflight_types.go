package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PreflightSpec says what a person decided about the findings of preflight.
type PreflightSpec struct {
	// accept names blocking findings that a person looked at and takes upon themselves. Findings about what the Cluster refers
	// to, such as a missing Secret, cannot be accepted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Accept []AcceptedFinding `json:"accept,omitempty"`

	// lookAhead is Daily, or Never. Daily looks once a day at what would stand in the way of a migration, while the feature is
	// off: nothing is changed, condition ReadyToMigrate says what was found, and status.preflight has it. Default is Daily.
	// +optional
	LookAhead LookAheadMode `json:"lookAhead,omitempty"`
}

// LookAheadMode says whether a cluster whose feature is off is looked at.
// +kubebuilder:validation:Enum=Daily;Never
type LookAheadMode string

const (
	// DailyLookAhead looks once a day; the first looks of a fleet are spread over 6 hours.
	DailyLookAhead LookAheadMode = "Daily"
	// NeverLookAhead leaves the user cluster alone.
	NeverLookAhead LookAheadMode = "Never"
)

// LookAheadStatus is when a cluster whose feature is off is looked at. A restart must neither look again nor begin to wait again.
type LookAheadStatus struct {
	// nextAt is when the next look is due; a limit for the whole fleet may delay it.
	// +optional
	NextAt *metav1.Time `json:"nextAt,omitempty"`

	// lookedAt is when the user cluster was last reached by a look.
	// +optional
	LookedAt *metav1.Time `json:"lookedAt,omitempty"`

	// triedAt is when the last look was made, whether the user cluster was reached or not.
	// +optional
	TriedAt *metav1.Time `json:"triedAt,omitempty"`

	// generation of the spec that the last look was made with. A change of the spec is looked at sooner.
	// +optional
	Generation int64 `json:"generation,omitempty"`

	// leader is what the last look saw of KCM: Leads, Missing, NotSeen or Hibernated; empty before the first one, and when KCM's
	// arguments run no cloud loops.
	// +optional
	Leader LookedLeader `json:"leader,omitempty"`

	// leaderAt is when it was looked for.
	// +optional
	LeaderAt *metav1.Time `json:"leaderAt,omitempty"`
}

// LookedLeader is what a look ahead saw of KCM.
// +kubebuilder:validation:Enum=Leads;Missing;NotSeen;Hibernated
type LookedLeader string

const (
	// LeaderLeads means that a process of KCM that runs the cloud loops held its Lease.
	LeaderLeads LookedLeader = "Leads"
	// LeaderMissing means that none did.
	LeaderMissing LookedLeader = "Missing"
	// LeaderNotSeen means that it could not be looked at.
	LeaderNotSeen LookedLeader = "NotSeen"
	// LeaderHibernated means that the control plane is scaled to 0.
	LeaderHibernated LookedLeader = "Hibernated"
)

// AcceptedFinding is a finding that a person accepts.
type AcceptedFinding struct {
	// id of the finding, such as NodeNotReady.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
	ID string `json:"id,omitempty"`

	// objects of the finding that are accepted, as Kind namespace/name. When empty, all of them are. An object that comes
	// to the finding later blocks again.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=600
	Objects []string `json:"objects,omitempty"`

	// reason why it is accepted, for those who read it later.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Reason string `json:"reason,omitempty"`

	// until when it is accepted; without it, until the migration starts.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
}

// FindingSeverity says what a finding does: a Blocking one keeps the migration back, a Warning is to be known before it starts,
// an Info says what will be different.
// +kubebuilder:validation:Enum=Blocking;Warning;Info
type FindingSeverity string

// PreflightStatus is what was found before the start, by a look ahead while the feature is off; afterwards it stays as it was,
// until the cloud can be asked before the first Machine is replaced.
type PreflightStatus struct {
	// judgedAt is when the findings were last seen to change.
	// +optional
	JudgedAt *metav1.Time `json:"judgedAt,omitempty"`

	// blocking is the number of those that keep the migration back and are not accepted.
	Blocking int32 `json:"blocking"`

	// warnings is the number of those to know before.
	Warnings int32 `json:"warnings"`

	// infos is the number of those that say what will be different.
	Infos int32 `json:"infos"`

	// accepted is the number of blocking ones that a person accepted.
	Accepted int32 `json:"accepted"`

	// notLookedAt is the number of checks that no one could look at, whatever their severity: they are not passed. The other
	// numbers are without them.
	NotLookedAt int32 `json:"notLookedAt"`

	// findings are the worst ten; the command plan shows all of them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	Findings []PreflightFinding `json:"findings,omitempty"`
}

// PreflightFinding is one of the findings.
type PreflightFinding struct {
	// id of the check; its runbook has that name.
	// +required
	// +kubebuilder:validation:MaxLength=63
	ID string `json:"id,omitempty"`

	// severity of the finding.
	// +required
	Severity FindingSeverity `json:"severity,omitempty"`

	// message says what was found, what would happen, and what to do.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// about are the objects that the message names, in its order; at most ten.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	About []ObjectName `json:"about,omitempty"`

	// objects that it is about, as Kind namespace/name; at most ten are named.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=600
	Objects []string `json:"objects,omitempty"`

	// notLookedAt says that no one could look.
	// +optional
	NotLookedAt bool `json:"notLookedAt,omitempty"`

	// accepted says that a person accepted it.
	// +optional
	Accepted bool `json:"accepted,omitempty"`
}
