package main

const controlPlanePackage = "pkg/controlplane"

// inStatic makes a mutant of how static pods are seen, which the tables of pkg/controlplane are to kill.
func inStatic(name, file, old, changed string) mutant {
	return mutant{
		rule: "2 static", name: name, file: "pkg/controlplane/" + file, old: old, new: changed, packages: []string{controlPlanePackage},
	}
}

// inTables makes a mutant of pkg/migration, which its tables are to kill: the simulation has no static pods.
func inTables(rule, name, file, old, changed string) mutant {
	return mutant{rule: rule, name: name, file: "pkg/migration/" + file, old: old, new: changed, packages: []string{migrationPackage}}
}

// Rule 2 for static pods: the end of each is proven by what its kubelet shows.
func staticEnds() []mutant {
	return []mutant{
		inStatic("a successor proves the end at once", "static_ends.go", "now.Sub(shown.RunningSince) >= r.Deadlines.OrReal().Settle", "now.Sub(shown.RunningSince) >= 0"),
		inStatic("a successor on a Node that is not Ready proves it", "static_ends.go", "node.Ready && process.BootID != \"\" &&", "process.BootID != \"\" &&"),
		inStatic("a successor in another boot proves it", "static_ends.go", "process.BootID != \"\" && node.BootID == process.BootID\n", "process.BootID != \"\"\n"),
		inStatic("a successor without a boot to compare proves it", "static_ends.go", "node.Ready && process.BootID != \"\" && node.BootID == process.BootID",
			"node.Ready && (process.BootID == \"\" || node.BootID == process.BootID)"),
		inStatic("a successor that does not run proves it", "static_ends.go", "shown != nil && !shown.RunningSince.IsZero() && ", "shown != nil && "),
		inStatic("the recorded container proves its own end", "static_ends.go", "shown.ContainerID != process.ContainerID &&", "true &&"),
		inStatic("a static pod of another name proves it", "static_ends.go", " && pods[i].PodName == process.PodName {", " {"),
		inStatic("a boot of another machine proves it", "static_ends.go",
			"		node.SystemUUID != \"\" && node.SystemUUID == process.SystemUUID\n", "		true\n"),
		inStatic("two machines without an identity are the same", "static_ends.go", "		process.SystemUUID != \"\" && process.SystemUUID == shown.SystemUUID",
			"		process.SystemUUID == shown.SystemUUID || true"),
		inStatic("a person may vouch for a pod that is there", "static_ends.go",
			"accepted && lost {", "accepted || accepted && lost {"),
		inStatic("a mirror pod that is being deleted has ended with its container", "static.go", "process.Ended = process.Ended && process.Finished\n", "\n"),
		inStatic("a Node that is not Ready can be looked at", "static.go", "case !l.nodes[name].Ready:", "case false:"),
		inStatic("a Node that shows nothing runs nothing", "static.go", "case !shown[name]:", "case false:"),
		inStatic("a labelled Node need not show anything", "static.go", "; labelled {", "; labelled && false {"),
		inStatic("a recorded Node need not show anything", "static.go", " && (exists || process.EndedAt == nil) {", " && exists && false {"),
		inStatic("every kubelet serializes", "static.go", "< serializingMinor:", "< 0:"),
		inStatic("a pod that is no static pod is overlooked", "static.go", "} else if !hasFinished(pod) {", "} else if false {"),
		inStatic("the end of one container is that of all", "ledger.go", "len(ends) > 0 && len(ends) == len(pod.Status.ContainerStatuses)", "len(ends) > 0"),
		inStatic("only the first page of pods is read", "static.go", "next = page.Continue; next == \"\" {", "next = page.Continue; true {"),
		inStatic("of Nodes that disagree, the silent one counts", "static.go", "!process.Arguments.Understood() || loops && len(loud) == 0", "!process.Arguments.Understood()"),
		inStatic("a Node that a person vouched for is not looked at when it is back", "static.go", "pod.Name) && !l.nodes[pod.Spec.NodeName].Ready", "pod.Name)"),
		inStatic("pods that are missing after the start are none", "static.go", "len(kcm.Pods) == 0 && cluster.Status.Handover == nil", "len(kcm.Pods) == 0"),
	}
}

// Rule 2 where somebody else changes KCM: nothing is taken for done that is not.
func instructed() []mutant {
	return []mutant{
		inTables("2 static", "Nodes that cannot be seen are no doubt", "silence.go", "proofItem(\"Nodes\", len(kcm.Unseen) > 0,", "proofItem(\"Nodes\", false,"),
		inTables("2 static", "processes are recorded although a Node cannot be seen", "handover.go",
			"	if unseen := controlPlane.KCM.Unseen; len(unseen) > 0 {", "	if unseen := controlPlane.KCM.Unseen; false {"),
		inTables("2 static", "a static pod with loops is silent when its record has ended", "silence.go",
			"ended[process.PodUID] && process.ConfigHash == \"\" ||", "ended[process.PodUID] ||"),
		inTables("2 static", "the Lease is not asked when one of the pods elects none", "silence.go",
			"return process.ConfigHash != \"\" && !process.Ended && process.Arguments.True(\"leader-elect\", true)", "return false"),
		inTables("2 static", "Nodes need not agree on what the CCM inherits", "instructions.go",
			"process.Arguments.Flags[name] == kcm.Arguments.Flags[name] {", "true {"),
		inTables("2 instruct", "we change what is not ours to change", "handover.go",
			"	if p.o.Cluster.Spec.ControlPlane.Instructed() {", "	if false {"),
		inTables("2 instruct", "we take the flags out of what is not ours to change", "control_plane_rows.go",
			"	if p.o.Cluster.Spec.ControlPlane.Instructed() {", "	if false {"),
		inTables("2 instruct", "the loops are off when one Node is missing", "instructions.go",
			"handover.LoopsOffAt == nil && len(kcm.Unseen) > 0:", "false:"),
		inTables("2 instruct", "a Node is done before its former process has ended", "instructions.go",
			"done := off && silent(t) && t.runs()", "done := off && (silent(t) || true) && t.runs()"),
		inTables("2 instruct", "a Node is done before it runs again", "instructions.go",
			"done := off && silent(t) && t.runs()", "done := off && silent(t)"),
		inTables("2 instruct", "the leader comes first", "instructions.go", "boolRank(a.leads)-boolRank(b.leads)", "boolRank(b.leads)-boolRank(a.leads)"),
		inTables("2 instruct", "a Cluster goes while one Node is changed", "instructions.go",
			"len(t.component.Arguments.CloudLoops()) == 0 })\n}", "false })\n}"),
		inTables("1 ends", "an administrator may stop half way for ever", "instructions.go", "		since = p.facts.Handover.ChangingSince\n", "		since = nil\n"),
	}
}
