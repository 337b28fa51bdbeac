package simtest

import (
	"slices"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// recasts says that the CCM is applied again with or without its loop cloud-node, which takes the steps back for a pass.
func recasts(w *World, d migration.Decision) bool {
	return d.Next() != nil && d.Next().AddonSet == outcome.CCMSet && w.CCM.CloudNode != w.CCM.WantsCloudNode()
}

// checkFlag: no Machine joins external before there is someone who initializes its Node.
func checkFlag(i *invariants, w *World, p pass) {
	change := p.Decision.Next().Arguments
	at := slices.IndexFunc(w.ControlPlane.Workloads, func(d *simulation.Workload) bool {
		return d.UID == change.Target.UID && d.Flag != ""
	})
	if at < 0 || w.rollingBack() || p.truth.initializing {
		return
	}
	if slices.ContainsFunc(
		change.Set,
		func(flag outcome.Flag) bool { return strings.Contains(flag.Name, "external-cloud-provider") },
	) &&
		w.Traits.CloudNodeLater {
		i.fail("rule 5: %s gets its flag while no CCM leads with its loop cloud-node", w.ControlPlane.Workloads[at].Name)
	}
}

// checkCloudNode: the loop is never taken from Nodes that need it.
func checkCloudNode(i *invariants, w *World, set outcome.AddonSetName) {
	if set == outcome.CCMSet && w.CCM.CloudNode && !w.CCM.WantsCloudNode() && !w.rollingBack() &&
		slices.ContainsFunc(w.Nodes.All, func(n *simulation.Node) bool { return n.External }) {
		i.fail("rule 5: the loop cloud-node is switched off beside external Nodes")
	}
}
