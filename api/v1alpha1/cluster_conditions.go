package v1alpha1

// Summary conditions, read by kstatus, Argo CD and Flux.
const (
	// ReadyCondition is the summary: True when the cluster is in-tree with the feature off, migrated, or external.
	ReadyCondition = "Ready"
	// ReconcilingCondition is present, and True, only while the controller works or waits by itself.
	ReconcilingCondition = "Reconciling"
	// StalledCondition is present, and True, only when a person must act, and as long as no one can look whether that is over.
	StalledCondition = "Stalled"

	// InTreeReason surfaces on Ready when the feature is off and KCM runs the cloud loops, as far as the message says that it was
	// looked at.
	InTreeReason = "InTree"
	// ExternalReason surfaces on Ready when a cluster that was created with the feature runs its addons.
	ExternalReason = "External"
	// MigratedReason surfaces on Ready when the migration is completed.
	MigratedReason = "Migrated"
	// RolledBackReason surfaces on Ready and on the steps when the migration is rolled back.
	RolledBackReason = "RolledBack"
	// DeletingReason surfaces on Ready while a deleted Cluster waits for the next safe row.
	DeletingReason = "Deleting"
)

// PausedCondition and its reasons.
const (
	// PausedCondition is True when spec.paused is set; the controller changes nothing then, and the message says what still moves.
	PausedCondition = "Paused"
	// PausedReason surfaces when spec.paused is true.
	PausedReason = "Paused"
	// NotPausedReason surfaces when spec.paused is not true.
	NotPausedReason = "NotPaused"
)

// ReadyToMigrateCondition and its reasons.
const (
	// ReadyToMigrateCondition is there while the feature is off and spec.preflight.lookAhead is not Never: True when the last
	// look found nothing that blocks a migration. It says nothing about Ready.
	ReadyToMigrateCondition = "ReadyToMigrate"
	// NothingBlocksReason surfaces when nothing that was found blocks a migration; there may be warnings.
	NothingBlocksReason = "NothingBlocks"
	// FindingsReason surfaces when there are blocking findings; the message counts and names them.
	FindingsReason = "Findings"
	// NotLookedYetReason surfaces until the first look, which comes within 6 hours.
	NotLookedYetReason = "NotLookedYet"
)

// CloudLoopsAttendedCondition and its reasons.
const (
	// CloudLoopsAttendedCondition is True while a manager with a live Lease runs the cloud loops, False when they were last
	// known to run nowhere, and Unknown when they ran and it cannot be looked at any more.
	CloudLoopsAttendedCondition = "CloudLoopsAttended"
	// AttendedReason surfaces when a manager runs the cloud loops.
	AttendedReason = "Attended"
	// CloudLoopsUnattendedReason surfaces when no manager runs the cloud loops: at once on CloudLoopsAttended, after
	// spec.slo.unattendedSeconds on Ready, and after twice that time on Stalled; on ReadyToMigrate, when a look found it so. With
	// the feature off, these times count to the looks.
	CloudLoopsUnattendedReason = "CloudLoopsUnattended"
	// LookingReason surfaces while a Lease has not been watched for long enough to tell whether it is renewed.
	LookingReason = "Looking"
	// HibernatedReason surfaces when the control plane is scaled to 0.
	HibernatedReason = "Hibernated"
)

// UserClusterReachableCondition and its reasons.
const (
	// UserClusterReachableCondition is True while the user cluster's API server answers.
	UserClusterReachableCondition = "UserClusterReachable"
	// ReachableReason surfaces when the last probe was answered.
	ReachableReason = "Reachable"
	// UnreachableReason surfaces when the API server does not answer.
	UnreachableReason = "Unreachable"
	// ResponseTooLargeReason surfaces when the API server answers with more than is read of one answer.
	ResponseTooLargeReason = "ResponseTooLarge"
	// UnauthorizedReason surfaces when the API server refuses the credentials.
	UnauthorizedReason = "Unauthorized"
	// KubeconfigMissingReason surfaces when there is no kubeconfig Secret or key.
	KubeconfigMissingReason = "KubeconfigMissing"
	// KubeconfigInvalidReason surfaces when the kubeconfig cannot be parsed.
	KubeconfigInvalidReason = "KubeconfigInvalid"
	// KubeconfigRefusedReason surfaces when the kubeconfig uses something that would let its author run code, read
	// files or send requests in the management cluster: exec, auth-provider, file paths, insecure TLS, a proxy, or a
	// server at an address of the manager's host, of a metadata service or of the management cluster's API server.
	KubeconfigRefusedReason = "KubeconfigRefused"
)

