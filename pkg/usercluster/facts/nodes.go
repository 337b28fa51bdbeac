package facts

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// uninitializedTaint is on a Node until the CCM has initialized it.
// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/api/well_known_taints.go
const uninitializedTaint = "node.cloudprovider.kubernetes.io/uninitialized"

// Nodes reads all Nodes, with the CSI drivers that registered on them.
func (r *Reader) Nodes(ctx context.Context) observation.Observed[[]observation.Node] {
	return r.nodes.Read(ctx, r.clock.Now(), r.watches.Mark(nodes(), csiNodes()), func() observation.Observed[[]observation.Node] {
		return r.readNodes(ctx)
	})
}

// drivers that registered, by Node.
func (r *Reader) drivers(ctx context.Context) observation.Observed[map[string][]string] {
	return r.registered.Read(ctx, r.clock.Now(), r.watches.Mark(csiNodes()), func() observation.Observed[map[string][]string] {
		found, empty := map[string][]string{}, func() *storagev1.CSINodeList { return &storagev1.CSINodeList{} }
		err := reads.List(ctx, r.client, empty, func(page *storagev1.CSINodeList) {
			for _, item := range page.Items {
				found[reads.Keep(ctx, item.Name)] = reads.Keep(ctx, driversOf(item))
			}
		})
		if err != nil {
			return observation.Unknown[map[string][]string](reads.Because("listing CSINodes", err))
		}
		return observation.Known(found)
	})
}

func (r *Reader) readNodes(ctx context.Context) observation.Observed[[]observation.Node] {
	drivers := r.drivers(ctx)
	registered, known := drivers.Get()
	if !known {
		return observation.Unknown[[]observation.Node](drivers.Why())
	}
	result, kubelets := []observation.Node{}, r.kubelets.begin(r.clock.Now())
	err := reads.List(ctx, r.client, func() *corev1.NodeList { return &corev1.NodeList{} }, func(page *corev1.NodeList) {
		kubelets.add(page.Items)
		for i := range page.Items {
			result = append(result, reads.Keep(ctx, toNode(&page.Items[i], registered[page.Items[i].Name])))
		}
	})
	if err != nil {
		return observation.Unknown[[]observation.Node](reads.Because("listing Nodes", err))
	}
	r.lookAtKubelets(ctx, kubelets)
	for i := range result {
		result[i].Kubelet = r.kubelets.of(types.UID(result[i].UID))
	}
	slices.SortFunc(result, func(a, b observation.Node) int { return strings.Compare(a.Name, b.Name) })
	return observation.Known(result)
}

func driversOf(node storagev1.CSINode) []string {
	var names []string
	for _, driver := range node.Spec.Drivers {
		names = append(names, driver.Name)
	}
	slices.Sort(names)
	return names
}

func toNode(node *corev1.Node, drivers []string) observation.Node {
	ready := corev1.NodeCondition{}
	if at := slices.IndexFunc(
		node.Status.Conditions,
		func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady },
	); at >= 0 {
		ready = node.Status.Conditions[at]
	}
	return observation.Node{
		Name:           node.Name,
		UID:            string(node.UID),
		ProviderID:     node.Spec.ProviderID,
		Ready:          ready.Status == corev1.ConditionTrue,
		ReadyChangedAt: ready.LastTransitionTime.Time,
		Uninitialized:  isUninitialized(node),
		CreatedAt:      node.CreationTimestamp.Time,
		CSIDrivers:     drivers,
		Addresses:      addressesOf(node),
		Labels:         node.Labels,
		PodCIDRs:       podCIDRsOf(node),
		Routed:         slices.ContainsFunc(node.Status.Conditions, isRoute),
	}
}

func isUninitialized(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == uninitializedTaint })
}

func addressesOf(node *corev1.Node) []string {
	var addresses []string
	for _, address := range node.Status.Addresses {
		addresses = append(addresses, string(address.Type)+" "+address.Address)
	}
	slices.Sort(addresses)
	return addresses
}

// isRoute tells the condition of the route loop from that of a network plugin, which has the same type.
// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/controllers/route/route_controller.go (updateNetworkingCondition)
func isRoute(c corev1.NodeCondition) bool {
	return c.Type == corev1.NodeNetworkUnavailable && c.Status == corev1.ConditionFalse && c.Reason == "RouteCreated"
}

func podCIDRsOf(node *corev1.Node) []string {
	if len(node.Spec.PodCIDRs) == 0 && node.Spec.PodCIDR != "" {
		return []string{node.Spec.PodCIDR}
	}
	return node.Spec.PodCIDRs
}
