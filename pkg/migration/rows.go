package migration

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/rollback"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// migrationTable is for clusters that move from the in-tree cloud provider.
func migrationTable() []Row { return append(untilHandedOver(), behindHandover()...) }

func untilHandedOver() []Row {
	return []Row{
		{
			Step: ucv1.StepAdmitted, Means: "The migration started, or nothing holds the cluster back from starting.",
			Conditions: []string{ucv1.AdmittedCondition},
			evaluate:   start.Admitted,
		},
		{
			Step: ucv1.StepPreflight, Means: "The migration started, or there is no blocking finding.",
			Conditions: []string{ucv1.PreflightPassedCondition},
			Records:    []string{"startedAt", "inherited", "handover.protocol", "handover.protocolReason", "handover.leaderMigration"},
			evaluate:   start.Preflight,
		},
		{
			Step: ucv1.StepAddons, Means: "The CSI driver is ready. The CCM is applied, available and fenced.",
			Conditions: []string{ucv1.CSIReadyCondition, ucv1.CloudControllerManagerReadyCondition}, About: AboutAddons,
			Actions:  addonActions(),
			Records:  addonRecords(),
			evaluate: addons,
		},
		{
			Step: ucv1.StepHandover, Means: "KCM is proven silent. The CCM leads exactly the loops that KCM ran.",
			Conditions: []string{ucv1.HandoverCompletedCondition},
			Actions:    handoverActions(), Records: handoverRecords(),
			evaluate: loops.HandOver,
		},
	}
}

func behindHandover() []Row {
	return []Row{
		{
			Step: ucv1.StepVolumeMigration,
			Means: "The CSI migration gates that this minor still has are on in every control-plane component that was found, with no " +
				"old pod left.",
			Conditions: []string{ucv1.VolumeMigrationReadyCondition},
			Actions:    []outcome.ActionKind{outcome.ActionChangeArguments}, Records: []string{"handover.original"},
			evaluate: components.VolumesMigrated,
		},
		{
			Step: ucv1.StepMachineController,
			Means: "The CCM leads, with its loop cloud-node. Every Deployment of the machine-controller is found and carries its flag, " +
				"with no old pod left.",
			Conditions: []string{ucv1.MachineControllerConfiguredCondition}, About: AboutMachines,
			Actions:  []outcome.ActionKind{outcome.ActionChangeArguments},
			Records:  []string{"cloudNode", "machineControllerConfiguredAt"},
			evaluate: machineController,
		},
		{
			Step: ucv1.StepRoll, Means: "Every MachineDeployment is rolled and every Machine is up-to-date.",
			Conditions: []string{ucv1.MachineDeploymentsRolledOutCondition}, About: AboutMachines,
			Actions: rollActions(), Records: rollRecords(),
			evaluate: roll,
		},
		{
			Step: ucv1.StepVerify,
			Means: "Every Node is proven, its external kubelet included, load balancers and volumes are as in the baseline, and it " +
				"stayed so for the soak time.",
			Conditions: []string{ucv1.NodesInitializedCondition}, About: AboutBaseline,
			Records:  []string{"stableSince"},
			evaluate: verify,
		},
		{
			Step: ucv1.StepComplete, Means: "Condition CSIKubeletMigrationCompleted is True.",
			Conditions: []string{ucv1.CSIKubeletMigrationCompletedCondition},
			Records:    []string{"completedAt", "pointOfNoReturnAt"},
			evaluate:   markCompleted,
		},
		{
			Step: ucv1.StepFinalize,
			Means: "The in-tree flags are gone from every control-plane component that was found. The default StorageClass was " +
				"judged, and load balancers have the CCM's names where spec.cloud.loadBalancers is Rename.",
			Conditions: []string{ucv1.InTreeConfigurationRemovedCondition},
			Actions: []outcome.ActionKind{
				outcome.ActionChangeArguments, outcome.ActionSwitchDefaultClass, outcome.ActionRenameLoadBalancers,
			},
			Records:  []string{"defaultStorageClass", "renamedLoadBalancers"},
			evaluate: finalize,
		},
	}
}

// externalTable is for clusters that were created with the feature: the same proof, and nothing is rolled.
func externalTable() []Row {
	return []Row{
		{
			Step: ucv1.StepAddons,
			Means: "What the Cluster refers to is usable and KCM runs no cloud loop. The CSI driver is ready, and the CCM is applied, " +
				"available and fenced.",
			Conditions: []string{ucv1.CSIReadyCondition, ucv1.CloudControllerManagerReadyCondition}, About: AboutAddons,
			Actions:  addonActions(),
			Records:  append(addonRecords(), "inherited", "handover.protocol", "handover.protocolReason"),
			evaluate: externalAddons,
		},
		{
			Step: ucv1.StepHandover, Means: "KCM is proven silent. The CCM leads. The default StorageClass was judged.",
			Conditions: []string{ucv1.HandoverCompletedCondition},
			Actions:    append(handoverActions(), outcome.ActionSwitchDefaultClass),
			Records:    append(handoverRecords(), "completedAt", "defaultStorageClass"),
			evaluate:   externalHandover,
		},
	}
}