// Conditions of the steps, in the order of the migration table.
const (
	// AdmittedCondition is True when nothing holds the cluster back from starting.
	AdmittedCondition = "Admitted"
	// PreflightPassedCondition is True when no blocking finding stood against the start.
	PreflightPassedCondition = "PreflightPassed"
	// CSIReadyCondition is True when the CSI driver is applied and healthy.
	CSIReadyCondition = "CSIReady"
	// CloudControllerManagerReadyCondition is True when the CCM is applied and available (fenced before the hand-over).
	CloudControllerManagerReadyCondition = "CloudControllerManagerReady"
	// HandoverCompletedCondition is True when KCM is proven silent and the CCM leads.
	HandoverCompletedCondition = "HandoverCompleted"
	// VolumeMigrationReadyCondition is True when the CSI migration gates of this minor are on in the control plane.
	VolumeMigrationReadyCondition = "VolumeMigrationReady"
	// MachineControllerConfiguredCondition is True when new machines join with an external cloud provider.
	MachineControllerConfiguredCondition = "MachineControllerConfigured"
	// MachineDeploymentsRolledOutCondition is True when every Machine is up-to-date.
	MachineDeploymentsRolledOutCondition = "MachineDeploymentsRolledOut"
	// NodesInitializedCondition is True when the move is proven on every Node.
	NodesInitializedCondition = "NodesInitialized"
	// CSIKubeletMigrationCompletedCondition is the promise of the manual: True when the migration is completed.
	CSIKubeletMigrationCompletedCondition = "CSIKubeletMigrationCompleted"
	// InTreeConfigurationRemovedCondition is True when the in-tree flags are gone from the control plane.
	InTreeConfigurationRemovedCondition = "InTreeConfigurationRemoved"

	// CSIKubeletMigrationInProgressReason surfaces on CSIKubeletMigrationCompleted until it is True.
	CSIKubeletMigrationInProgressReason = "CSIKubeletMigrationInProgress"
	// CSIKubeletMigrationSuccessReason surfaces on CSIKubeletMigrationCompleted when it is True.
	CSIKubeletMigrationSuccessReason = "CSIKubeletMigrationSuccess"
)

// Reasons of condition Admitted, and what a FleetMigration holds.
const (
	// QueuedReason surfaces on a Cluster that waits for its turn; on Ready, with status True: nothing is being changed.
	QueuedReason = "Queued"
	// NoFleetMigrationReason surfaces on a Cluster that no FleetMigration selects, where --fleet-admission is Required.
	NoFleetMigrationReason = "NoFleetMigration"
	// FleetMigrationGoneReason surfaces when the FleetMigration that queued the Cluster is gone.
	FleetMigrationGoneReason = "FleetMigrationGone"
	// NotSelectedReason surfaces when the FleetMigration that queued the Cluster selects it no longer.
	NotSelectedReason = "NotSelected"
	// SettlingReason surfaces for the first seconds of a Cluster whose feature was switched on and that no FleetMigration selects:
	// one that was applied with it may come a moment later.
	SettlingReason = "Settling"
	// UnmanagedStartsReason surfaces when as many Clusters without FleetMigration started within the hour as
	// --max-unmanaged-starts allows.
	UnmanagedStartsReason = "UnmanagedStarts"
	// HeldByFleetReason surfaces while a FleetMigration holds the roll of a Cluster: it halted, or its window has closed.
	HeldByFleetReason = "HeldByFleet"
)

// Reasons that several step conditions share.
const (
	// HoldsReason surfaces when the step's post-condition holds.
	HoldsReason = "Holds"
	// WaitingForEarlierStepReason surfaces on the steps behind the current one.
	WaitingForEarlierStepReason = "WaitingForEarlierStep"
	// ActingReason surfaces when the controller changes something for this step in this pass.
	ActingReason = "Acting"
	// CouldNotLookReason surfaces, with status Unknown, when what the step needs to know could not be read.
	CouldNotLookReason = "CouldNotLook"
	// CouldNotActReason surfaces, with status Unknown, when a change failed and is tried again; with Stalled, when our right to
	// KCM's Lease is still there although it was deleted.
	CouldNotActReason = "CouldNotAct"
	// NoNodesReason surfaces when addons are applied but the cluster has no Node to run them.
	NoNodesReason = "NoNodes"
)

