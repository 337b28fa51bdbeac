package main

// Rule 2 where a CCM is not ours: whoever installed it, nothing but our own Lease keeps it apart. And nothing
// that belongs to others is overwritten that a person could not read before.
func others() []mutant {
	const rule = "2 others"
	return []mutant{
		in(rule, "another CCM is no obstacle to the start",
			"start.checkOtherCCM", instead("checkOtherManagers", `(*observation.Finding)(nil), ""`)),
		in(rule, "KCM is touched beside another CCM", "loops.processesRecorded", never("NoOtherManager")),
		in(rule, "the fence is opened beside another CCM", "loops.fenceOpen", never("NoOtherManager")),
		in(rule, "a fence that someone closed is opened beside another CCM", "loops.FenceStaysOpen", never("NoOtherManager")),
		in(rule, "the workload is allowed beside another CCM", "loops.allowWorkload", never("NoOtherManager")),
		in(rule, "the guard does not look for another CCM", "loops.Guarded", returns("AloneStill", "out")),
		in(rule, "KCM gets its loops back beside another CCM", "rollback.Silence", never("NoOtherManager")),
		ofObservation(rule, "a CCM without leader election is held by our Lease", "ForeignCCM.Elects", without("leader-elect")),
		in(rule, "a CCM with a Lease of its own is held by ours", "start.bound", without("m Lease")),
		in(rule, "our fence binds every identity", "start.bound", without("Identity")),
		in(rule, "a CCM without the migration lock is held by it", "start.bound", without("locks")),
		in("3 unknown", "other CCMs that cannot be looked for are none",
			"start.unseenManagers", never("ForeignCCMs -Fence")),
		in("3 unknown", "no one could look, and the fence is opened", "start.NoOtherManager", never("unseenManagers")),
		in("3 unknown", "a fence that cannot be looked at binds no one", "start.unseenManagers", never("Fence")),
		of(factsPackage, rule, "pods that no workload answers for are not looked at",
			"Others.Look", lacks("pods")),
		of(factsPackage, rule, "a pod belongs to a workload that is gone",
			"look.pods", judged("answered", "owner == (observation.Ref{})")),
		of(factsPackage, rule, "what was found is remembered",
			"Others.Look", always("ContainsFunc found")),
		of(managersPackage, rule, "a mirror hides a CCM",
			"recognize", instead("ImageName", "manifest.ContainerImage(container).Repository")),
		in("adoption", "the plan of an adoption is not written first",
			"applied.mayTakeOver", returns("planned", `outcome.Holds(ucv1.HoldsReason, "")`)),
		in("adoption", "a plan is carried out before a person could read it", "applied.planned", never("wait gap")),
		in("adoption", "another plan is carried out than the one that was written",
			"applied.planned", without("maxChanges missing")),
		in("adoption", "what the API server refuses is tried", "applied.mayTakeOver", never("refused")),
		in("adoption", "what is left to another tool is repaired", "addonsDrift", judged("CompletedAt", "false")),
		in("adoption", "a roll goes on although the addons are left to another tool", "addonsDrift",
			judged("finding", "in.Facts.CompletedAt == nil")),
		in("adoption", "what another tool has changed is not ready", "RowState.released", always("ForeignObjectsReason")),
		of(addonsPackage, "adoption", "a plan shows what is in a Secret", "collect", never("confidential")),
	}
}
