package main

// The point of no return: after it, rollback is refused.
func pointOfNoReturn() []mutant {
	const rule = "rollback allowed"
	return []mutant{
		ofRollout(rule, "a MachineSet of the migration counts as in-tree by its age", "machineView.wanted", never("external")),
		in(rule, "what could not be looked at is ahead", "noreturn.Judge", never("unknown")),
		in(rule, "a rollback begins although something could not be looked at",
			"beginRollback", becomes("PointOfNoReturnUnknown", `"-"`)),
		in(rule, "a rollback begins beyond it", "beginRollback", becomes("PointOfNoReturnPassed", `"-"`)),
		in(rule, "completion does not pass it", "noreturn.Passed", never("CompletedAt")),
		ofRollout(rule, "a lone external Machine does not pass it", "Irreplaceable", never("Annotation")),
		ofRollout(rule, "the annotation alone tells what is external", "Irreplaceable", without("wanted owned")),
		in(rule, "a load balancer that in-tree naming does not find does not pass it",
			"noreturn.passedByLoadBalancers", either("SharesLoadBalancerNames")),
		in(rule, "another cluster name does not pass it", "noreturn.clusterNameKept", without("KCMClusterName")),
		in(rule, "a volume that only the driver can serve does not pass it", "noreturn.passedByVolumes", negated("made")),
		in(rule, "a KCM without in-tree provider does not pass it",
			"noreturn.passedByControlPlane", never("cloud-provider")),
		in(rule, "a minor without in-tree provider does not pass it",
			"noreturn.passedByVersion", never("LastInTreeMinor")),
		in(rule, "no one waits before it", "noreturn.Before", always("PauseBeforePointOfNoReturn")),
		in(rule, "KCM is changed before its arguments are kept", "loops.loopsOff", never("OriginalsKept")),
	}
}

// Rule 2 in a rollback: KCM gets its loops back only when the CCM is proven silent.
func rollback() []mutant {
	const rule = "2 rollback"
	return []mutant{
		in(rule, "the fence stays open in a rollback", "rollback.Fence", never("Open")),
		in(rule, "a fence that does not hold is enough in a rollback", "rollback.Fence", never("Allowed")),
		in(rule, "the CCM's workload stays", "rollback.workloadWithdrawn", never("AddonsWithdrawnAt")),
		in(rule, "pods of the CCM are not waited for", "rollback.workloadWithdrawn", always("pods")),
		in(rule, "pods of the CCM that cannot be looked at are none", "rollback.workloadWithdrawn", never("listed")),
		in(rule, "the CCM's Lease is not waited for", "rollback.ccmLeaseRanOut", always("wait")),
		in(rule, "the Lease is waited for from before the pods were gone", "rollback.ccmLeaseRanOut", never("WatchedAt")),
		in(rule, "a CCM that led counts as one that never did", "rollback.ccmLeaseRanOut", without("FenceOpenedAt")),
		in(rule, "pods that come back are forgotten", "rollback.workloadWithdrawn", skips("WorkloadGoneAt nil")),
		in(rule, "loops are given back while a Node is NotReady", "rollback.loopsOn", never("off -LoopsOnAt")),
		in(rule, "who switches the loops off again is fought", "rollback.loopsOn", never("LoopsOnAt off")),
		in(rule, "the loops need not be as before", "rollback.givenBack", always("CloudLoops")),
		in(rule, "a KCM that someone else changes is changed", "rollback.loopsAsBefore", never("Instructed")),
		in(rule, "KCM need not lead", "rollback.kcmLeads", never("Leads in")),
		in(rule, "the CCM stays beside a KCM that runs loops already", "rollbackRows", always("RunningLoops")),
		in(rule, "a refused rollback leaves no one running the loops", "holdWithFailure", without("FinishedAt")),
		in(rule, "a rollback that ends leaves the facts behind", "walkRollback", skips("Facts Rollback")),
		in(rule, "load balancers need not be the same", "rollback.Loops", never("changed")),
		in(rule, "KCM's gates go back with its loops although a volume is attached through them", "rollback.gatesBack",
			without("detached")),
		in(rule, "gates go back although a volume is attached through them", "rollback.Volumes", never("detached")),
		inTables(rule, "the loops are given back in a change of their own", "rollback.loopsOn", never("gates")),
		inTables(rule, "a KCM that has its loops back and runs none calls no person", "unattendedInRollback", never("since LoopsOnAt")),
	}
}

// Rule 2 in a rollback of protocol LeaderMigration.
func rolledBackLock() []mutant {
	const rule = "2 rollback"
	return []mutant{
		in(rule, "the lock stays in KCM in a rollback", "rollback.oursIsLeft", never("LockPath")),
		in(rule, "the lock of someone else is taken out", "rollback.oursIsLeft", judged("LockPath", `path != ""`)),
		inTables(rule, "a lock without its file stays in KCM in a rollback", "rollback.oursIsLeft", never("KeepsLock")),
		inTables(rule, "a lock is taken out that this protocol never put in", "rollback.oursIsLeft",
			without("LeaderMigrationProtocol")),
		in(rule, "who gives KCM the lock again is fought", "rollback.loopsOn", never("LoopsOnAt -off")),
		in(rule, "something of the lock is left behind", "rollback.Lock", negated("FinishedAt")),
		in(rule, "the CCM that goes keeps the lock", "start.WantsLock", without("Withdrawn")),
		in(rule, "the probe goes on in a rollback", "loops.WantsProbe", without("==")),
		in(rule, "a rollback that would be refused is offered", "noreturn.OfferRollback", never("passed")),
	}
}

// Machines, volumes and addons of a rollback.
func rolledBackMachines() []mutant {
	const rule = "5 rollback"
	return []mutant{
		ofRollout(rule, "in-tree Machines are rolled back", "machineView.wanted", never("neverExternal")),
		ofRollout(rule, "a Machine that was made since is in-tree", "machineView.neverExternal", without("joined")),
		in(rule, "a flag that came back leaves its time behind",
			"unsetFlag", never("MachineControllerRevertedAt")),
		in(rule, "Machines are rolled back while a pod has the old flag",
			"rollbackMachineController", never("RolledOut")),
		ofRollout(rule, "a rollback waits for the CCM", "rollGates", never("back")),
		in(rule, "Nodes that only the CCM can initialize are left behind", "rollbackRoll", never("Uninitialized")),
		in(rule, "volumes need not be detached", "rollback.detached", negated("csi")),
		in(rule, "the driver goes although a volume needs it", "rollback.withdrawAddons", never("driverUnneeded")),
		of(rolloutPackage, "4 budget", "what rolls back already is not counted",
			"Plan", does("turning", "candidates, used = turning, nil")).by(migrationPackage, simtestPackage),
	}
}