// Reasons of waiting: not Stalled, and most end by themselves.
const (
	// RollingOutReason surfaces while a workload has old pods or is not available yet.
	RollingOutReason = "RollingOut"
	// ProbingReason surfaces while the CCM leads once under another name, before KCM is touched.
	ProbingReason = "Probing"
	// AdoptionPlannedReason surfaces while the plan of an adoption stands in status.adoption and nothing of it is done yet.
	AdoptionPlannedReason = "AdoptionPlanned"
	// ArmingReason surfaces while KCM and the CCM are given the migration lock, and until the CCM holds it.
	ArmingReason = "Arming"
	// UpgradeRequiredReason surfaces while the owner of the control plane has to upgrade it in the middle of a hand-over across
	// minors.
	UpgradeRequiredReason = "UpgradeRequired"
	// ProvingSilenceReason surfaces while a KCM process that may run cloud loops is not proven to have ended.
	ProvingSilenceReason = "ProvingSilence"
	// WaitingForAdministratorReason surfaces while another owner has to change the control plane, as status.instructions or
	// the message says.
	WaitingForAdministratorReason = "WaitingForAdministrator"
	// NodesNotReadyReason surfaces while a Node is not Ready at the moment the fence would be opened.
	NodesNotReadyReason = "NodesNotReady"
	// WaitingForLeaderReason surfaces while the CCM does not lead yet.
	WaitingForLeaderReason = "WaitingForLeader"
	// LoadBalancersChangingReason surfaces while the cloud changes load balancers that are to be renamed.
	LoadBalancersChangingReason = "LoadBalancersChanging"
	// WaitingForMachinesReason surfaces while Machines of a MachineDeployment are being replaced or proven.
	WaitingForMachinesReason = "WaitingForMachines"
	// ProvingCanaryReason surfaces while one extra Machine is proven before the others are replaced.
	ProvingCanaryReason = "ProvingCanary"
	// WaitingForNodesReason surfaces while a Node is not proven.
	WaitingForNodesReason = "WaitingForNodes"
	// WaitingForBootstrapDataReason surfaces while bootstrap data is not written for the newest Machines, or does not start external
	// kubelets.
	WaitingForBootstrapDataReason = "WaitingForBootstrapData"
	// RegisteringVolumesReason surfaces while the CSI driver registers in-tree volumes, before a Node is drained.
	RegisteringVolumesReason = "RegisteringVolumes"
	// WaitingForBudgetReason surfaces while the rollout budget allows nothing.
	WaitingForBudgetReason = "WaitingForBudget"
	// WaitingForApprovalReason surfaces while spec.mode is PlanOnly and no one approved the plan in status.plan.
	WaitingForApprovalReason = "WaitingForApproval"
	// SoakingReason surfaces while the proof has to stay stable for the soak time.
	SoakingReason = "Soaking"
	// WaitingBeforePointOfNoReturnReason surfaces while spec.handover.pauseBeforePointOfNoReturn holds the migration.
	WaitingBeforePointOfNoReturnReason = "WaitingBeforePointOfNoReturn"
	// RollbackInProgressReason surfaces on the steps that are not rolled back yet.
	RollbackInProgressReason = "RollbackInProgress"
	// WaitingForVolumesReason surfaces while a volume is attached by the CSI driver that a rollback takes out of its way.
	WaitingForVolumesReason = "WaitingForVolumes"
)

