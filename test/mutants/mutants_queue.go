package main

// Who may start: what the controllers make of what was decided, and what a Cluster does while it waits.
func admissions() []mutant {
	ofAdmission := func(name, function string, how operator) mutant {
		return of(fleetControllerPackage, "admission", name, function, how)
	}
	return []mutant{
		ofAdmission("a Cluster is admitted after a status that was refused", "pass.admit", without("keptBack")),
		ofAdmission("a Cluster is admitted by a FleetMigration that is gone", "pass.report",
			does("refused", "if !apierrors.IsNotFound(err) {\np.refused[planned.UID] = err\n}")),
		ofAdmission("a halt holds no roll where the status is refused", "pass.keptBack", does("holds refused", "err, holds := p.refused[wanted.UID], false")),
		ofAdmission("a decision older than the FleetMigration holds rolls", "pass.keptBack", without("IsConflict")),
		ofAdmission("a FleetMigration that is gone holds rolls", "pass.keptBack", without("IsNotFound")),
		ofAdmission("a definition that drops what is being admitted is not noticed", "pass.stored", always("len")),
		ofAdmission("an admission is written over a newer Cluster", "applied", skips("SetResourceVersion")),
		ofAdmission("an admission is written to another Cluster of the name", "applied", skips("SetUID")),
		ofAdmission("the feature is set after the admission", "pass.write", begins(`if setFeature && !cluster.ExternalCloudProvider() {
			setFeature = false
			defer func() { _, _ = p.writeFeature(ctx, cluster, "", wanted.FleetMigration) }()
		}`)),
		ofAdmission("the feature is taken from who owns it", "pass.writeFeature", instead("Apply",
			"p.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(ucv1.FleetFieldManager), "+
				"client.ForceOwnership)")),
		ofAdmission("the feature is set before the claim", "pass.write", never("Admission nil")),
		ofAdmission("all Clusters are claimed at once", "pass.admit", never("claimsAtOnce")),
		ofAdmission("a FleetMigration goes although Clusters wait in it", "pass.keep", judged("queued", "true")),
		ofAdmission("a FleetMigration goes and its Clusters hold their roll for ever", "pass.keep", without("held")),
		ofAdmission("a clock that goes back stops the reports", "pass.reportOne", without("age >=")),
		ofAdmission("a halt is reported with the counts", "urgent", begins(
			"if equality.Semantic.DeepEqual(before.Admitting, after.Admitting) {\nreturn false\n}")),
		ofAdmission("who is let go is written down with the counts", "urgent", without("Admitting")),
		ofAdmission("a forecast that saw no end stands for long", "pass.oldestForecast", never("nil of")),
		ofAdmission("counts are written in each pass", "pass.reportOne", never("urgent")),
		ofAdmission("a change of a Cluster makes no pass", "Reconciler.changes", never("DeepEqual")),
		ofAdmission("no one looks again when a window opens", "pass.result", never("IsZero")),
		ofAdmission("a namespace that is not known has no labels", "Reconciler.observe", skips("NamespaceUnknown")),
	}
}

func turns() []mutant {
	ofTurn := func(name, function string, how operator) mutant {
		return of(fleetControllerPackage, "turn", name, function, how)
	}
	const mayStart = "observation.Absent[observation.Turn]()"
	return []mutant{
		ofTurn("a Cluster starts whatever a FleetMigration says", "Turns.Turn", instead("Gate", "fleet.Obstacle{}")),
		ofTurn("a selector that cannot be read selects no Cluster", "Turns.selected", never("problem")),
		ofTurn("FleetMigrations that cannot be read select no Cluster", "Turns.selected",
			returns("FleetMigrations", "observation.Known(false)")),
		ofTurn("a namespace that cannot be read is in no FleetMigration", "Turns.selected",
			returns("namespace", "observation.Known(false)")),
		ofTurn("a bound manager heeds no claims", "Turns.Turn", begins("if t.Bound {\nreturn "+mayStart+"\n}")),
		ofTurn("a FleetMigration of the same name holds the claim", "Turns.claimed", without("UID")),
		ofTurn("who is next for a moment is looked at", "Turns.decided", against("left <=", "time.Hour")),
		ofTurn("no Cluster is woken", "Turns.decided", skips("wake")),
		ofTurn("a Cluster does not wait for its FleetMigration", "Unmanaged.turn", never("rest")),
		ofTurn("any number of Clusters may start", "Unmanaged.turn", never("used Most")),
		ofTurn("who was let go is forgotten", "Unmanaged.turn", skips("granted")),
		ofTurn("who was let go may start at any time", "Unmanaged.turn", without("lasts")),
		ofTurn("who was let go and could start later does not count", "Unmanaged.turn", skips("told -granted")),
		ofTurn("what started before the manager does not count", "Unmanaged.count", skips("UID -counted")),
		ofTurn("a clock that goes back lets Clusters wait", "Unmanaged.remember", without("Before")),
	}
}

