package main

const sloPackage = "pkg/migration/slo"

// inSLO makes a mutant of a file of pkg/migration/slo.
func inSLO(name, file, old, changed string) mutant {
	return mutant{rule: "5 objectives", name: name, file: sloPackage + "/" + file, old: old, new: changed, packages: []string{sloPackage}}
}

// Rule 5: nothing is rolled while the CCM does not do what is asked of it.
func objectives() []mutant {
	const rule, file = "5 objectives", "objectives.go"
	return []mutant{
		in(rule, "a violation does not halt the roll", "roll_halts.go", "if out := p.objectives(); !out.holds {", "if out := p.objectives(); out.verb != nil {"),
		in(rule, "a halt ends by itself", file, "!p.mayHalt() || p.facts.SLO.ViolatedAt == nil {", "!p.mayHalt() || p.facts.SLO.Verdict != ucv1.SLOVerdict(slo.Violated) {"),
		in(rule, "what rolls already goes on", "breaker.go", "	case p.halted() && pool.old:", "	case false:"),
		in(rule, "its pause ends before the halt", "breaker.go", "d.PausedByUs && !p.halted() && ", "d.PausedByUs && "),
		in(rule, "the breaker takes the pause of a halt back", "decide.go",
			"	p.countSamples()\n	before := *p.facts.DeepCopy()\n	decision := p.halts(p.tripped(before, p.course()))\n",
			"	before := *p.facts.DeepCopy()\n	decision := p.halts(p.tripped(before, p.course()))\n	p.countSamples()\n"),
		in(rule, "one that is scaled up is halted for ever", file, "return pl.old || pl.state == rollout.Outdated", "return !pl.done() || pl.state == rollout.Outdated"),
		in(rule, "a person is not heard while nothing is measured", file, "return looked == nil || !p.facts.SLO.ViolatedAt.Before(looked)", "return looked == nil || looked != nil"),
		in(rule, "a pause calls the person off", "breaker.go", "	decision.Verb, decision.Wait = verb, nil\n", "	decision.Verb, decision.Wait, decision.Failure = verb, nil, nil\n"),
		in(rule, "a halt calls nobody while an earlier row waits", "decide.go", "p.halts(p.tripped(before, p.course()))", "p.tripped(before, p.course())"),
		in(rule, "an old look of a person lets the roll go on", file, "since != nil && status.Since.Before(since)", "since != nil"),
		in(rule, "samples are counted in every pass", file, "status.CountedUntil != nil && !sample.End.After(status.CountedUntil.Time), ", ""),
		in(rule, "only the first sample of a look counts", file, "	for _, sample := range seen.Samples {", "	for _, sample := range seen.Samples[:min(1, len(seen.Samples))] {"),
		in(rule, "Nodes that kubelets initialized count", file, "return !ofNode || sample.Tainted || ", "return ofNode || !ofNode || "),
		in(rule, "what could not be measured is fine", "roll.go", "p.cloudAsked, p.measured}", "p.cloudAsked}"),
		inSLO("a Node that is never initialized is not counted", "watcher.go", "if sample.Least <= Objective {", "if sample.Least >= 0 {"),
		inSLO("a Node after a restart is as young as the restart", "watcher.go", "} else if !opened.since.after.IsZero() {", "} else {"),
		inSLO("what may be either is within", "sample.go", "case s.Most >= 0 && s.Most <= Objective:", "case s.Least <= Objective:"),
		inSLO("one slow Node halts a small cluster", "verdict.go", " && (c.Missed > 1 || all >= tolerated)", ""),
		inSLO("one Node is enough to be met", "verdict.go", "all >= max(least, 1) && ", "all > 0 && "),
		inSLO("an event that never came means too slow", "services.go", "case since.failed:", "case !since.failed:"),
		inSLO("the CCM alone accuses", "histogram.go", "(verdict == Met || own == Counts{})", "verdict == Met"),
		inSLO("a Node that came while nobody looked is known to all load balancers", "watcher.go", "	if len(w.events) == 0 {", "	if false {"),
		inSLO("events that cannot be read are none", "services.go", "w.eventsSince, w.eventsAt = time.Time{}, time.Time{}", "w.eventsAt = time.Time{}"),
	}
}

// What was there before is there after.
func inventories() []mutant {
	const rule, compare, nodes = "inventory", "inventory_compare.go", "inventory_nodes.go"
	return []mutant{
		in(rule, "unexplained differences do not matter", compare, "		if difference.Explained == \"\" {\n\t\t\tlost = append", "		if false {\n\t\t\tlost = append"),
		in(rule, "a Node that was deleted under its Machine was rolled", nodes, "before.Machine != \"\" && (!there || machine.Deleting)", "before.Machine != \"\" && (!there || machine.UID != \"\")"),
		in(rule, "a Node that joined anew is another one", nodes, "case anew || controlPlane || ", "case controlPlane || "),
		in(rule, "an accepted Node may go", nodes, " || slices.Contains(c.spec.AcceptNodes, before.Name)", ""),
		in(rule, "Machines that cannot be looked at explain no Node", compare, "p.o.Machines.IsUnknown() && c.lacksNodes()", "false"),
		in(rule, "a zone may change", nodes, "	if len(cloud) > 0 {", "	if false {"),
		in(rule, "any hostname may come", nodes, "return address == own }", "return address == own || strings.HasPrefix(address, \"Hostname \") }"),
		in(rule, "a route may go", nodes, "before.Routed && !after.Routed", "false"),
		in(rule, "annotations of load balancers may change", compare, "	if len(balancer) > 0 {", "	if false {"),
		in(rule, "volumes may fail", compare, "attachment.Problem == \"\" || attachment.Volume == \"\"", "attachment.Problem != \"-\""),
		in(rule, "the default StorageClass may go", compare, "before.Default && !after.Default && !another", "!another && false"),
		in(rule, "an old baseline lacks Nodes", nodes, "	if c.before.Version < InventoryVersion {", "	if c.before.Version < 0 {"),
	}
}
