package preflight

import "github.com/ccm-migration/ccm-migration-controller/pkg/observation"

func firstNode(change func(*observation.Node)) func(*Facts) {
	return func(o *Facts) { editFirst(&o.Nodes, change) }
}

func firstDetail(change func(*NodeDetail)) func(*Facts) {
	return func(o *Facts) { editFirst(&o.NodeDetails, change) }
}

func noNodesSeen(o *Facts)   { blind(&o.Nodes) }
func noDetailsSeen(o *Facts) { blind(&o.NodeDetails) }
func minor29(o *Facts)       { o.Cluster.Spec.Version = "1.29.1" }

func nodeStories() map[string]story {
	n1 := []string{"Node n1"}
	return map[string]story{
		"a Node is not Ready": {
			id:       "NodeNotReady",
			wrong:    firstNode(func(n *observation.Node) { n.Ready = false }),
			severity: observation.Blocking,
			objects:  n1,
			says:     "deleted by the CCM's lifecycle loop",
			without:  noNodesSeen,
		},
		"a Node has no providerID": {
			id:       "NodeProviderIDMissing",
			wrong:    firstNode(func(n *observation.Node) { n.ProviderID = "" }),
			severity: observation.Blocking,
			objects:  n1,
			says:     "by its name",
			without:  noNodesSeen,
		},
		"the machine-controller gave a providerID": {
			id:    "NodeProviderIDForeign",
			given: firstNode(func(n *observation.Node) { n.ProviderID = "openstack://region/x" }),
			wrong: firstNode(
				func(n *observation.Node) { n.ProviderID = "kubermatic://openstack/uid" },
			),
			severity: observation.Blocking,
			objects:  n1,
			says:     "cannot be changed any more",
			without:  func(o *Facts) { blind(&o.Provider) },
		},
		"two Nodes are one machine": {
			id:       "NodeProviderIDShared",
			wrong:    firstNode(func(n *observation.Node) { n.ProviderID = nodeID("2") }),
			severity: observation.Blocking,
			objects:  []string{"Node n1", "Node n2"},
			says:     "share a providerID",
			without:  noNodesSeen,
		},
		"a Node waits for a CCM": {
			id:       "NodeUninitialized",
			wrong:    firstNode(func(n *observation.Node) { n.Uninitialized = true }),
			severity: observation.Warning,
			objects:  n1,
			says:     "uninitialized",
			without:  noNodesSeen,
		},
		"there is one Node": {
			id:       "NodeSingle",
			wrong:    func(o *Facts) { o.Nodes = observation.Known(o.Nodes.Value()[:1]) },
			severity: observation.Warning,
			objects:  n1,
			says:     "until the CCM has started",
			without:  noNodesSeen,
		},
		"there is no Node": {
			id: "NodesNone", wrong: func(o *Facts) { o.Nodes = observation.Known[[]observation.Node](nil) }, severity: observation.Info,
			says: "no Node", without: noNodesSeen,
		},
	}
}

func nodeNameStories() map[string]story {
	n1 := []string{"Node n1"}
	return map[string]story{
		"a providerID has another form": {
			id: "NodeProviderIDMalformed", given: firstNode(func(n *observation.Node) {
				n.ProviderID = "openstack://region/" +
					nodeID("1")[13:]
			}),
			wrong: firstNode(func(n *observation.Node) { n.ProviderID = "openstack:///a/n1" }), severity: observation.Warning, objects: n1,
			says: "does not understand", without: noNodesSeen,
		},
		"a Node has another name than its host": {
			id:       "NodeNameDiffers",
			wrong:    firstDetail(func(n *NodeDetail) { n.Labels = map[string]string{"kubernetes.io/hostname": "other"} }),
			severity: observation.Warning,
			objects:  n1,
			says:     "hostname",
			without:  noDetailsSeen,
		},
		"a kubelet asks for an address": {
			id:       "NodeIPSet",
			given:    minor29,
			wrong:    firstDetail(func(n *NodeDetail) { n.NodeIP = "10.1.0.1" }),
			severity: observation.Warning,
			objects:  n1,
			says:     "--node-ip",
			without:  noDetailsSeen,
		},
		"kubelets do not guess addresses any more": {id: "NodeAddressesLate", wrong: minor29, severity: observation.Info, says: "1.29"},
		"a Node has two internal addresses": {
			id:    "NodeAddressesMany",
			given: firstNode(func(n *observation.Node) { n.Addresses = []string{"ExternalIP 1", "InternalIP 2"} }),
			wrong: firstNode(
				func(n *observation.Node) { n.Addresses = []string{"InternalIP 1", "InternalIP 2"} },
			),
			severity: observation.Info,
			objects:  n1,
			says:     "several",
			without:  noNodesSeen,
		},
	}
}