// RollbackTable is walked like the others, from the top, one action a pass: no row rests on where an earlier pass ended.
//
//	Machines in-tree again ─► fence closed, CCM gone, proven silent ─► loops on in KCM ─► volumes
//
// Volumes come last: pods keep what is attached for as long as they like, and no one may run the cloud loops until KCM has them
// back.
func RollbackTable() []Row {
	return []Row{
		{
			Step: ucv1.StepRollbackMachineController, RollsBack: ucv1.StepMachineController, About: AboutMachines,
			Means:    "Every Deployment of the machine-controller is without its flag, with no old pod left.",
			Actions:  []outcome.ActionKind{outcome.ActionChangeArguments},
			Records:  []string{"rollback.startedAt", "rollback.machineControllerRevertedAt"},
			evaluate: rollbackMachineController,
		},
		{
			Step: ucv1.StepRollbackRoll, RollsBack: ucv1.StepRoll, About: AboutMachines,
			Means:   "Every external Machine is replaced by an in-tree one.",
			Actions: rollActions(), Records: append(rollRecords(), "rollback.rollGeneration", "rollback.rolledMachineDeployments"),
			evaluate: rollbackRoll,
		},
		{
			Step: ucv1.StepRollbackFence, RollsBack: ucv1.StepHandover,
			Means:    "The fence is closed, and no pod of the CCM is left.",
			Actions:  []outcome.ActionKind{outcome.ActionCloseFence, outcome.ActionPruneAddons},
			Records:  []string{"rollback.workloadWithdrawnAt", "rollback.workloadGoneAt"},
			evaluate: rollback.Fence,
		},
		{
			Step: ucv1.StepRollbackSilence, RollsBack: ucv1.StepHandover,
			Means:    "The CCM's Lease was not renewed for its duration since then.",
			evaluate: rollback.Silence,
		},
		{
			Step: ucv1.StepRollbackLoops, RollsBack: ucv1.StepHandover,
			Means: "KCM leads with its cloud loops and without the migration lock, and load balancers and volumes are as in the " +
				"baseline.",
			Actions:  []outcome.ActionKind{outcome.ActionChangeArguments},
			Records:  []string{"rollback.loopsOnAt"},
			evaluate: rollback.Loops,
		},
		{
			Step: ucv1.StepRollbackLock, RollsBack: ucv1.StepHandover,
			Means:    "No one holds the migration lock, and nothing of it is left.",
			Actions:  []outcome.ActionKind{outcome.ActionRemoveLock},
			evaluate: rollback.Lock,
		},
		{
			Step: ucv1.StepRollbackVolumes, RollsBack: ucv1.StepVolumeMigration,
			Means:    "The CSI migration gates are as they were, and no volume is attached through them.",
			Actions:  []outcome.ActionKind{outcome.ActionChangeArguments},
			evaluate: rollback.Volumes,
		},
		{
			Step: ucv1.StepRollbackAddons, RollsBack: ucv1.StepAddons, About: AboutAddons,
			Means: "Nothing of the probe is left. The addons stay, or are gone where spec.handover.rollbackAddons asks for it.",
			// The last one forgets what was recorded.
			Actions:  []outcome.ActionKind{outcome.ActionPruneAddons},
			Records:  []string{"rollback.startedAt", "rollback.addonsWithdrawnAt", "rollback.finishedAt"},
			evaluate: rollback.Addons,
		},
	}
}

func addonActions() []outcome.ActionKind {
	return []outcome.ActionKind{outcome.ActionApplyAddons, outcome.ActionPruneAddons, outcome.ActionOpenFence}
}

func addonRecords() []string { return []string{"adoption"} }

func handoverActions() []outcome.ActionKind {
	return []outcome.ActionKind{
		outcome.ActionTakeBaseline, outcome.ActionApplyAddons, outcome.ActionPruneAddons, outcome.ActionChangeArguments,
		outcome.ActionTouch, outcome.ActionOpenFence, outcome.ActionCloseFence, outcome.ActionReleaseCCMLease, outcome.ActionAllowLock,
		outcome.ActionReleaseLock, outcome.ActionRemoveLock,
	}
}

func handoverRecords() []string { return []string{"adoption", "baseline", "handover"} }

func rollActions() []outcome.ActionKind {
	return []outcome.ActionKind{
		outcome.ActionRollMachineDeployment, outcome.ActionStepMachineSet, outcome.ActionMarkMachines, outcome.ActionReturnMinReady,
		outcome.ActionCreateCanary, outcome.ActionRemoveCanary,
	}
}

func rollRecords() []string {
	return []string{"rollGeneration", "rolledMachineDeployments", "canary", "breaker"}
}
