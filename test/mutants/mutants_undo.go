package main

// The point of no return: after it, undo is refused.
func pointOfNoReturn() []mutant {
	const rule = "undo allowed"
	return []mutant{
		in(rule, "a MachineSet of the migration counts as in-tree by its age", "machines.go", "v.external != \"\" && set.RestartValue == v.external", "false"),
		in(rule, "what could not be looked at is ahead", "pnr.go", "	case len(unknown) > 0:", "	case len(unknown) < 0:"),
		in(rule, "an undo begins although something could not be looked at", "undo.go",
			"	case ucv1.PointOfNoReturnUnknown:", "	case \"-\":"),
		in(rule, "an undo begins beyond it", "undo.go", "	case ucv1.PointOfNoReturnPassed:", "	case \"-\":"),
		in(rule, "completion does not pass it", "pnr.go", "if completed := p.facts.CompletedAt; completed != nil {", "if completed := p.facts.CompletedAt; completed != nil && completed.IsZero() {"),
		in(rule, "a lone external Machine does not pass it", "pnr.go", "if !replaceable && !machine.Deleting &&", "if !replaceable && replaceable && !machine.Deleting &&"),
		in(rule, "the annotation alone tells what is external", "pnr.go", " || (owned && view.wanted(set))", ""),
		in(rule, "a load balancer that in-tree naming does not find does not pass it", "pnr.go",
			"SharesLoadBalancerNames && p.clusterNameKept() {", "SharesLoadBalancerNames || p.clusterNameKept() {"),
		in(rule, "another cluster name does not pass it", "pnr.go", "kcmClusterName(controlPlane.KCM.Arguments) == p.facts.Inherited.ClusterName", "kcmClusterName(controlPlane.KCM.Arguments) != \"-\""),
		in(rule, "a volume that only the driver can serve does not pass it", "pnr.go", "if made && !of", "if !made && !of"),
		in(rule, "a KCM without in-tree provider does not pass it", "pnr.go", "controlPlane.KCM.Arguments.Flag(\"cloud-provider\"); has != name {", "controlPlane.KCM.Arguments.Flag(\"cloud-provider\"); has == \"-\" {"),
		in(rule, "a minor without in-tree provider does not pass it", "pnr.go", "case p.minor() > provider.LastInTreeMinor:", "case p.minor() > 99:"),
		in(rule, "nobody waits before it", "pnr.go", "!p.o.Cluster.Spec.Handover.PauseBeforePointOfNoReturn ||", "true ||"),
		in(rule, "KCM is changed before its arguments are kept", "handover.go", "if !p.rememberOriginals(kcm) {", "if !p.rememberOriginals(kcm) && false {"),
	}
}

// Rule 2 in an undo: KCM gets its loops back only when the CCM is proven silent.
func undo() []mutant {
	const rule = "2 undo"
	return []mutant{
		in(rule, "the fence stays open in an undo", "undo_rows.go", "	case fence.Open:", "	case false:"),
		in(rule, "a fence that does not hold is enough in an undo", "undo_rows.go", "len(fence.Allowed) > 0 && !serialized", "len(fence.Allowed) < 0 && !serialized"),
		in(rule, "the CCM's workload stays", "undo_rows.go",
			"	case len(addons.Obsolete) > 0 && p.facts.Rollback.AddonsWithdrawnAt == nil:", "	case len(addons.Obsolete) < 0:"),
		in(rule, "pods of the CCM are not waited for", "undo_rows.go", "	if len(pods) == 0 {", "	if len(pods) >= 0 {"),
		in(rule, "pods of the CCM that cannot be looked at are none", "undo_rows.go", "	case !listed:\n\t\treturn cannotLook(\"the CCM's pods\"", "	case !listed && p.now.IsZero():\n\t\treturn cannotLook(\"the CCM's pods\""),
		in(rule, "the CCM's Lease is not waited for", "undo_rows.go", "	case wait <= 0:", "	case wait <= 24*time.Hour:"),
		in(rule, "the Lease is waited for from before the pods were gone", "undo_rows.go", "	if gone.After(lease.WatchedAt) {", "	if false {"),
		in(rule, "a CCM that led counts as one that never did", "undo_rows.go", " && handover.FenceOpenedAt == nil", ""),
		in(rule, "pods that come back are forgotten", "undo_rows.go", "	p.facts.Rollback.WorkloadGoneAt = nil\n", ""),
		in(rule, "loops are given back while a Node is NotReady", "undo_loops.go", "	case off:\n", "	case false:\n"),
		in(rule, "who switches the loops off again is fought", "undo_loops.go", "	case p.facts.Rollback.LoopsOnAt != nil && off:", "	case false:"),
		in(rule, "the loops need not be as before", "undo_loops.go", "	case kept == nil || slices.Equal", "	case true || slices.Equal"),
		in(rule, "a KCM that somebody else changes is changed", "undo_loops.go", "	if p.o.Cluster.Spec.ControlPlane.Instructed() {", "	if false {"),
		in(rule, "KCM need not lead", "undo_loops.go", "	if !leads {", "	if !leads && p.now.IsZero() {"),
		in(rule, "the CCM stays beside a KCM that runs loops already", "undo.go", "	if len(runningLoops(kcm)) == 0 {", "	if len(runningLoops(kcm)) >= 0 {"),
		in(rule, "a refused undo leaves nobody running the loops", "undo.go", "(handover.FinishedAt == nil || p.guard()", "(p.guard()"),
		in(rule, "an undo that ends leaves the facts behind", "undo.go", "	p.facts = ucv1.Facts{Origin: p.facts.Origin, Rollback: rollback}\n", ""),
		in(rule, "load balancers need not be the same", "undo_loops.go", "	case len(changed) > 0:", "	case len(changed) < 0:"),
	}
}

