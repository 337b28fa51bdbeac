package main

// Rule 9: one extra Machine is proven before any other is replaced, and nothing of it is left.
func canaries() []mutant {
	const rule = "9 canary"
	return []mutant{
		in(rule, "nothing waits for it", "pass.rollGuarded", never("canary")),
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
		in(rule, "one that failed is never made anew", "pass.canary", never("FailedAt")),
		in(rule, "it is left in an undo and by a deleted Cluster",
			"pass.canaryWanted", without("undoing")).and("pass.canaryWanted", without("DeletionTimestamp")),
		in(rule, "the row holds while it is left", "pass.roll", never("removeCanary")),
		in(rule, "its Machine goes with the volume attached", "pass.removeCanary", drops("held")),
		in(rule, "a volume that does not go keeps its Machine for ever",
			"CanaryWorkload.leaving", without("DeletingSince")),
		in(rule, "its Machine may take for ever to go", "pass.stuckCanary", never("Deleting")),
		in(rule, "its volume outlives it", "pass.canaryClass", without("Retains")),
		in(rule, "its volume passes the point of no return", "pass.passedByVolumes", without("Claim")),
		in(rule, "its load balancer passes the point of no return", "pass.passedByLoadBalancers", never("ofCanary")),
		in(rule, "it is one of the Machines", "Machines.split", never("Canary")),
		of(userClusterPackage, rule, "the target's MachineSets adopt it",
			"canaryDeployment", becomes("selector", `source.Object["spec"].(map[string]any)["selector"]`)),
		of(userClusterPackage, rule, "an autoscaler takes it for its own",
			"kept", judged("HasSuffix ==", `known != "" && domain != ""`)),
		of(userClusterPackage, rule, "an object of somebody else is removed",
			"Session.RemoveCanary", instead("new", "map[bool]*types.UID{}[true]")),
	}
}

// Rule 10: at most maxSurge and maxUnavailable Machines are unproven at once, and what the breaker takes it gives
// back.
func breaker() []mutant {
	const rule = "10 breaker"
	return []mutant{
		in("6 every trouble is visible", "one that is paused and serves is a failure while another waits",
			"holdsUp", without("disrupted")),
		in(rule, "nothing is paused", "pass.tripped", always("verb Failure")),
		in(rule, "what a row holds up is not paused",
			"pass.tripped", or("verb ==", "decision.Step != ucv1.StepRoll")),
		in(rule, "a Node has any time", "fleetView.overdueNodes", never("initialization")),
		in(rule, "the taint does not matter", "fleetView.served", without("Uninitialized")),
		in(rule, "minReadySeconds is the deadline", "Deadlines.guardSeconds", drops("max")),
		in(rule, "it is rolled without minReadySeconds", "pass.rollGuarded", never("guards")),
		in(rule, "what somebody else wants is taken", "pass.guards", without("MinReadyOwner")),
		in(rule, "what was lost is taken again", "pass.guards", without("lost")),
		in(rule, "nobody is warned", "pass.warn", against("MinReadySeconds", "0")),
		in(rule, "a pause gives minReadySeconds back", "pass.trip", lacks("MinReadySeconds")),
		in(rule, "a row calls a person for a deleted Cluster", "pass.tripped", never("DeletionTimestamp")),
		in(rule, "an instruction is given twice", "pass.walk", skips("instructions nil")),
		in(rule, "only one is paused in a pass", "pass.trip", instead("append Ref", "append([]Ref(nil), d.Ref)")),
		in(rule, "a pause that ended counts as time in which nothing moved",
			"fleetView.lastMoved", never("AppliedAt")),
		in(rule, "an end of a pause gives minReadySeconds back", "pass.stillGuarded", lacks("MinReadySeconds")),
		in(rule, "our pause is taken back while a Node is not initialized",
			"pass.stillGuarded", without("newOnesProven")),
		in(rule, "what another owner rolls back is not guarded", "pass.mayReturn", without("conflict")),
		in(rule, "a deleted Cluster leaves minReadySeconds behind", "pass.leaveRoll", never("returnAll")),
		in(rule, "a paused Cluster does not say what rolls on", "Decide", skips("RollsOn")),
		in(rule, "what was rolled is forgotten with a status that is refused", "pass.roll", skips("noteRolled")),
		of(preflightPackage, rule, "clocks may differ by more than it tolerates",
			"clockSkew", instead("min", "tokenSkew")),
		in(rule, "our pause stays for ever", "pass.stillGuarded", never("PausedByUs")),
		in(rule, "nobody looks at the deadline of a Node", "sooner", never("a b")),
		in(rule, "minReadySeconds goes while Machines are made", "pass.mayReturn", without("lastOnesProven")),
		in(rule, "minReadySeconds is kept", "pass.giveBack", never("mayReturn")),
		in(rule, "an undo lets go before the template says in-tree", "pass.mayReturn", returns("told", "true")),
		in(rule, "our own pause is for a person to take back",
			"MachineDeployment.heldByOthers", without("PausedByUs")),
		in(rule, "a drain is waited out in silence", "pass.drainTroubles", never("troubles")),
		of(userClusterPackage, rule, "a pause of a person is ours", "guardOf", without("GetManagedFields")),
		of(userClusterPackage, rule, "a default of 0 is somebody's wish",
			"guardOf", always("ManagedFieldsOperationApply")),
	}
}
