package main

// Rule 5: nothing is rolled while the CCM does not do what is asked of it.
func objectives() []mutant {
	const rule = "5 objectives"
	return []mutant{
		ofRollout(rule, "a violation does not halt the roll", "rollHalts", judged("objectivesMet", "out.Action != nil")),
		ofRollout(rule, "a halt ends by itself",
			"halted", judged("ViolatedAt -looked", "in.facts.SLO.Verdict != ucv1.SLOVerdict(slo.Violated)")),
		in(rule, "a step is granted in the pass that sees the violation", "decide", skips("withSamples")),
		ofRollout(rule, "one that is scaled up is halted for ever", "leftToRoll", judged("old", "!pl.done()")),
		ofRollout(rule, "a person is not heard while nothing is measured", "halted", always("ViolatedAt Before")),
		in(rule, "a halt calls no one while an earlier row waits", "decide", instead("addRollHalt", "migrateOrRollBack(in)")),
		ofRollout(rule, "an old look of a person lets the roll go on", "sloStatus", without("since Before")),
		ofRollout(rule, "samples are counted in every pass", "counts", lacks("CountedUntil End")),
		ofRollout(rule, "only the first sample of a look counts",
			"countSamples", ranges("Samples", "[:min(1, len(seen.Samples))]")),
		ofRollout(rule, "Nodes that kubelets initialized count", "counts", always("Tainted")),
		ofRollout(rule, "what could not be measured is fine", "rollGates", instead("measured", `outcome.Holds(ucv1.HoldsReason, "")`)),
		of(sloPackage, rule, "a Node that is never initialized is not counted", "Watcher.look", always("Objective")),
		of(sloPackage, rule, "a Node after a restart is as young as the restart", "Watcher.look", always("after")),
		of(sloPackage, rule, "what may be either is within", "Sample.Class", always("Most")),
		of(sloPackage, rule, "an error from before halts the roll", "Sample.Class", never("After")),
		of(sloPackage, rule, "one slow Node halts a small cluster", "Counts.Judge", without("Missed 1 >=")),
		of(sloPackage, rule, "one Node is enough to be met", "Counts.Judge", judged("least", "all > 0")),
		of(sloPackage, rule, "an event that never came means too slow", "Watcher.answered", negated("failed")),
		of(sloPackage, rule, "the CCM alone accuses", "Corroborate", without("Counts")),
		of(sloPackage, rule, "a Node that came while no one looked is known to all load balancers",
			"Watcher.changed", never("events")),
		of(sloPackage, rule, "events that cannot be read are none",
			"Watcher.CannotLook", does("eventsSince", "w.eventsAt = time.Time{}")),
	}
}

// What was there before is there after.
func inventories() []mutant {
	const rule = "inventory"
	return []mutant{
		in(rule, "unexplained differences do not matter", "pass.InventoryChanges", never("Explained")),
		ofBaseline(rule, "a Node that was deleted under its Machine was rolled",
			"comparison.nodeThatWent", judged("Deleting", `machine.UID != ""`)),
		ofBaseline(rule, "a Node that joined again is another one", "comparison.nodeThatWent", without("again")),
		ofBaseline(rule, "an accepted Node may go", "comparison.nodeThatWent", without("AcceptNodes")),
		ofBaseline(rule, "Machines that cannot be looked at explain no Node", "Differences", never("Machines")),
		ofBaseline(rule, "a zone may change", "comparison.nodeThatStayed", never("cloud")),
		ofBaseline(rule, "any hostname may come", "withoutNewHostname", or("own", `strings.HasPrefix(address, "Hostname ")`)),
		ofBaseline(rule, "a route may go", "comparison.nodeThatStayed", never("Routed")),
		ofBaseline(rule, "annotations of load balancers may change", "comparison.annotations", never("balancer")),
		ofBaseline(rule, "volumes may fail", "comparison.failing", always("Problem")),
		ofBaseline(rule, "the default StorageClass may go", "comparison.classes", never("another")),
		ofBaseline(rule, "an old baseline lacks Nodes", "comparison.nodes", never("InventoryVersion")),
	}
}
