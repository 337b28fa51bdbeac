package main

// Rule 9: one extra Machine is proven before any other is replaced, and nothing of it is left.
func canaries() []mutant {
	const rule = "9 canary"
	return []mutant{
		ofRollout(rule, "nothing waits for it", "rollNext", never("canaryFirst intents")),
		ofRollout(rule, "it is made before it is recorded",
			"canaryFirst", returns("beginCanary -Attempt", "createCanary(in, outcome.CanaryPlan{}, false)")),
		ofRollout(rule, "what could not be looked at lacks nothing", "canaryFirst", never("Canary")),
		ofRollout(rule, "a Node that lacks something proves it", "canaryLacks", never("nodeLacks")),
		ofRollout(rule, "labels of the cloud do not matter", "canaryLacks", never("topologyLacks")),
		ofRollout(rule, "its pod may run anywhere", "workloadLacks", without("PodNode")),
		ofRollout(rule, "a volume that is made is attached", "workloadLacks", never("Attached")),
		ofRollout(rule, "its Service is made before its Node is proven",
			"proveCanary", becomes("LoadBalancer", "balanced")),
		ofRollout(rule, "a load balancer needs no address", "proveCanary", never("Ingress")),
		ofRollout(rule, "it may take for ever", "judgeCanary", always("deadline")),
		ofRollout(rule, "one that failed is never made again", "canaryFirst", never("FailedAt")),
		ofRollout(rule, "it is left in a rollback and by a deleted Cluster",
			"canaryWanted", without("back")).and("canaryWanted", without("DeletionTimestamp")),
		ofRollout(rule, "the row holds while it is left", "roll", never("removeCanary")),
		ofRollout(rule, "its Machine goes with the volume attached", "removeCanary", drops("held")),
		ofRollout(rule, "a volume that does not go keeps its Machine for ever",
			"leavingOf", without("DeletingSince")),
		ofRollout(rule, "its Machine may take for ever to go", "stuckCanary", never("Deleting machine")),
		ofRolloutTables(rule, "a finalizer may hold its MachineDeployment for ever", "stuckCanary", never("late heldByFinalizer")),
		ofRolloutTables(rule, "what waits for its Machine is held by a finalizer", "heldByFinalizer", without("goes")),
		ofRollout(rule, "its volume outlives it", "canaryClass", without("Retains")),
		in(rule, "its volume passes the point of no return", "noreturn.passedByVolumes", without("Claim")),
		in(rule, "its load balancer passes the point of no return", "noreturn.passedByLoadBalancers", never("ofCanary")),
		ofObservation(rule, "it is one of the Machines", "Machines.Split", never("Canary")),
		of(machineControllerPackage, rule, "the target's MachineSets adopt it",
			"canaryDeployment", becomes("selector", `source.Object["spec"].(map[string]any)["selector"]`)),
		of(machineControllerPackage, rule, "an autoscaler takes it for its own",
			"installersOf", judged("HasSuffix ==", `known != "" && domain != ""`)),
		of(machinesPackage, rule, "an object of someone else is removed",
			"DeleteSeen", instead("new", "map[bool]*types.UID{}[true]")),
	}
}

// A write that a webhook refuses holds up no other, and is asked about again.
func refusedWrites() []mutant {
	const rule = "6 every trouble is visible"
	return []mutant{
		ofRolloutTables(rule, "one that is refused is tried before the others", "pool.heedRefusal", always("Refusal")),
		ofRolloutTables(rule, "what is rolled and refused is not done", "pool.awaitsWrite", without("done rollback")),
		ofRolloutTables(rule, "a rollback waits for what is refused", "pool.awaitsWrite", without("rollback")),
		ofRolloutTables(rule, "minReadySeconds that is refused holds up the others", "giveBack", without("Refusal")),
		ofRolloutTables(rule, "a deleted Cluster tries what is refused before the others", "returnAll", never("Refusal")),
		ofRolloutTables(rule, "a person is called at once for what is refused", "noneBlocked", never("countRefused")),
		ofRolloutTables(rule, "what is refused is waited for for ever", "countRefused", without("refusalPatience")),
		ofRolloutTables(rule, "a canary that is refused is tried again and again", "createCanary", without("refused made")),
		of(machineControllerPackage, rule, "what was refused stays so", "Adapter.noteRefusals", without("askedAgain")),
		of(machineControllerPackage, rule, "what was changed stays refused", "Adapter.noteRefusals", without("version")),
		of(machineControllerPackage, rule, "what is asked about is written", "Adapter.noteRefusals", instead("NewDryRunClient", "a.client")),
		of(machineControllerPackage, rule, "no answer accepts a write", "refusals.tried", always("saysNoDryRun")),
		of(machineControllerPackage, rule, "each answer begins a new refusal", "refusals.tried", skips("noted Since before")),
		of(machineControllerPackage, rule, "a canary that is refused is no refusal", "Adapter.CreateCanary",
			instead("try", "machines.CreateMissing(ctx, a.client, deployment)")),
	}
}

