package main

// Rule 4: budgets hold, whoever caused the disruption.
func budgets() []mutant {
	const rule = "4 budget"
	return []mutant{
		of(rolloutPackage, rule, "disruptions of others are not counted",
			"split", without("Disrupted")).by(migrationPackage, simtestPackage),
		of(rolloutPackage, rule, "no canary is waited for",
			"Plan", never("canaryProven")).by(migrationPackage, simtestPackage),
		of(rolloutPackage, rule, "what rolls is not counted",
			"Plan", drops("used")).by(migrationPackage, simtestPackage),
		of(rolloutPackage, rule, "a budget that cannot be read allows one",
			"Allowed", returns("err", "1, nil")).by(migrationPackage, simtestPackage),
		ofRollout(rule, "a tainted Node serves", "seenMachines.serves", without("Uninitialized")),
		ofRollout(rule, "a Machine that is going serves", "pool.look", judged("Deleting serves", "!view.serves(machine)")),
	}
}

// Rule 5: nothing is rolled twice, nothing while the CCM is not healthy.
func rolls() []mutant {
	const rule = "5 once"
	return []mutant{
		ofRollout(rule, "the forceRestart value is used before it is persisted", "rollNext",
			does("Recording", "in = in.notes(in.generates)")),
		ofRollout(rule, "the forceRestart value is made again", "rollNext", always("generation")),
		ofRollout(rule, "a value that its owner took out is applied again", "takenOut", never("generation !=")),
		ofRollout(rule, "what was told to roll is told again", "toldToRoll", never("RestartValue")),
		in("5 healthy", "a Lease that stands still is a leader", "loops.ccmLeads", never("Renewed")),
		ofObservation("5 healthy", "the first look at a Lease is a renewal", "Lease.Renewed", without("ChangedAt WatchedAt")),
		in("5 healthy", "the CCM need not lead",
			"loops.CCMCanServe", instead("ccmLeads", `outcome.Holds(ucv1.HoldsReason, "")`)),
		in("5 flags", "an old pod of the machine-controller may still answer",
			"machineController", never("RolledOut")),
		in("5 flags", "one of the machine-controller's Deployments is enough",
			"machineController", ranges("deployments Understood", "[:1]")),
		in("5 flags", "a Deployment that is missing is passed over", "MachineControllerGap", never("Missing")),
		inTables("5 flags", "an operating-system-manager exists against the spec", "MachineControllerGap", never("Denied")),
		inTables("5 flags", "a Deployment that the spec names counts only where another exists", "MachineControllerWanted",
			without("Named")),
		of(controlPlanePackage, "5 flags", "a Deployment that does not exist is left out", "withMachineController", always("denied")),
	}
}

// A row about the control plane holds for nothing that was seen to be otherwise.
func controlPlanes() []mutant {
	const rule = "components"
	return []mutant{
		inTables(rule, "what the spec does not mention does not count", "components.Whole", never("len unclaimed")),
		inTables(rule, "what is foreign is not waited for", "components.Whole", never("len foreign")),
		inTables(rule, "a component that cannot be read has nothing", "components.differencesOf", never("Understood")),
		inTables(rule, "only the template is asked", "components.differencesOf", ranges("Pods", "[:0]")),
		inTables(rule, "what was not found is not said", "components.componentsSeen", never("NotSeen")),
		in(rule, "a rollback leaves what was claimed after the start as it is", "components.OriginalsOfOthersKept",
			never("Understood")),
		of(preflightPackage, rule, "a component that the spec does not mention is a warning", "unclaimedComponents",
			instead("about unclaimed", "severe(observation.Warning, about(unclaimed, `does not say who owns them`, ``))")),
		of(preflightPackage, rule, "who reconciles KCM is not asked", "reconciledComponents", never("len Reconcilers")),
		of(controlPlanePackage, rule, "whoever applies the arguments wrote them once", "programOf", never("Operation")),
		of(controlPlanePackage, rule, "the object that controls a Deployment does not count", "reconcilersOf", never("controller")),
		of(controlPlanePackage, rule, "a Deployment is found by its container or executable only", "besideKCM.recognized",
			without("called")),
		of(controlPlanePackage, rule, "labels do not count", "besideKCM.isCalled", returns("ContainsFunc", "false")),
		of(controlPlanePackage, rule, "static pods beside KCM are not looked at", "staticLook.lookBeside", always("Pods")),
	}
}

