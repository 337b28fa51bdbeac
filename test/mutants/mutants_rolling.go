package main

// Rule 9: one extra Machine is proven before any other is replaced, and nothing of it is left.
func canaries() []mutant {
	const rule, file = "9 canary", "canary.go"
	return []mutant{
		in(rule, "nothing waits for it", "roll.go", "if out := p.canary(pools, intents); !out.holds {", "if out := p.canary(pools, intents); false && !out.holds {"),
		in(rule, "it is made before it is recorded", file, "		return p.beginCanary(pools, intents, 1)\n", "		return p.createCanary(pools, CanaryPlan{}, false)\n"),
		in(rule, "what could not be looked at lacks nothing", file, "	case !p.o.Canary.IsKnown():\n\t\treturn cannotLook(\"the canary\"",
			"	case false:\n\t\treturn cannotLook(\"the canary\""),
		in(rule, "a Node that lacks something proves it", file, "if lack := p.nodeLacks(view, node); lack != \"\" {", "if lack := p.nodeLacks(view, node); lack == \"-\" {"),
		in(rule, "labels of the cloud do not matter", file, "if labels := p.topologyLacks(node); len(labels) > 0 {", "if labels := p.topologyLacks(node); len(labels) < 0 {"),
		in(rule, "its pod may run anywhere", file, "!workload.PodReady || workload.PodNode != node.Name", "!workload.PodReady"),
		in(rule, "a volume that is made is attached", file, "	case !workload.Attached:", "	case false:"),
		in(rule, "its Service is made before its Node is proven", file, "plan.LoadBalancer = balanced && len(lacks) == 0", "plan.LoadBalancer = balanced"),
		in(rule, "a load balancer needs no address", file, "len(p.o.Canary.Value().Ingress) == 0", "len(p.o.Canary.Value().Ingress) < 0"),
		in(rule, "it may take for ever", file, "	case p.now.Before(deadline):", "	case true:"),
		in(rule, "one that failed is never made anew", file, "p.now.Sub(fact.FailedAt.Time) > p.o.Deadlines.CanaryRetry", "p.now.Sub(fact.FailedAt.Time) < 0"),
		in(rule, "it is left in an undo and by a deleted Cluster", file,
			"!p.undoing() && p.o.Cluster.DeletionTimestamp.IsZero() &&\n", "true &&\n"),
		in(rule, "the row holds while it is left", "roll.go",
			"	if out, left := p.removeCanary(); left {\n\t\treturn out\n\t}\n	return holds", "	return holds"),
		in(rule, "its Machine goes with the volume attached", "canary_removal.go", "	if len(now)+len(held) == 0 {\n\t\tnow = still", "	if len(now) == 0 {\n\t\tnow = still"),
		in(rule, "a volume that does not go keeps its Machine for ever", "canary_removal.go", "now.Sub(object.DeletingSince) < patience", "true"),
		in(rule, "its Machine may take for ever to go", "canary_removal.go", "machine.Deleting && view.late(machine)", "false && view.late(machine)"),
		in(rule, "its volume outlives it", file, "case seen.Retains || ", "case "),
		in(rule, "its volume passes the point of no return", "pnr.go", "made && !ofCanary(volume.Claim) && ", "made && "),
		in(rule, "its load balancer passes the point of no return", "pnr.go", "		if ofCanary(balancer.Namespace + \"/\" + balancer.Name) {", "		if false {"),
		in(rule, "it is one of the Machines", file, "		if deployment.Canary {", "		if false {"),
		{
			rule: rule, name: "the target's MachineSets adopt it", file: "pkg/usercluster/canary.go",
			old: "\"selector\": map[string]any{\"matchLabels\": maps.Clone(ours)}", new: "\"selector\": source.Object[\"spec\"].(map[string]any)[\"selector\"]",
			packages: []string{"pkg/usercluster"},
		},
		{
			rule: rule, name: "an autoscaler takes it for its own", file: "pkg/usercluster/canary.go",
			old: "if domain == known || strings.HasSuffix(domain, \".\"+known) {", new: "if known != \"\" && domain != \"\" {", packages: []string{"pkg/usercluster"},
		},
		{
			rule: rule, name: "an object of somebody else is removed", file: "pkg/usercluster/canary.go",
			old: "client.Preconditions{UID: new(types.UID(ref.UID))}, ", new: "client.Preconditions{UID: map[bool]*types.UID{}[true]}, ", packages: []string{"pkg/usercluster"},
		},
	}
}