// Rule 10: at most maxSurge and maxUnavailable Machines are unproven at once, and what the breaker takes it gives
// back.
func breaker() []mutant {
	const rule = "10 breaker"
	return []mutant{
		ofRollout("6 every trouble is visible", "one that is paused and serves is a failure while another waits",
			"consumesBudget", without("disrupted")),
		ofRollout(rule, "a Node has any time", "overdueNodes", never("initialization")),
		ofRollout(rule, "a Node without a Machine has any time", "unlinkedNodes", never("initialization")),
		ofRollout(rule, "a Node of before the Machine is taken for its own", "unlinkedNodes", without("Before")),
		ofRollout("6 every trouble is visible", "the Node of a new Machine ends no wait", "joiningSince",
			instead("Earlier joined", "observation.Earlier(before, first)")),
		ofRollout("6 every trouble is visible", "one is waited for although all have joined", "joiningSince", without("remakes")),
		ofRollout("6 every trouble is visible", "a rollback is late before it begins to roll", "lastMoved", without("Current")),
		ofRollout("6 every trouble is visible", "each new Machine begins a new wait for a Node", "viewOf", skips("joining Since")),
		ofRollout("6 every trouble is visible", "no one waits while a Machine is made again", "next",
			instead("noteJoining", "noteRolled(fleetOf(in))")),
		ofRollout(rule, "the taint does not matter", "seenMachines.served", without("Uninitialized")),
		ofRollout(rule, "a late Node halts nothing", "rollHalts", never("overdue")),
		ofRollout(rule, "it is rolled without minReadySeconds", "rollOut", becomes("Endless", "false")),
		ofRollout(rule, "a rollback keeps minReadySeconds", "rollOut", becomes("Endless", "true")),
		ofRollout(rule, "what someone else wants is taken", "unguardable", always("MinReadyOwner")),
		ofRollout(rule, "what the breaker cannot hold is rolled", "judgePool", never("why")),
		ofRollout(rule, "no one says that minReadySeconds was taken", "rollHalts", never("released")),
		ofRollout(rule, "what another owner rolls back is not guarded", "mayReturn", without("conflict")),
		ofRollout(rule, "a deleted Cluster leaves minReadySeconds behind", "leave", never("returnAll")),
		ofRollout(rule, "a deleted Cluster waits for steps that no one grants", "leave", never("granted")),
		in(rule, "a paused Cluster does not say what is half rolled", "pause", skips("RollsOn")),
		ofRollout(rule, "a MachineDeployment that is paused, too, counts as held", "rollsOn", never("scaledWhilePaused")),
		ofRollout(rule, "what was rolled is forgotten with a status that is refused", "next", instead("noteRolled", "fleetOf(in)")),
		of(preflightPackage, rule, "clocks may differ by more than it tolerates",
			"clockSkew", instead("min", "tokenSkew")),
		ofObservation(rule, "no one looks at the deadline of a Node", "Sooner", never("a b")),
		ofRollout(rule, "minReadySeconds goes while an old MachineSet has Machines", "machineView.replaced", never("Current Replicas")),
		ofRollout(rule, "minReadySeconds goes while new ones are not proven", "machineView.replaced", always("proven Replicas")),
		ofRollout(rule, "minReadySeconds goes while it is paused", "giveBack", without("Paused")),
		ofRollout(rule, "minReadySeconds is kept", "giveBack", never("mayReturn")),
		ofRollout(rule, "the roll annotation goes with minReadySeconds", "returnMinReady", never("RestartValue")),
		ofRollout(rule, "a step is granted without proof", "sides", becomes("proven", "int(d.Replicas)")),
		ofRollout(rule, "a step leaves too few that serve", "grantOf", without("mostServing")),
		ofRollout(rule, "a step makes too many unproven", "grantOf", instead("min", "int(set.Replicas)")),
		ofRollout(rule, "a step is granted while it is paused", "steps", without("Paused")),
		ofRollout(rule, "a step is granted while one is under way", "sides", never("all Replicas")),
		ofRollout(rule, "a step is granted while the CCM does not lead", "stepNext", never("rollGates")),
		ofRollout(rule, "any Machine goes", "grantOf", never("going Replicas")),
		ofRollout(rule, "a Machine of a revision in between holds a roll up without end", "grantFor",
			ranges("old grantOf", "[:min(1, len(old))]")),
		ofRollout(rule, "one that serves goes before one that does not", "candidates", lacks("first serves")),
		ofRollout(rule, "the CCM's Node goes first", "candidates", becomes("leads", "func(observation.Machine) bool { return false }")),
		ofObservation(rule, "what the machine-controller prefers does not matter", "Machine.Preferred", never("Problem")),
		ofRollout(rule, "a roll that waits for our step is stuck", "stuckPools", never("ours")),
		of(machineControllerPackage, rule, "a step comes after a pause", "Adapter.step", without("GetGeneration")),
		of(machineControllerPackage, rule, "a MachineDeployment that was changed since is rolled all the same", "oursOf",
			lacks("resourceVersion version")),
		ofRollout(rule, "a drain is waited out in silence", "drainTroubles", never("troubles")),
		ofRolloutTables(rule, "force is promised while a volume is attached on vSphere", "drainClause", never("DetachesFirst")),
		of(machineControllerPackage, rule, "a default of 0 is someone's wish",
			"guardOf", always("ManagedFieldsOperationApply")),
	}
}

