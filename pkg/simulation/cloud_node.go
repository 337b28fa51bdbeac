package simulation

import "time"

// addressPeriod is how often the loop cloud-node writes addresses, kubeletPeriod how often a kubelet does, in ticks.
const (
	addressPeriod = 5 * time.Minute
	kubeletPeriod = 10
)

// WantsCloudNode says that the CCM is to be applied with its loop cloud-node.
func (ccm *CCM) WantsCloudNode() bool {
	return !ccm.w.needs().WithholdCloudNode
}

// writeAddresses is what the loop cloud-node does with Nodes that are initialized: when it starts, and every five minutes.
func (ccm *CCM) writeAddresses(leader *Process) {
	if !ccm.OtherAddresses || (!leader.wroteAt.IsZero() && ccm.w.Now.Sub(leader.wroteAt) < addressPeriod) {
		return
	}
	leader.wroteAt = ccm.w.Now
	for _, n := range ccm.w.Nodes.All {
		n.rewritten = n.rewritten || !n.Tainted
	}
	ccm.w.Say("ccm: writes addresses of Nodes")
}

// reportAddresses is a kubelet of the in-tree provider, which writes its own back; each at another moment.
func (ns *Nodes) reportAddresses(at int, n *Node) {
	if !n.External && (ns.w.Ticks()+at)%kubeletPeriod == 0 {
		n.rewritten = false
	}
}

func (n *Node) addresses() []string {
	if n.seen != nil {
		return n.seen.Addresses
	}
	if n.rewritten {
		return []string{"ExternalIP 192.0.2.100"}
	}
	return []string{"InternalIP 10.0.0.1"}
}
