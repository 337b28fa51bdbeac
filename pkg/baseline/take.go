package baseline

import (
	"slices"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// mostWhole is the number of Nodes, or of load balancers, up to which all their labels and annotations are kept: beyond it only
// those of the cloud, because the Secret of a baseline has a bound.
const mostWhole = 2000

// WithNodes completes an inventory by what is known of the Nodes and their Machines.
func WithNodes(
	inventory observation.Observed[observation.Inventory],
	nodes observation.Observed[[]observation.Node],
	machines observation.Observed[observation.Machines],
) observation.Observed[observation.Inventory] {
	made, known := inventory.Get()
	if !known {
		return inventory
	}
	seen, known := nodes.Get()
	switch {
	case !known:
		return observation.Unknown[observation.Inventory](nodes.Why())
	case machines.IsUnknown():
		return observation.Unknown[observation.Inventory](machines.Why())
	}
	machineOf := map[string]string{}
	for _, machine := range machines.Value().Machines {
		machineOf[machine.NodeName] = machine.UID
	}
	made.Version, made.Nodes, made.Routes = observation.InventoryVersion, make([]observation.NodeRecord, 0, len(seen)), 0
	for _, node := range seen {
		record := observation.NodeRecord{Name: node.Name, UID: node.UID, Addresses: node.Addresses, ProviderID: node.ProviderID,
			Labels: node.Labels, PodCIDRs: node.PodCIDRs, Routed: node.Routed, Machine: machineOf[node.Name]}
		if len(seen) > mostWhole {
			record.Labels = only(node.Labels, isCloudLabel)
		}
		if node.Routed {
			made.Routes++
		}
		made.Nodes = append(made.Nodes, record)
	}
	if len(made.LoadBalancers) > mostWhole {
		made.LoadBalancers = slices.Clone(made.LoadBalancers)
		for at, balancer := range made.LoadBalancers {
			made.LoadBalancers[at].Annotations = only(balancer.Annotations, isBalancerAnnotation)
		}
	}
	return observation.Known(made)
}

func only(from map[string]string, wanted func(string) bool) map[string]string {
	kept := map[string]string{}
	for key, value := range from {
		if wanted(key) {
			kept[key] = value
		}
	}
	return kept
}

// isCloudLabel: these are the labels that the CCM's loop cloud-node writes.
// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/controllers/node/node_controller.go
// (getNodeModifiersFromCloudProvider).
func isCloudLabel(key string) bool {
	switch key {
	case "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "node.kubernetes.io/instance-type",
		"failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region", "beta.kubernetes.io/instance-type":
		return true
	}
	return false
}

// isBalancerAnnotation: by such keys a provider is told what load balancer to make, as in
// service.beta.kubernetes.io/aws-load-balancer-type and loadbalancer.openstack.org/flavor-id.
func isBalancerAnnotation(key string) bool {
	return strings.Contains(strings.ReplaceAll(strings.ToLower(key), "-", ""), "loadbalancer")
}
