package simulation

import (
	"slices"
	"strings"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// addressPeriod is how often the loop cloud-node writes addresses, kubeletPeriod how often a kubelet does, in ticks.
const (
	addressPeriod = 5 * time.Minute
	kubeletPeriod = 10
)

func (ccm *CCM) wantsCloudNode() bool {
	return !ccm.w.needs().WithholdCloudNode
}

// writeAddresses is what the loop cloud-node does with Nodes that are initialized: when it starts, and every five minutes.
func (ccm *CCM) writeAddresses(leader *process) {
	if !ccm.otherAddresses || (!leader.wroteAt.IsZero() && ccm.w.now.Sub(leader.wroteAt) < addressPeriod) {
		return
	}
	leader.wroteAt = ccm.w.now
	for _, n := range ccm.w.nodes.all {
		n.rewritten = n.rewritten || !n.tainted
	}
	ccm.w.say("ccm: writes addresses of Nodes")
}

// reportAddresses is a kubelet of the in-tree provider, which writes its own back; each at another moment.
func (ns *Nodes) reportAddresses(at int, n *node) {
	if !n.external && (ns.w.ticks()+at)%kubeletPeriod == 0 {
		n.rewritten = false
	}
}

func (n *node) addresses() []string {
	if n.seen != nil {
		return n.seen.Addresses
	}
	if n.rewritten {
		return []string{"ExternalIP 192.0.2.100"}
	}
	return []string{"InternalIP 10.0.0.1"}
}

// recasts says that the CCM is applied again with or without its loop cloud-node, which takes the steps back for a pass.
func recasts(w *World, d migration.Decision) bool {
	return d.Action != nil && d.Action.AddonSet == outcome.CCMSet && w.ccm.cloudNode != w.ccm.wantsCloudNode()
}

// checkFlag: no Machine joins external before there is someone who initializes its Node.
func (i *invariants) checkFlag(w *World, p pass) {
	change := p.decision.Action.Arguments
	at := slices.IndexFunc(w.controlPlane.workloads, func(d *workload) bool { return d.uid == change.Target.UID && d.flag != "" })
	if at < 0 || w.undoing() || p.truth.initializing {
		return
	}
	if slices.ContainsFunc(
		change.Set,
		func(flag outcome.Flag) bool { return strings.Contains(flag.Name, "external-cloud-provider") },
	) &&
		w.traits.CloudNodeLater {
		i.fail("rule 5: %s gets its flag while no CCM leads with its loop cloud-node", w.controlPlane.workloads[at].name)
	}
}

// checkCloudNode: the loop is never taken from Nodes that need it.
func (i *invariants) checkCloudNode(w *World, set outcome.AddonSetName) {
	if set == outcome.CCMSet && w.ccm.cloudNode && !w.ccm.wantsCloudNode() && !w.undoing() &&
		slices.ContainsFunc(w.nodes.all, func(n *node) bool { return n.external }) {
		i.fail("rule 5: the loop cloud-node is switched off beside external Nodes")
	}
}
