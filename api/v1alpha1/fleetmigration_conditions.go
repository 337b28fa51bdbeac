package v1alpha1

// Conditions of a FleetMigration, besides Ready, Reconciling and Stalled.
const (
	// AcceptedCondition is True when the spec can be followed. What cannot be admits no Cluster.
	AcceptedCondition = "Accepted"
	// AllClustersPlacedCondition is False when no wave selects some of its Clusters; they never start.
	AllClustersPlacedCondition = "AllClustersPlaced"
	// WindowOpenCondition is True while some Cluster may start by the windows and exclusions of the FleetMigration.
	WindowOpenCondition = "WindowOpen"
	// HaltedCondition is True from the halt until spec.failures.countSince ends it.
	HaltedCondition = "Halted"
)

// Reasons of a FleetMigration's conditions.
const (
	// FleetRunningReason surfaces while Clusters are, or will be, admitted.
	FleetRunningReason = "Running"
	// FleetPassedReason surfaces when the last wave has passed.
	FleetPassedReason = "Passed"
	// FleetOnHoldReason surfaces when spec.mode is Hold.
	FleetOnHoldReason = "Hold"
	// FleetPlanOnlyReason surfaces when spec.mode is PlanOnly.
	FleetPlanOnlyReason = "PlanOnly"
	// FleetSpecInvalidReason surfaces when the spec cannot be followed.
	FleetSpecInvalidReason = "SpecInvalid"
	// FirstWaveEmptyReason surfaces when the first wave has no Cluster: a misspelled selector must not make the next wave the
	// first one.
	FirstWaveEmptyReason = "FirstWaveEmpty"
	// NoWindowAheadReason surfaces when no window opens within 32 days.
	NoWindowAheadReason = "NoWindowAhead"
	// MaxFailuresExceededReason surfaces on a halt by the failures of one wave, or of all.
	MaxFailuresExceededReason = "MaxFailuresExceeded"
)

// Obstacles are reasons why a Cluster is not admitted.
const (
	// ClaimedElsewhereReason: another FleetMigration has it.
	ClaimedElsewhereReason = "ClaimedElsewhere"
	// UnplacedReason: no wave selects it.
	UnplacedReason = "Unplaced"
	// FleetHaltedReason: the FleetMigration halted.
	FleetHaltedReason = "Halted"
	// FleetRollsBackReason: the FleetMigration rolls Clusters back.
	FleetRollsBackReason = "RollsBack"
	// WaveWaitingReason: the wave before has not passed.
	WaveWaitingReason = "WaveWaiting"
	// AwaitingApprovalReason: a person has to approve the wave.
	AwaitingApprovalReason = "AwaitingApproval"
	// NodesUnknownReason: the number of its Nodes is not known.
	NodesUnknownReason = "NodesUnknown"
	// PreflightUnknownReason: it was not looked at lately.
	PreflightUnknownReason = "PreflightUnknown"
	// PreflightFindingsReason: findings block its migration.
	PreflightFindingsReason = "PreflightFindings"
	// FeatureOwnedElsewhereReason: someone else's apply holds spec.features.externalCloudProvider false.
	FeatureOwnedElsewhereReason = "FeatureOwnedElsewhere"
	// WindowsInvalidReason: spec.maintenance.windows of the Cluster cannot be read.
	WindowsInvalidReason = "WindowsInvalid"
	// NoWindowReason: there are windows, and none selects it.
	NoWindowReason = "NoWindow"
	// WindowClosedReason: no window of it is open, or too little of it is left.
	WindowClosedReason = "WindowClosed"
	// ExcludedReason: an exclusion holds.
	ExcludedReason = "Excluded"
	// ConcurrencyReachedReason: as many Clusters of its wave migrate as may at once.
	ConcurrencyReachedReason = "ConcurrencyReached"
	// CanariesFirstReason: the canaries of its wave have to succeed and soak first.
	CanariesFirstReason = "CanariesFirst"
	// BudgetExhaustedReason: a budget is full.
	BudgetExhaustedReason = "BudgetExhausted"
	// BudgetReservedReason: a budget is kept for a larger Cluster that has waited for it for long.
	BudgetReservedReason = "BudgetReserved"
	// StartsPerHourReason: as many Clusters started within the hour as may.
	StartsPerHourReason = "StartsPerHour"
	// ProgressDeadlineExceededReason surfaces on a failed Cluster that took too long.
	ProgressDeadlineExceededReason = "ProgressDeadlineExceeded"
)
