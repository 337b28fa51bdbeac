package preflight

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func nodeChecks() []check {
	return []check{
		{
			id: "NodeNotReady", severity: observation.Blocking,
			means: "A Node is not Ready: the lifecycle loop deletes such a Node when the cloud does not know it, and the migration " +
				"waits for it before KCM is changed.",
			unseen: unseenNodes, find: notReady,
		},
		{
			id: "NodeProviderIDMissing", severity: observation.Blocking,
			means:  "A Node has no providerID: the CCM looks it up by its name, and deletes it when it is NotReady and not found.",
			unseen: unseenNodes, find: withoutProviderID,
		},
		{
			id: "NodeProviderIDForeign", severity: observation.Blocking,
			means:  "A Node's providerID is not of the provider: it can never be changed, and no CCM takes care of the Node.",
			unseen: func(o Facts) string { return cmp.Or(unseenNodes(o), unseen("the catalogue", o.Provider)) }, find: foreignProviderIDs,
		},
		{
			id: "NodeProviderIDShared", severity: observation.Blocking,
			means:  "Two Nodes have one providerID: a machine that got another name. The CCM takes them for one.",
			unseen: unseenNodes, find: sharedProviderIDs,
		},
		{
			id: "NodeUninitialized", severity: observation.Warning,
			means: "A Node already carries the taint that waits for a CCM: it is initialized as soon as the CCM leads, with other " +
				"addresses and labels.",
			unseen: unseenNodes, find: uninitialized,
		},
		{
			id: "NodeSingle", severity: observation.Warning,
			means:  "Only one Node can run the CCM: while it is replaced, the cloud loops run nowhere until a pod has moved.",
			unseen: unseenNodes, find: singleNode,
		},
		{
			id: "NodesNone", severity: observation.Info,
			means:  "There is no Node: nothing can be proven on one, and what is applied waits for the first.",
			unseen: unseenNodes, find: noNodes,
		},
	}
}

func nodeName(node observation.Node) observation.Ref { return node.Reference() }

func notReady(o Facts, _ time.Time) []observation.Finding {
	return about(chosen(o.Nodes.Value(), nodeName, func(n observation.Node) bool { return !n.Ready }),
		"A Node that is not Ready is deleted by the CCM's lifecycle loop when the cloud does not find it; the migration waits for "+
			"it before it changes "+
			"KCM, even when this is accepted",
		"Make it Ready, or delete its Machine; a Node without a machine behind it can be deleted.")
}

func withoutProviderID(o Facts, _ time.Time) []observation.Finding {
	return about(chosen(o.Nodes.Value(), nodeName, func(n observation.Node) bool { return n.ProviderID == "" }),
		"Without a providerID the CCM looks a Node up by its name: it is no member of load balancers where the provider needs the "+
			"ID, and is deleted when it "+
			"is NotReady and not found",
		"Replace it by a new Machine, or set spec.providerID as the cloud names the machine.")
}

// foreignProviderIDs compares the scheme only: a region may stand where others have nothing.
func foreignProviderIDs(o Facts, _ time.Time) []observation.Finding {
	prefix := o.Provider.Value().ProviderIDPrefix
	scheme, _, _ := strings.Cut(prefix, "://")
	if scheme == "" {
		return nil
	}
	return about(chosen(o.Nodes.Value(), nodeName, func(n observation.Node) bool {
		return n.ProviderID != "" && !strings.HasPrefix(n.ProviderID, scheme+"://")
	}), "The providerID is not of the form "+prefix+"…, cannot be changed any more, and the CCM does not know such a Node (a "+
		"machine-controller gives "+
		"kubermatic:// ones where no provider gave one)",
		"Replace the Node by a new Machine; a Node of another kind can be accepted, and keeps its providerID.")
}

func sharedProviderIDs(o Facts, _ time.Time) []observation.Finding {
	names := map[string][]observation.Ref{}
	for _, node := range o.Nodes.Value() {
		if node.ProviderID != "" {
			names[node.ProviderID] = append(names[node.ProviderID], nodeName(node))
		}
	}
	var shared []observation.Ref
	for _, nodes := range names {
		if len(nodes) > 1 {
			shared = append(shared, nodes...)
		}
	}
	return about(shared, "Nodes share a providerID, so one of them has no machine behind it", "Delete the Node that its kubelet "+
		"does not renew any more.")
}

func uninitialized(o Facts, _ time.Time) []observation.Finding {
	return about(chosen(o.Nodes.Value(), nodeName, func(n observation.Node) bool { return n.Uninitialized }),
		"The taint node.cloudprovider.kubernetes.io/uninitialized keeps pods away until the CCM leads, which then writes addresses "+
			"and labels again; step Verify asks "+
			"about those of a Node that is not replaced",
		"Look who set it: a kubelet with --cloud-provider=external, or a person; what changes is accepted in "+
			"spec.rollout.acceptChanges.")
}

