package main

// Rule 2 where a CCM is not ours: whoever installed it, nothing but our own Lease keeps it apart. And nothing of somebody else's
// is overwritten that a person could not read before.
func others() []mutant {
	elsewhere := func(rule, name, pkg, file, old, changed string) mutant {
		return mutant{rule: rule, name: name, file: pkg + "/" + file, old: old, new: changed, packages: []string{pkg}}
	}
	return []mutant{
		in("2 others", "another CCM is no obstacle to the start", "inputs.go", "others, unseen := p.checkOtherManagers()", "others, unseen := (*Finding)(nil), \"\""),
		in("2 others", "KCM is touched beside another CCM", "handover.go", "func() outcome { return p.alone(byFence) }, p.nodesReady", "p.nodesReady"),
		in("2 others", "the fence is opened beside another CCM", "handover.go",
			"	if out := p.alone(byLease); !out.holds {\n\t\treturn out\n\t}\n\tif out := p.nodesReady(); !out.holds {\n\t\treturn out\n\t}\n\tif p.o.CCMLease",
			"	if out := p.nodesReady(); !out.holds {\n\t\treturn out\n\t}\n\tif p.o.CCMLease"),
		in("2 others", "a fence that somebody closed is opened beside another CCM", "addons.go", "	if out := p.alone(byLease); !out.holds {", "	if out := p.alone(byLease); false {"),
		in("2 others", "the workload is allowed beside another CCM", "protocol.go", "	if out := p.alone(byLease); !out.holds {", "	if out := p.alone(byLease); false {"),
		in("2 others", "the guard does not look for another CCM", "handover.go", "	out = p.aloneStill(out)\n", ""),
		in("2 others", "KCM gets its loops back beside another CCM", "undo_rows.go", "if out := p.alone(byFence); !out.holds {", "if out := p.alone(byFence); false {"),
		in("2 others", "a CCM without leader election is held by our Lease", "other_managers.go", " && m.Arguments.True(\"leader-elect\", true)", ""),
		in("2 others", "a CCM with a Lease of its own is held by ours", "other_managers.go", " || m.lease() != fence.Lease || p.locks() {", " || p.locks() {"),
		in("2 others", "our fence binds every identity", "other_managers.go", "m.Identity == fence.Identity && ", ""),
		in("2 others", "a CCM without the migration lock is held by it", "other_managers.go", "m.lease() != fence.Lease || p.locks() {", "m.lease() != fence.Lease {"),
		in("3 unknown", "other CCMs that cannot be looked for are none", "other_managers.go", "	case p.o.OtherManagers.IsUnknown():", "	case false:"),
		in("3 unknown", "nobody could look, and the fence is opened", "other_managers.go", "	if why := p.unseenManagers(); why != \"\" {", "	if why := p.unseenManagers(); why == \"-\" {"),
		in("3 unknown", "a fence that cannot be looked at binds nobody", "other_managers.go", "len(p.o.OtherManagers.Value()) > 0 && p.o.Fence.IsUnknown():", "false:"),
		elsewhere("2 others", "pods that no workload answers for are not looked at", "pkg/usercluster", "other_managers.go", "look.statefulSets, look.pods}", "look.statefulSets}"),
		elsewhere("2 others", "a pod belongs to a workload that is gone", "pkg/usercluster", "other_managers.go", "if !l.answered[owner] && ", "if owner == (migration.Ref{}) && "),
		elsewhere("2 others", "what was found is remembered", "pkg/usercluster", "other_managers.go", "	if !slices.ContainsFunc(look.found,", "	if true || !slices.ContainsFunc(look.found,"),
		elsewhere("2 others", "a mirror hides a CCM", "pkg/provider", "managers.go", "manifest.ImageName(container.Image), executable(container)", "imageOf(container).Repository, executable(container)"),
		in("adoption", "the plan of an adoption is not written first", "adoption.go", "	return p.planned(name, set)\n", "	return holds(ucv1.HoldsReason, \"\")\n"),
		in("adoption", "a plan is carried out before a person could read it", "adoption.go", "wait > 0 && !gap {", "wait < 0 && !gap {"),
		in("adoption", "another plan is carried out than the one that was written", "adoption.go", "slices.ContainsFunc(set.changes(many), missing)", "false && slices.ContainsFunc(set.changes(many), missing)"),
		in("adoption", "what the API server refuses is tried", "adoption.go", "	if len(refused) > 0 {", "	if false {"),
		elsewhere("adoption", "a plan shows what is in a Secret", "pkg/usercluster", "adoption.go", "	if confidential(kind, path) {", "	if false {"),
	}
}
