package main

// The reports by which others believe us can fail: what is broken here is the judge of the demo and its evidence.
func reports() []mutant {
	const rule = "report"
	return []mutant{
		of(demoPackage, rule, "overlaps are not judged", "judge.loops", always("Overlaps 0")),
		of(demoPackage, rule, "there is never an overlap", "Records.Describe", becomes("Overlaps", "0 * len(short)")),
		of(demoPackage, rule, "an overlap in the cloud's log is none", "Records.Describe", drops("CallOverlaps")),
		of(demoPackage, rule, "an overlap that only Leases show is none", "Records.Describe",
			becomes("Overlaps", "len(loops.Overlaps(r.Samples)) + len(loops.CallOverlaps(r.Calls)) + 0*len(short)")),
		of(demoPackage, rule, "load balancers are not judged", "judge.cluster", always("LoadBalancers balancers")),
		of(demoPackage, rule, "the window of a gap is empty", "Records.Describe", instead("Unattended settleTime", "loops.Spell{}")),
		of(demoPackage, rule, "the window is not the whole run", "Moments.window", always("After")),
		of(demoPackage, rule, "what is unattended is not judged", "judge.loops", always("Seconds most")),
		of(demoPackage, rule, "most moves may be slow", "judge.soon", always("Soon Moves")),
		of(demoPackage, rule, "moves of KCM hide slow ones of the CCM", "Unmet", skips("the cloud loops soon")),
		of(demoPackage, rule, "cloud loops that never moved moved soon enough", "Unmet", always("cloud Moves > 0")),
		of(demoPackage, rule, "loops of KCM that never moved moved soon enough", "Unmet", always("kcm Moves > 0")),
		of(demoPackage, rule, "a gap need not be measured", "judge.loops", always("gap Completed")),
		of(loopsPackage, rule, "two leaders by one Lease run nothing twice", "stint.sharedWith", never("Component")),
		of(demoPackage, rule, "each move was soon", "judged", always("usual start")),
		of(demoPackage, rule, "KCM's Lease is not judged", "Records.Describe", instead("Leaderless", "nil")),
		of(loopsPackage, rule, "a Lease that no one takes any more is led", "Evidence.Leaderless", skips("leaves to")),
		of(loopsPackage, rule, "what goes on in the same manager is a move", "Moves", always("runner")),
		of(demoPackage, rule, "missing records do not matter", "judge.cluster", ranges("Doubts", "[:0]")),
		of(demoPackage, rule, "no record is no doubt", "Records.Describe", lacks("missing")),
		of(demoPackage, rule, "reads that failed do not matter", "Records.Describe", lacks("Unread")),
		of(demoPackage, rule, "a Machine that came later was there before", "Witness.Machines", never("After")),
		of(loopsPackage, rule, "a read that failed is not written down", "watch.run", skips("account")),
		of(loopsPackage, rule, "any number of reads may fail", "Unread", never("mostFailed")),
		of(loopsPackage, rule, "a manager need not be read", "Unread", never("readyTime")),
		of(loopsPackage, rule, "a loop that ends is attended", "Unattended", skips("see to")),
		of(loopsPackage, rule, "a loop that begins late is attended", "Unattended", becomes("last from", "to")),
		of(loopsPackage, rule, "an overlap shorter than the interval is none", "Evidence.Judge", always("Before")),
		of(loopsPackage, rule, "a leader that was never seen ran nothing", "stint.mayRun", without("len")),
		of(loopsPackage, rule, "a leader that was never seen ran what its arguments exclude", "stint.mayRun", without("excluded")),
		of(loopsPackage, rule, "loops that are left out may run", "process.excluded", without("left 0")),
		of(loopsPackage, rule, "a hole in the history of a Lease is none", "Evidence.stints", never("Transitions")),
		of(loopsPackage, rule, "a process that ended holds its Lease", "Evidence.stintOf", without("until")),
		of(loopsPackage, rule, "loops may run without a Lease", "Evidence.outsiders", always("ContainsFunc has")),
	}
}