// The up-to-date rule.
func upToDate() []mutant {
	const rule = "up-to-date"
	return []mutant{
		ofRollout(rule, "the annotation alone proves the kubelet", "machineView.upToDate", returns("wanted", `set.UID != ""`)),
		ofRollout(rule, "the revision alone proves the kubelet", "machineView.upToDate", compared("rollback", "&&")),
		ofRollout(rule, "a revision of the second of the flags is up-to-date",
			"machineView.wanted", instead("CreatedAt configuredAt", "!set.CreatedAt.Before(v.configuredAt)")),
		in(rule, "flags that were lost leave their time behind",
			"setFlag", never("MachineControllerConfiguredAt")),
	}
}

// Rule 6: the condition is never True with a kubelet that is in-tree.
func kubelets() []mutant {
	const rule = "6 kubelets"
	return []mutant{
		ofRollout(rule, "an annotation and a providerID prove the kubelet", "machineView.kubeletLacks", begins(`return ""`)),
		ofRolloutTables(rule, "a Node that is older than its Machine proves it", "machineView.kubeletLacks", never("CreatedAt")),
		ofRolloutTables(rule, "what nothing proves is external", "machineView.kubeletLacks", returns("shows no proof", `""`)),
		in(rule, "proofs that pass are kept in memory only", "proofsToKeep", begins(`return nil`)),
		in(rule, "the proof of a Node that is gone stays", "proofsToKeep", instead("Equal", "len(now) <= len(kept.ByNode)")),
		ofRolloutTables(rule, "kept proofs that cannot be looked at are taken for missed", "seesRoll", never("Proofs")),
		ofObservation(rule, "any word that was kept is a proof", "Proof.Passes", begins(`return proof != ""`)),
		of(factsPackage, rule, "a taint that someone added proves it", "kubeletLook.add", without("before")),
		of(factsPackage, rule, "a taint that was there before we looked proves it", "kubeletLook.add", without("later")),
		of(factsPackage, rule, "a taint outranks who registered it", "kubeletLook.add", never("InTree")),
		ofBaseline(rule, "a proof that was kept outranks what the kubelet shows", "WithProofs", always("Kubelet")),
		of(factsPackage, rule, "a kubelet that set the labels of the cloud is external", "registeredBy", never("kubeletManager")),
		of(factsPackage, rule, "any program that sets providerID proves it", "registeredBy", always("HasSuffix")),
		of(factsPackage, rule, "an event of anybody proves it", "kubeletMemory.synced", without("syncedComponent")),
		of(factsPackage, rule, "a proof is of a name", "kubeletLook.end", returns("ask", "false")),
	}
}

// Rule 6: every trouble has a defined, visible outcome.
func troubles() []mutant {
	const rule = "6 visible"
	return []mutant{
		ofRollout(rule, "standalone Machines are overlooked", "orphanNames", ranges("MachineDeployment", "[:0]")),
		ofRollout(rule, "paused MachineDeployments count as done", "judgePool", does("unpause", "pl.state = Done")),
		ofRollout(rule, "Nodes without a Machine are overlooked", "nodeProblem", returns("acceptNodes", `""`)),
		ofRollout(rule, "deletions may take forever", "machineView.late", does("DeletingSince", "return false")),
		ofRollout(rule, "a Node may be NotReady forever", "seenMachines.lost", never("ReadyChangedAt")),
		ofRollout(rule, "a MachineDeployment may wait for Machines forever", "stuckPools", never("lacks")),
		in(rule, "a cluster without Nodes waits for a leader", "loops.leading", never("==")),
		in(rule, "a cluster without Nodes waits for its addons", "applied.Healthy", never("nodes")),
	}
}

// Facts that the world cannot say again.
func facts() []mutant {
	const rule = "facts"
	return []mutant{
		in(rule, "what a pass would have done is recorded although it did something else",
			"walkOnly", skips("Facts -DeepCopy")),
		of(clusterControllerPackage, rule, "what was done is not told when its status was refused",
			"reporter.report", instead("verbsOf", "nil")),
		ofHandover(rule, "a full list of processes forgets one that may run", "dropEnded", without("EndedAt")),
		in(rule, "a paused cluster is changed", "Decide", never("Paused")),
		ofBaseline(rule, "a changed baseline is believed", "AsTaken", never("Digest")),
	}
}