// Rule 10: at most maxSurge and maxUnavailable Machines are unproven at once, and what the breaker takes it gives back.
func breaker() []mutant {
	const rule, file = "10 breaker", "breaker.go"
	return []mutant{
		in("6 every trouble is visible", "one that is paused and serves is a failure while another waits", "roll.go", "p.blocked != \"\" && p.disrupted }", "p.blocked != \"\" }"),
		in(rule, "nothing is paused", file, "	verb := p.trip()\n", "	verb := p.trip()\n\tverb = nil\n"),
		in(rule, "what a row holds up is not paused", file, "	verb := p.trip()\n",
			"	verb := p.trip()\n\tif decision.Step != ucv1.StepRoll {\n\t\tverb = nil\n\t}\n"),
		in(rule, "a Node has any time", file, "!v.served(node) && v.now.Sub(node.CreatedAt) > v.initialization", "!v.served(node) && v.now.Before(node.CreatedAt)"),
		in(rule, "the taint does not matter", file, "return !node.Uninitialized && has", "return has"),
		in(rule, "minReadySeconds is the deadline", "deadlines.go", "deadline + max(d.BreakerMargin, deadline/2)", "deadline"),
		in(rule, "it is rolled without minReadySeconds", "roll.go", "if out, busy := p.guards(pools, intents); busy {", "if out, busy := p.guards(pools, intents); false && busy {"),
		in(rule, "what somebody else wants is taken", file, "!d.MinReadyOurs && d.MinReadyOwner == \"\" && !lost", "!d.MinReadyOurs && !lost"),
		in(rule, "what was lost is taken again", file, "d.MinReadyOwner == \"\" && !lost {", "d.MinReadyOwner == \"\" && !(lost && false) {"),
		in(rule, "nobody is warned", file, "d.MinReadyOurs || d.MinReadySeconds >= p.guardSeconds()", "d.MinReadyOurs || d.MinReadySeconds >= 0"),
		in(rule, "a pause gives minReadySeconds back", file, "BreakerFields{MinReadySeconds: d.guard(), Paused: true}", "BreakerFields{Paused: true}"),
		in(rule, "a row calls a person for a deleted Cluster", file, "	if !p.o.Cluster.DeletionTimestamp.IsZero() {\n\t\t// The rows", "	if false {\n\t\t// The rows"),
		in(rule, "an instruction is given twice", "table.go", "	p.instructions = nil\n", ""),
		in(rule, "only one is paused in a pass", file, "		verb.Objects, verb.Breaker, whys = append(verb.Objects, d.Ref)", "		verb.Objects, verb.Breaker, whys = append([]Ref(nil), d.Ref)"),
		in(rule, "a pause that ended counts as time in which nothing moved", "machines.go", "	if deployment.AppliedAt.After(last) {", "	if false {"),
		in(rule, "an end of a pause gives minReadySeconds back", file, "Breaker: BreakerFields{MinReadySeconds: d.guard()},", "Breaker: BreakerFields{},"),
		in(rule, "our pause is taken back while a Node is not initialized", file, "!p.halted() && view.newOnesProven(d)", "!p.halted()"),
		in(rule, "what another owner rolls back is not guarded", file, "pool.state == rollout.Blocked && !pool.conflict", "pool.state == rollout.Blocked"),
		in(rule, "a deleted Cluster leaves minReadySeconds behind", "decide.go", "if out, left := p.returnAll(pools); left {", "if out, left := p.returnAll(pools); false && left {"),
		in(rule, "a paused Cluster does not say what rolls on", "decide.go", "		decision.RollsOn = p.rollsOn()\n", ""),
		in(rule, "what was rolled is forgotten with a status that is refused", "roll.go", "	p.noteRolled(pools)\n", ""),
		{
			rule: rule, name: "clocks may differ by more than it tolerates", file: "pkg/migration/preflight/time.go",
			old: "min(tokenSkew, o.Deadlines.OrReal().SkewTolerance(o.Cluster))", new: "tokenSkew", packages: []string{"pkg/migration/preflight"},
		},
		in(rule, "our pause stays for ever", file, "!p.halted() && view.newOnesProven(d)", "false"),
		in(rule, "nobody looks at the deadline of a Node", file, "	if b > 0 && (a == 0 || b < a) {", "	if b > time.Hour {"),
		in(rule, "minReadySeconds goes while Machines are made", file, "return !pool.deployment.Paused && view.lastOnesProven(pool.deployment)", "return !pool.deployment.Paused"),
		in(rule, "minReadySeconds is kept", file, "		if p.mayReturn(view, pool) {", "		if false && p.mayReturn(view, pool) {"),
		in(rule, "an undo lets go before the template says in-tree", file, "	case view.undo:\n\t\treturn told", "	case view.undo:\n\t\treturn true"),
		in(rule, "our own pause is for a person to take back", file, "return d.Paused && !d.PausedByUs", "return d.Paused"),
		in(rule, "a drain is waited out in silence", "drain.go", "len(troubles) > 0 {\n\t\t\tsentences", "len(troubles) < 0 {\n\t\t\tsentences"),
		{
			rule: rule, name: "a pause of a person is ours", file: "pkg/usercluster/breaker.go", old: "paused && onlyOurs(object.GetManagedFields(), \"paused\")", new: "paused",
			packages: []string{"pkg/usercluster"},
		},
		{
			rule: rule, name: "a default of 0 is somebody's wish", file: "pkg/usercluster/breaker.go",
			old: "case seconds != 0 || entry.Operation == metav1.ManagedFieldsOperationApply:", new: "case true:", packages: []string{"pkg/usercluster"},
		},
	}
}
