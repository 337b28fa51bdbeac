package main

// Rule 5: no Machine joins external before its Node would be initialized, nor while kubelets and CCM write addresses in turn.
func addresses() []mutant {
	const rule, file = "5 cloud-node", "cloud_node.go"
	return []mutant{
		in(rule, "the flags of the machine-controller come first", "control_plane_rows.go",
			"if out := p.cloudNode(); !out.holds {", "if out := p.cloudNode(); false && !out.holds {"),
		in(rule, "the process without the loop counts", file, "p.o.CCMLease.Value().Holder == p.facts.CloudNode.LedBy", "p.facts.CloudNode.LedBy == \"\""),
		in(rule, "a CCM that is rolling out counts", file, "case len(addons.CCM.Unhealthy) > 0:", "case len(addons.CCM.Unhealthy) > 9:"),
		in(rule, "addresses are not compared", file, "!there || slices.Equal(before.Addresses, after.Addresses)", "there"),
		in(rule, "addresses are compared for a moment only", file,
			"now.Add(p.o.Deadlines.Addresses + time.Duration(nodes)*p.o.Deadlines.AddressesOfNode).Truncate(time.Second)", "now.Truncate(time.Second)"),
		in(rule, "the loop is tried again with the same configuration", file, "state.Judged == p.cloudNodeInputs()", "false"),
		in(rule, "the loop is switched off although Machines may be external", file,
			"state.ComparedUntil != nil && !p.now.Before(state.ComparedUntil.Time)", "false"),
		in(rule, "the CCM has the loop from the start", file, "!provider.CloudNodeLater || facts.Origin != ucv1.OriginMigrating", "provider.CloudNodeLater || facts.Origin != \"\""),
	}
}