// singleNode: the roll lets the Node that the CCM leads on go last, which is no help where there is no other.
func singleNode(o Facts, _ time.Time) []observation.Finding {
	nodes := o.Nodes.Value()
	if len(nodes) != 1 || o.Cluster.CCMInControlPlane() {
		return nil
	}
	return about([]observation.Ref{nodeName(nodes[0])},
		"No other Node can run the CCM: when this one is replaced, no manager runs the cloud loops until the CCM has started on the "+
			"new one",
		"Add a second Node before the migration where load balancers and routes must not wait.")
}

func noNodes(o Facts, _ time.Time) []observation.Finding {
	if len(o.Nodes.Value()) > 0 {
		return nil
	}
	return []observation.Finding{{Message: "The cluster has no Node: the addons are applied, and proven when there is one."}}
}

func nodeNameChecks() []check {
	return []check{
		{
			id:       "NodeProviderIDMalformed",
			severity: observation.Warning,
			means:    "A providerID is of the provider but not in the form that its CCM reads.",
			unseen:   func(o Facts) string { return cmp.Or(unseenNodes(o), unseen("the catalogue", o.Provider)) },
			find:     malformedProviderIDs,
		},
		{
			id: "NodeNameDiffers", severity: observation.Warning,
			means: "A Node's name is not its hostname: the in-tree provider gave it, and a kubelet with --cloud-provider=external " +
				"registers with the hostname.",
			unseen: unseenDetails, find: otherNames,
		},
		{
			id: "NodeIPSet", severity: observation.Warning,
			means: "Kubelets ask for an address by --node-ip: the CCM takes all other addresses from the Node, and fails when the " +
				"cloud does not report that one.",
			unseen: unseenDetails, find: nodeIPs,
		},
		{
			id: "NodeAddressesLate", severity: observation.Info,
			means: "From Kubernetes 1.29 on, a new Node has no address until the CCM gives it one: pods with hostNetwork start without " +
				"hostIP.",
			unseen: func(Facts) string { return "" }, find: addressesLate,
		},
		{
			id: "NodeAddressesMany", severity: observation.Info,
			means:  "A Node has several addresses of one type: the CCM may order them otherwise than the in-tree kubelet did.",
			unseen: unseenNodes, find: manyAddresses,
		},
	}
}

func malformedProviderIDs(o Facts, _ time.Time) []observation.Finding {
	scheme, _, _ := strings.Cut(o.Provider.Value().ProviderIDPrefix, "://")
	if scheme == "" {
		return nil
	}
	form := regexp.MustCompile(o.Provider.Value().ProviderIDForm)
	return about(chosen(o.Nodes.Value(), nodeName, func(n observation.Node) bool {
		return strings.HasPrefix(n.ProviderID, scheme+"://") && !form.MatchString(n.ProviderID)
	}), "The CCM does not understand the providerID, so it cannot ask the cloud for the machine",
		"Replace the Node by a new Machine.")
}

// otherNames: the kubelet keeps the hostname in the label whatever the Node is called.
// https://github.com/kubernetes/kubernetes/blob/v1.25.16/pkg/kubelet/kubelet_node_status.go#L291
func otherNames(o Facts, _ time.Time) []observation.Finding {
	return about(chosen(o.NodeDetails.Value(), detailName, func(n NodeDetail) bool {
		hostname := n.Labels["kubernetes.io/hostname"]
		return hostname != "" && hostname != n.Name
	}), "The in-tree provider named the Node otherwise than its hostname, which a kubelet with an external provider registers with",
		"Make sure that new machines get as hostname what the cloud calls them; for --hostname-override see the provider's CCM.")
}

func detailName(node NodeDetail) observation.Ref { return observation.NodeRef(node.Name) }

func nodeIPs(o Facts, _ time.Time) []observation.Finding {
	if o.minor() < 29 {
		return nil
	}
	return about(chosen(o.NodeDetails.Value(), detailName, func(n NodeDetail) bool {
		return n.NodeIP != "" && n.NodeIP != "0.0.0.0" && n.NodeIP != "::"
	}), "Their kubelets have --node-ip: with a CCM the Node keeps that address only, and is not initialized when the cloud does "+
		"not report it",
		"Compare --node-ip with the addresses that the cloud reports; leave it out of the configuration of new machines where it is "+
			"not needed.")
}

func addressesLate(o Facts, _ time.Time) []observation.Finding {
	if o.minor() < 29 {
		return nil
	}
	return []observation.Finding{{
		Message: "New Nodes have no address until the CCM initializes them, as kubelets from 1.29 on do not guess one.",
		Action:  "Where pods of the host network need one earlier, give kubelets --node-ip=0.0.0.0 or --node-ip=::.",
	}}
}

func manyAddresses(o Facts, _ time.Time) []observation.Finding {
	return about(chosen(o.Nodes.Value(), nodeName, func(n observation.Node) bool {
		types := []string{}
		for _, address := range n.Addresses {
			kind, _, _ := strings.Cut(address, " ")
			if kind == "InternalIP" && slices.Contains(types, kind) {
				return true
			}
			types = append(types, kind)
		}
		return false
	}), "They have several internal addresses, which the CCM may order otherwise", "See the settings of networks in the "+
		"provider's cloud configuration.")
}