func queues() []mutant {
	const rule = "queue"
	ofFleet := func(name, function string, how operator) mutant { return of(fleetPackage, rule, name, function, how) }
	ofCluster := func(name, function string, how operator) mutant {
		return of(clusterControllerPackage, rule, name, function, how)
	}
	ofPlane := func(name, function string, how operator) mutant {
		return of(controlPlanePackage, rule, name, function, how)
	}
	return []mutant{
		inTables(rule, "a queued Cluster is connected", "Queues", returns("AwaitsTurn", "false")),
		inTables(rule, "a turn that cannot be read has come", "start.Admitted",
			returns("CannotLook", `outcome.Holds(ucv1.HoldsReason, "")`)),
		inTables(rule, "who has started waits for its turn", "start.AwaitsTurn", without("StartedAt")),
		ofRolloutTables(rule, "a roll that is held goes on to the next MachineDeployment", "startGates", always("Directed")),
		inTables(rule, "what is held passes its point of no return", "noreturn.Before", never("Directed")),
		inTables(rule, "what is held lets KCM be upgraded past its provider", "loops.upgradeAllowed", never("Directed LastInTreeMinor")),
		inTables(rule, "a FleetMigration rolls back what is past its point of no return", "wantsRollback", without("PointOfNoReturnAt")),
		inTables(rule, "who cannot be reached is looked at every few seconds", "hourlyLook", without("Before")),
		inTables(rule, "one that slept waits although it is awake", "hourlyLook", never("LeaderHibernated")),
		inTables(rule, "one that sleeps is looked at every hour", "looked", without("Reachable HourlyLooks")),
		ofPlane("a pod in a cache that runs KCM is none", "Reader.Glimpse", never("hasPods")),
		ofPlane("a pod that went without an end is none", "Reader.Glimpse", instead("Former Processes", "[]observation.Process{}")),
		ofPlane("an API server without KCM is a control plane that sleeps", "Reader.Glimpse", lacks("ContainsFunc")),
		ofCluster("the fleet is not asked", "Reconciler.turnOf", always("AwaitsTurn")),
		ofCluster("the controller of Clusters takes the admission", "writer.applyStatus", skips("admission")),
		ofFleet("a look is believed for ever", "decision.lasts", always("Before")),
		ofFleet("a Cluster is admitted whose feature someone holds off", "decision.own", skips("HeldOff")),
		ofFleet("one that is being admitted counts although its feature is held off", "decision.isAdmitting", never("HeldOff")),
		ofFleet("windows of an owner that cannot be read are open", "decision.own", skips("WindowsUnreadable")),
		ofFleet("a selector that cannot be read gives its Clusters to others", "decision.placeOf", never("unreadable")),
		ofFleet("no one selects who is in a namespace that is not known", "decision.placeOf", never("NamespaceUnknown")),
		ofFleet("what selects a Cluster is known although its namespace is not", "Placer.Place", never("NamespaceUnknown")),
		ofFleet("a spec that cannot be read lets rolls go on", "decision.roll", never("problems")),
		ofFleet("who is released holds its roll", "decision.roll", never("Released")),
		ofFleet("what was rolled back starts again whatever the fleet says", "Member.waitsAgain", never("RolledBack")),
		ofFleet("what was rolled back leaves the starts of the hour", "decision.countStart", never("AdmittedAt nil")),
		ofFleet("who is held by a FleetMigration that is gone stays held", "decision.directive", without("there")),
	}
}
