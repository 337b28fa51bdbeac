package main

// Rule 5: no Machine joins external before its Node would be initialized, nor while kubelets and CCM write
// addresses in turn.
func addresses() []mutant {
	const rule = "5 cloud-node"
	return []mutant{
		in(rule, "the flags of the machine-controller come first", "machineController", never("CloudNode")),
		in(rule, "the process without the loop counts",
			"loops.cloudNodeServes", judged("CCMLease", `in.Facts.CloudNode.LedBy == ""`)),
		in(rule, "a CCM that is rolling out counts", "loops.cloudNodeServes", never("Unhealthy")),
		ofBaseline(rule, "addresses are not compared", "AddressChanges", always("Addresses")),
		in(rule, "addresses are compared for a moment only",
			"loops.cloudNodeLeads", instead("Truncate", "now.Truncate(time.Second)")),
		in(rule, "the loop is tried again with the same configuration", "loops.CloudNode", without("Judged")),
		in(rule, "the loop is switched off although Machines may be external",
			"loops.CloudNode", never("cloudNodeCompared")),
		in(rule, "who was away while addresses are compared does not look", "loops.CloudNode", without("FlagsBegun")),
		in(rule, "the machine-controller gets its flags while the CCM does not lead", "setFlag", never("CCMCanServe")),
		in(rule, "the CCM has the loop from the start", "loops.WithholdsCloudNode", always("CloudNodeLater")),
	}
}
