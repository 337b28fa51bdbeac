package main

// Nothing starts outside a window or in an exclusion, whatever the clocks of a zone do.
func windows() []mutant {
	const rule = "windows"
	ofWindow := func(name, function string, how operator) mutant { return of(windowPackage, rule, name, function, how) }
	return []mutant{
		ofWindow("a time that the clocks skip is before the gap", "clock.instant", instead("max", "wall-c.offset")),
		ofWindow("a time that comes twice is the second one", "clock.instant",
			judged("wall offset until", "wall-c.offset >= c.until-2*60*60")),
		ofWindow("clocks that go back within a run do not part it", "Window.openingsOf", always("even")),
		ofWindow("a Cluster starts just before an exclusion", "Calendar.At", never("LastStart")),
		ofWindow("a window that is open wins over an exclusion", "Moment.For", never("excluded")),
		ofWindow("a Cluster that no window is for may start", "Moment.For", judged("always", "len(m.Windows) == 0 || len(selected) == 0")),
		ofWindow("a closed window lets rolls go on", "Moment.For", without("closedHolds Open")),
		ofWindow("no one is woken when too little is left", "Moment.For", skips("LastStart")),
	}
}

// Which Clusters may start: the properties of the simulated fleets, by their numbers.
func fleets() []mutant {
	ofFleet := func(rule, name, function string, how operator) mutant {
		return of(fleetPackage, "fleet "+rule, name, function, how)
	}
	return []mutant{
		ofFleet("1 limits", "what is being admitted does not count", "decision.assign", without("admitting CompletedAt")),
		ofFleet("1 limits", "a Cluster that is admitted does not count in the same pass", "decision.letGo", skips("take")),
		ofFleet("1 limits", "each FleetMigration has its own budgets only", "decision.exhausted", begins("others = false")),
		ofFleet("1 limits", "a full budget has room", "budget.fits", judged("used costs limit", "used <= b.limit()")),
		ofFleet("1 limits", "what cannot be read is a number", "limit.check", returns("Errorf", "nil")),
		ofFleet("1 limits", "0 is one", "wave.concurrency", never("isZero")),
		ofFleet("1 limits", "the rate does not count what was admitted before", "decision.countStart", skips("started")),
		ofFleet("2 gates", "Hold admits", "run.stopped", returns("FleetOnHoldReason", `""`)),
		ofFleet("2 gates", "PlanOnly admits", "run.stopped", returns("FleetPlanOnlyReason", `""`)),
		ofFleet("2 gates", "windows do not matter", "decision.common", skips("verdict")),
		ofFleet("2 gates", "the windows of the owner do not matter", "decision.ownWindows", returns("obstaclesOf", "nil")),
		ofFleet("3 waves", "a wave opens before the one before has passed", "decision.open", never("passed")),
		ofFleet("3 waves", "a wave that has passed is forgotten", "wave.recall", skips("PassedAt")),
		ofFleet("3 waves", "a wave passes without a soak", "decision.pass", never("Before SoaksUntil")),
		ofFleet("3 waves", "a wave passes with Clusters under way", "wave.good", without("inFlight")),
		ofFleet("3 waves", "a wave passes although one is not well", "wave.good", without("unhealthy")),
		ofFleet("3 waves", "a wave passes although one is not seen to be well", "wave.add", without("HealthySince")),
		ofFleet("3 waves", "a wave passes although too many are inconclusive", "wave.good", without("inconclusive")),
		ofFleet("3 waves", "an empty first wave is skipped", "decision.openWaves", never("empty reached")),
		ofFleet("3 waves", "a completion from before the admission counts", "Member.done", without("Before")),
		ofFleet("3 waves", "an old approval approves", "approved", without("GateDigest")),
		ofFleet("3 waves", "a late failure leaves an approval valid", "digest",
			does("Succeeded Met", `before.Digest, before.Succeeded, before.Met, before.Failed, before.Violated = "", 0, 0, 0, 0`)),
		ofFleet("4 canaries", "all start with the canaries", "decision.canariesLeft", returns("left", "0, false")),
		ofFleet("4 canaries", "canaries do not soak", "decision.canariesLeft", returns("soaked", "0, false")),
		ofFleet("5 halts", "one failure more is allowed", "decision.halt", against("failures most", "most+1")),
		ofFleet("5 halts", "failures of a wave do not halt", "decision.halt", never("failures most")),
		ofFleet("5 halts", "no reason halts at once", "decision.haltAtOnce", never("Contains reasons")),
		ofFleet("12 rollback", "what stays in a rollback is not told", "decision.countBack", skips("staying")),
		ofFleet("12 rollback", "a rollback that has ended goes on", "rollback.verdict", does("going told", "going := b.told + b.done + 1")),
		ofFleet("6 resume", "a halt of the fleet ends by itself", "decision.halt", never("latched")),
		ofFleet("6 resume", "what a person looked at halts again", "run.forgiven", returns("began", "false")),
		ofFleet("7 claims", "a claim ends with its FleetMigration", "Gate", returns("admission FleetMigration", "Obstacle{}")),
		ofFleet("7 claims", "what is not known to be selected starts", "Gate", never("known")),
		ofFleet("8 unknown", "a Cluster whose Nodes are not known starts", "decision.own", skips("NodesUnknownReason")),
		ofFleet("8 unknown", "a Cluster that no one looked at starts", "decision.own", skips("PreflightUnknownReason")),
		ofFleet("11 order", "small ones take every Node", "decision.reserve", skips("reserved true")),
		ofFleet("12 others", "an unreachable Cluster has failed at once", "decision.late", never("Before deadline")),
		ofFleet("13 states", "who is let go is counted twice", "decision.letGo", skips("Queued")),
		ofFleet("16 claims", "a Cluster that has begun changes its FleetMigration", "decision.holderOf", never("a admitting")),
		ofFleet("16 claims", "a Cluster that has begun changes its wave", "decision.holderOf",
			returns("by Wave", "by, m.Admission.Wave, false")),
		ofFleet("2 gates", "a halt holds no roll", "decision.roll", never("HoldRollInFlight")),
		ofFleet("2 gates", "a closed window holds no roll", "decision.roll", never("verdict")),
		ofFleet("12 others", "a Cluster whose roll is held is late", "decision.failure", lacks("held")),
		ofFleet("18 rest", "what was written is written again", "decision.assign", goesOn("Admit admitting", "p.Admit = admitting")),
		ofFleet("21 rollback", "what is past its point of no return is rolled back", "run.mayRollBack", without("BeforeNoReturn")),
	}
}

// A forecast is what a run does, and changes nothing.
func forecasts() []mutant {
	ofForecast := func(name, function string, how operator) mutant {
		return of(forecastPackage, "forecast", name, function, how)
	}
	return []mutant{
		ofForecast("mode PlanOnly starts no Cluster", "simulation.take", never("FleetPlanOnly")),
		ofForecast("it changes what it was given", "simulation.take", instead("Clone", "of.Members")),
		ofForecast("a wave is not approved", "simulation.record", never("WaveAwaitingApproval")),
		ofForecast("a roll that is held goes on", "simulation.obey", never("holds heldSince RolledOut")),
		ofForecast("a hold costs no time", "simulation.obey", skips("rolledAt Add")),
		ofForecast("one that needs a person goes on", "simulation.resume", never("needsPerson")),
		ofForecast("a look becomes too old", "simulation.assume", skips("LookedAt Time")),
		ofForecast("who waits for time waits for ever", "simulation.stuck", begins("return true")),
	}
}
