package main

// Rule 9: one extra Machine is proven before any other is replaced, and nothing of it is left.
func canaries() []mutant {
	const rule = "9 canary"
	return []mutant{
		in(rule, "nothing waits for it", "pass.rollNext", never("canary intents")),
		in(rule, "it is made before it is recorded",
			"pass.canary", returns("beginCanary -Attempt", "p.createCanary(pools, CanaryPlan{}, false)")),
		in(rule, "what could not be looked at lacks nothing", "pass.canary", never("Canary")),
		in(rule, "a Node that lacks something proves it", "pass.canaryLacks", never("nodeLacks")),
		in(rule, "labels of the cloud do not matter", "pass.canaryLacks", never("topologyLacks")),
		in(rule, "its pod may run anywhere", "pass.workloadLacks", without("PodNode")),
		in(rule, "a volume that is made is attached", "pass.workloadLacks", never("Attached")),
		in(rule, "its Service is made before its Node is proven",
			"pass.proveCanary", becomes("LoadBalancer", "balanced")),
		in(rule, "a load balancer needs no address", "pass.proveCanary", never("Ingress")),
		in(rule, "it may take for ever", "pass.judgeCanary", always("deadline")),
		in(rule, "one that failed is never made again", "pass.canary", never("FailedAt")),
		in(rule, "it is left in an undo and by a deleted Cluster",
			"pass.canaryWanted", without("undoing")).and("pass.canaryWanted", without("DeletionTimestamp")),
		in(rule, "the row holds while it is left", "pass.roll", never("removeCanary")),
		in(rule, "its Machine goes with the volume attached", "pass.removeCanary", drops("held")),
		in(rule, "a volume that does not go keeps its Machine for ever",
			"leavingOf", without("DeletingSince")),
		in(rule, "its Machine may take for ever to go", "pass.stuckCanary", never("Deleting")),
		in(rule, "its volume outlives it", "pass.canaryClass", without("Retains")),
		in(rule, "its volume passes the point of no return", "pass.passedByVolumes", without("Claim")),
		in(rule, "its load balancer passes the point of no return", "pass.passedByLoadBalancers", never("ofCanary")),
		ofObservation(rule, "it is one of the Machines", "Machines.Split", never("Canary")),
		of(machineControllerPackage, rule, "the target's MachineSets adopt it",
			"canaryDeployment", becomes("selector", `source.Object["spec"].(map[string]any)["selector"]`)),
		of(machineControllerPackage, rule, "an autoscaler takes it for its own",
			"kept", judged("HasSuffix ==", `known != "" && domain != ""`)),
		of(machinesPackage, rule, "an object of someone else is removed",
			"DeleteSeen", instead("new", "map[bool]*types.UID{}[true]")),
	}
}