// Rule 2 in an undo of protocol LeaderMigration.
func undoneLock() []mutant {
	const rule = "2 undo"
	return []mutant{
		in(rule, "the lock stays in KCM in an undo", "undo_loops.go", "path == lockPath {", "path == \"-\" {"),
		in(rule, "the lock of somebody else is taken out", "undo_loops.go", "path == lockPath {", "path != \"\" {"),
		in(rule, "who gives KCM the lock again is fought", "undo_loops.go", "	case p.facts.Rollback.LoopsOnAt != nil:\n", "	case false:\n"),
		in(rule, "something of the lock is left behind", "undo_loops.go", " || handover.FinishedAt != nil {", " || handover.FinishedAt == nil {"),
		in(rule, "the CCM that goes keeps the lock", "lock.go", " && !withdrawn(facts)", ""),
		in(rule, "the probe goes on in an undo", "probe.go", " && cluster.Status.Rollback == nil", ""),
		in(rule, "an undo that would be refused is offered", "undo.go", "len(passed)+len(unknown) > 0 {", "len(passed)+len(unknown) < 0 {"),
	}
}

// Machines, volumes and addons of an undo.
func undoneMachines() []mutant {
	const rule = "5 undo"
	return []mutant{
		in(rule, "in-tree Machines are rolled back", "machines.go", "	return v.undo && v.neverExternal(set)", "	return false"),
		in(rule, "a Machine that was made since is in-tree", "machines.go", "set.CreatedAt.Before(v.startedAt) && !v.joined[set.UID]", "set.CreatedAt.Before(v.startedAt)"),
		in(rule, "a flag that came back leaves its time behind", "undo_rows.go", "	if p.facts.Rollback.MachineControllerRevertedAt != nil {", "	if false {"),
		in(rule, "Machines are rolled back while a pod has the old flag", "undo_rows.go", "		if !deployment.RolledOut {", "		if false {"),
		in(rule, "an undo waits for the CCM", "roll.go", "	if p.undoing() {\n\t\treturn nil\n\t}\n", ""),
		in(rule, "Nodes that only the CCM can initialize are left behind", "undo_rows.go", "		if node.Uninitialized {", "		if false {"),
		in(rule, "volumes need not be detached", "undo_rows.go", "		if !csi && slices", "		if csi && slices"),
		in(rule, "the driver goes although a volume needs it", "undo_rows.go", "if out := p.driverUnneeded(); addons.CSI.SatisfiedBy == \"\" && !out.holds {", "if out := p.driverUnneeded(); addons.CSI.SatisfiedBy == \"-\" && !out.holds {"),
		inPlan("what rolls back already is not counted", "candidates, used = turning, rolling", "candidates, used = turning, nil"),
	}
}