// Reasons of failure: a person must act, Stalled is True.
const (
	// PreflightFailedReason surfaces when blocking findings stand against the start.
	PreflightFailedReason = "PreflightFailed"
	// PlanNotApprovedReason surfaces when the plan is not the one that spec.approval names: something changed since.
	PlanNotApprovedReason = "PlanNotApproved"
	// LoopsOffAlreadyReason surfaces when KCM is to run the cloud loops and its arguments do not: they are switched off, or it has
	// no in-tree cloud provider, and no migration of this Cluster did that.
	LoopsOffAlreadyReason = "LoopsOffAlready"
	// RecordUnusableReason surfaces when the record of an earlier migration of this name cannot be used: it is of another control
	// plane or provider, or cannot be read.
	RecordUnusableReason = "RecordUnusable"
	// MigrationRecordedReason surfaces when the feature is off and the record says that a migration of this control plane began.
	MigrationRecordedReason = "MigrationRecorded"
	// CloudLoopsRunningReason surfaces when the KCM of a cluster created with the feature runs cloud loops.
	CloudLoopsRunningReason = "CloudLoopsRunning"
	// CloudLoopsContendedReason surfaces when KCM, or a CCM that is not ours, may run cloud loops after the hand-over.
	CloudLoopsContendedReason = "CloudLoopsContended"
	// FenceIneffectiveReason surfaces when the CCM's identity may write its Lease although the fence is closed.
	FenceIneffectiveReason = "FenceIneffective"
	// ProbeFailedReason surfaces when the CCM did not lead, or did not stay up, under another name; KCM was not touched.
	ProbeFailedReason = "ProbeFailed"
	// MigrationLockRefusedReason surfaces when protocol LeaderMigration is wanted and cannot work here.
	MigrationLockRefusedReason = "MigrationLockRefused"
	// AddonsReleasedReason surfaces when spec.addons.management is Released: the addons are neither applied nor repaired.
	AddonsReleasedReason = "AddonsReleased"
	// ForeignObjectsReason surfaces when addon objects exist that are not in our inventory, or a CCM that is not ours runs.
	ForeignObjectsReason = "ForeignObjects"
	// BlockedMachinesReason surfaces when Machines or MachineDeployments cannot be rolled.
	BlockedMachinesReason = "BlockedMachines"
	// MachineDeploymentFieldConflictReason surfaces when someone takes our forceRestart value out again.
	MachineDeploymentFieldConflictReason = "MachineDeploymentFieldConflict"
	// CanaryFailedReason surfaces when the extra Machine did not become a proven Node in time; no other Machine was touched.
	CanaryFailedReason = "CanaryFailed"
	// BreakerTrippedReason surfaces when a new Node was not initialized in time: the roll stands still.
	BreakerTrippedReason = "BreakerTripped"
	// NodesNotInitializedReason surfaces when a Node missed its deadline.
	NodesNotInitializedReason = "NodesNotInitialized"
	// VolumesNotRegisteredReason surfaces when the CSI driver did not register an in-tree volume in time.
	VolumesNotRegisteredReason = "VolumesNotRegistered"
	// BootstrapDataNotExternalReason surfaces when what new Machines boot with does not start external kubelets, or is not written
	// in time.
	BootstrapDataNotExternalReason = "BootstrapDataNotExternal"
	// KubeletsNotExternalReason surfaces when a new Node joined in-tree, or nothing shows that it did not.
	KubeletsNotExternalReason = "KubeletsNotExternal"
	// InventoryChangedReason surfaces when load balancers, volumes, Nodes or StorageClasses differ from the baseline, and no one
	// knows why.
	InventoryChangedReason = "InventoryChanged"
	// SLOViolatedReason surfaces when Nodes or load balancers were too slow, or could not be updated, while Machines are rolled.
	SLOViolatedReason = "SLOViolated"
	// NodeAddressesDifferReason surfaces when the CCM sees other addresses of Nodes than the kubelets of the in-tree provider
	// report.
	NodeAddressesDifferReason = "NodeAddressesDiffer"
	// LeaderDeadlineExceededReason surfaces when the CCM does not lead in time after the fence was opened.
	LeaderDeadlineExceededReason = "LeaderDeadlineExceeded"
	// RollbackRefusedReason surfaces when spec.handover.rollback asks for what cannot be rolled back any more.
	RollbackRefusedReason = "RollbackRefused"
	// VolumesNeedDriverReason surfaces when spec.handover.rollbackAddons would take the CSI driver from a volume.
	VolumesNeedDriverReason = "VolumesNeedDriver"
	// ComponentUnclaimedReason surfaces when kube-apiserver or kube-scheduler was found beside KCM with in-tree flags, and
	// spec.controlPlane does not say who owns it.
	ComponentUnclaimedReason = "ComponentUnclaimed"
	// LoadBalancersNotRenamedReason surfaces when a load balancer cannot get the CCM's name, because another one has it, or the
	// cloud changes nothing of it.
	LoadBalancersNotRenamedReason = "LoadBalancersNotRenamed"
	// InputInvalidReason surfaces when something the Cluster refers to is missing or not understood.
	InputInvalidReason = "InputInvalid"
	// InternalErrorReason surfaces when a pass of the controller panicked; nothing is done for this cluster meanwhile.
	InternalErrorReason = "InternalError"
	// StatusRefusedReason surfaces when the API server refuses every newer status of this Cluster.
	StatusRefusedReason = "StatusRefused"
	// NotSupportedReason surfaces when the provider or the Kubernetes version cannot be migrated.
	NotSupportedReason = "NotSupported"
)