// Rule 10: at most maxSurge and maxUnavailable Machines are unproven at once, and what the breaker takes it gives
// back.
func breaker() []mutant {
	const rule = "10 breaker"
	return []mutant{
		in("6 every trouble is visible", "one that is paused and serves is a failure while another waits",
			"holdsUp", without("disrupted")),
		in(rule, "a Node has any time", "fleetView.overdueNodes", never("initialization")),
		in(rule, "a Node without a Machine has any time", "fleetView.unlinkedNodes", never("initialization")),
		in(rule, "a Node of before the Machine is taken for its own", "fleetView.unlinkedNodes", without("Before")),
		in("6 every trouble is visible", "the Node of a new Machine ends no wait", "fleetView.joiningSince", instead("earlier joined", "earlier(before, first)")),
		in("6 every trouble is visible", "each new Machine begins a new wait for a Node", "pass.fleet", skips("joining Since")),
		in("6 every trouble is visible", "no one waits while a Machine is made again", "pass.roll", skips("noteJoining")),
		in(rule, "the taint does not matter", "fleetView.served", without("Uninitialized")),
		in(rule, "a late Node halts nothing", "pass.rollHalts", never("overdue")),
		in(rule, "it is rolled without minReadySeconds", "pass.rollVerb", becomes("Endless", "false")),
		in(rule, "a rollback keeps minReadySeconds", "pass.rollVerb", becomes("Endless", "true")),
		in(rule, "what someone else wants is taken", "unguardable", always("MinReadyOwner")),
		in(rule, "what the breaker cannot hold is rolled", "judgePool", never("why")),
		in(rule, "no one says that minReadySeconds was taken", "pass.rollHalts", never("released")),
		in(rule, "what another owner rolls back is not guarded", "pass.mayReturn", without("conflict")),
		in(rule, "a deleted Cluster leaves minReadySeconds behind", "pass.leaveRoll", never("returnAll")),
		in(rule, "a deleted Cluster waits for steps that no one grants", "pass.leaveRoll", never("granted")),
		in(rule, "a paused Cluster does not say what is half rolled", "Decide", skips("RollsOn")),
		in(rule, "a MachineDeployment that is paused, too, counts as held", "pass.rollsOn", never("scaledWhilePaused")),
		in(rule, "what was rolled is forgotten with a status that is refused", "pass.roll", skips("noteRolled")),
		of(preflightPackage, rule, "clocks may differ by more than it tolerates",
			"clockSkew", instead("min", "tokenSkew")),
		in(rule, "no one looks at the deadline of a Node", "sooner", never("a b")),
		in(rule, "minReadySeconds goes while an old MachineSet has Machines", "fleetView.replaced", never("Current Replicas")),
		in(rule, "minReadySeconds goes while new ones are not proven", "fleetView.replaced", always("proven Replicas")),
		in(rule, "minReadySeconds goes while it is paused", "pass.giveBack", without("Paused")),
		in(rule, "minReadySeconds is kept", "pass.giveBack", never("mayReturn")),
		in(rule, "the roll annotation goes with minReadySeconds", "pass.returns", never("RestartValue")),
		in(rule, "a step is granted without proof", "fleetView.sides", becomes("proven", "int(d.Replicas)")),
		in(rule, "a step leaves too few that serve", "fleetView.grantOf", without("mostServing")),
		in(rule, "a step makes too many unproven", "fleetView.grantOf", instead("min", "int(set.Replicas)")),
		in(rule, "a step is granted while it is paused", "fleetView.steps", without("Paused")),
		in(rule, "a step is granted while one is under way", "fleetView.sides", never("all Replicas")),
		in(rule, "a step is granted while the CCM does not lead", "pass.step", never("gate")),
		in(rule, "any Machine goes", "fleetView.grantOf", never("going Replicas")),
		in(rule, "a Machine of a revision in between holds a roll up without end", "fleetView.grant", ranges("old grantOf", "[:min(1, len(old))]")),
		in(rule, "one that serves goes before one that does not", "fleetView.candidates", lacks("first serves")),
		in(rule, "the CCM's Node goes first", "fleetView.candidates", becomes("leads", "func(Machine) bool { return false }")),
		ofObservation(rule, "what the machine-controller prefers does not matter", "Machine.Preferred", never("Problem")),
		in(rule, "a roll that waits for our step is stuck", "stuckPools", never("ours")),
		of(machineControllerPackage, rule, "a step comes after a pause", "Adapter.step", without("GetGeneration")),
		of(machineControllerPackage, rule, "a MachineDeployment that was changed since is rolled all the same", "Adapter.roll", lacks("resourceVersion version")),
		in(rule, "a drain is waited out in silence", "pass.drainTroubles", never("troubles")),
		of(machineControllerPackage, rule, "a default of 0 is someone's wish",
			"guardOf", always("ManagedFieldsOperationApply")),
	}
}

// Rule 9, too: what new Machines boot with is external before more of them are made, where it can be read.
func bootstrapData() []mutant {
	const rule = "9 bootstrap data"
	return []mutant{
		in(rule, "more is rolled whatever it says", "pass.rollOn", never("bootstrapsExternal")),
		in(rule, "no one is called for it", "pass.rollHalts", never("seen late")),
		in(rule, "what could not be looked at is fine", "pass.bootstrapsExternal", never("unseen")),
		in(rule, "what no one looked for is not there", "pass.lookedAtBootstrap", never("Kubelet")),
		in(rule, "in-tree data is fine", "bootstrapLacks", never("BootstrapInTree")),
		in(rule, "that of the revision before counts", "bootstrapLacks", without("Revision")),
		in(rule, "it is of the newest revision before there is one", "bootstrapLacks", without("found")),
		in(rule, "it is waited for without end", "pass.lookAtBootstrap", never("rest")),
		inTables(rule, "a template that went back has the age of its MachineSet", "bootstrapDueSince", never("CurrentSince")),
		in(rule, "what does not exist yet never will", "pass.lookAtBootstrap", never("BootstrapMissing")),
		in(rule, "what does not exist is waited for although a Node came", "pass.lookAtBootstrap", without("anyJoined")),
		in(rule, "a canary with in-tree data is proven", "pass.doubtCanary", never("wrong")),
		in(rule, "a canary whose data could not be looked at is proven", "pass.judgeCanary", never("unseen")),
		in(rule, "what is left out of the proof is not said", "pass.doubtCanary", never("untold")),
		in(rule, "a MachineDeployment that waits for its turn is judged by its former data", "fleetView.boots", without("toldToRoll")),
		of(machineControllerPackage, rule, "no flag is external", "kubeletOfUnit", returns("BootstrapInTree", "observation.BootstrapExternal")),
		of(machineControllerPackage, rule, "a variable hides nothing", "kubeletOfUnit", never("hidesArguments")),
		of(machineControllerPackage, rule, "a drop-in changes nothing", "kubeletOf", without("ExecStart")),
		of(machineControllerPackage, rule, "rights that are missing are an error", "Adapter.bootstrapOf", never("IsForbidden")),
		of(machineControllerPackage, rule, "an API server that does not answer has no data", "Adapter.bootstrapOf", always("IsNotFound")),
	}
}