// Rule 9, too: what new Machines boot with is external before more of them are made, where it can be read.
func bootstrapData() []mutant {
	const rule = "9 bootstrap data"
	return []mutant{
		ofRollout(rule, "more is rolled whatever it says", "rollOn", never("bootstrapsExternal")),
		ofRollout(rule, "no one is called for it", "rollHalts", never("seen late")),
		ofRollout(rule, "what could not be looked at is fine", "bootstrapsExternal", never("unseen")),
		ofRollout(rule, "what no one looked for is not there", "lookedAtBootstrap", never("Kubelet")),
		ofRollout(rule, "in-tree data is fine", "bootstrapLacks", never("BootstrapInTree")),
		ofRollout(rule, "that of the revision before counts", "bootstrapLacks", without("Revision")),
		ofRollout(rule, "it is of the newest revision before there is one", "bootstrapLacks", without("found")),
		ofRollout(rule, "it is waited for without end", "lookAtBootstrap", never("rest")),
		ofRolloutTables(rule, "a template that went back has the age of its MachineSet", "bootstrapDueSince", never("CurrentSince")),
		ofRollout(rule, "what does not exist yet never will", "lookAtBootstrap", never("BootstrapMissing")),
		ofRollout(rule, "what does not exist is waited for although a Node came", "lookAtBootstrap", without("anyJoined")),
		ofRollout(rule, "a canary with in-tree data is proven", "doubtCanary", never("wrong")),
		ofRollout(rule, "a canary whose data could not be looked at is proven", "judgeCanary", never("unseen")),
		ofRollout(rule, "what is left out of the proof is not said", "doubtCanary", never("reason")),
		ofRollout(rule, "a MachineDeployment that waits for its turn is judged by its former data", "boots", without("toldToRoll")),
		of(machineControllerPackage, rule, "no flag is external", "kubeletOfUnit",
			returns("BootstrapInTree", "observation.BootstrapExternal")),
		of(machineControllerPackage, rule, "a variable hides nothing", "kubeletOfUnit", never("hidesArguments")),
		of(machineControllerPackage, rule, "a drop-in changes nothing", "kubeletOf", without("ExecStart")),
		of(machineControllerPackage, rule, "rights that are missing are an error", "Adapter.readBootstrap", never("IsForbidden")),
		of(machineControllerPackage, rule, "an API server that does not answer has no data", "Adapter.readBootstrap",
			always("IsNotFound")),
	}
}
