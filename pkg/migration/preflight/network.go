package preflight

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func networkChecks() []check {
	both := func(o Facts) string { return cmp.Or(unseenControlPlane(o), unseenDetails(o)) }
	return []check{
		{
			id: "CIDRAllocator", severity: observation.Blocking,
			means: "KCM lets the cloud allocate the Nodes' pod CIDRs: without an in-tree provider it exits, and two allocators give " +
				"one range twice.",
			unseen: unseenControlPlane, find: allocator,
		},
		{
			id: "ClusterCIDRMissing", severity: observation.Blocking,
			means:  "KCM makes routes and has no --cluster-cidr: the CCM could not tell which routes are the cluster's.",
			unseen: unseenControlPlane, find: clusterCIDRMissing,
		},
		{
			id: "PodCIDROverlap", severity: observation.Blocking,
			means:  "Two Nodes have overlapping pod CIDRs: two allocators are at work, or one started again.",
			unseen: unseenDetails, find: overlaps,
		},
		{
			id: "PodCIDROutside", severity: observation.Warning,
			means:  "A Node's pod CIDR is outside of --cluster-cidr: the CCM does not count its route among the cluster's.",
			unseen: both, find: outside,
		},
		{
			id: "PodCIDRMissing", severity: observation.Warning,
			means:  "KCM allocates pod CIDRs and a Node has none.",
			unseen: both, find: cidrMissing,
		},
		{
			id: "NetworkUnavailable", severity: observation.Blocking,
			means:  "A Node's network is not available: its route is missing already, and the CCM would be blamed for it.",
			unseen: unseenDetails, find: networkUnavailable,
		},
		{
			id: "RoutesUnknown", severity: observation.Warning,
			means: "The CCM deletes every route inside of --cluster-cidr that belongs to no Node; which ones there are, only the cloud " +
				"can tell.",
			unseen: func(o Facts) string {
				if o.ControlPlane.IsKnown() && !o.runsRoutes() {
					return ""
				}
				return cmp.Or(unseenControlPlane(o), "the routes in the cloud: those inside of --cluster-cidr "+
					o.ControlPlane.Value().KCM.Arguments.Flags["cluster-cidr"]+" that belong to no Node are deleted by the CCM; list them there")
			}, find: func(Facts, time.Time) []observation.Finding { return nil },
		},
	}
}

// allocator: only RangeAllocator works without a cloud provider in KCM.
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/cmd/kube-controller-manager/app/core.go
func allocator(o Facts, _ time.Time) []observation.Finding {
	kcm := o.ControlPlane.Value().KCM
	kind := kcm.Arguments.Flags["cidr-allocator-type"]
	if !kcm.Arguments.True("allocate-node-cidrs", false) || kind == "" || kind == "RangeAllocator" {
		return nil
	}
	return about([]observation.Ref{kcm.Ref}, "It runs with --cidr-allocator-type="+kind+", which needs the in-tree provider",
		"Let KCM allocate with RangeAllocator, or let the CCM do it and set --allocate-node-cidrs=false.")
}

func clusterCIDRMissing(o Facts, _ time.Time) []observation.Finding {
	kcm := o.ControlPlane.Value().KCM
	if !o.runsRoutes() || kcm.Arguments.Flags["cluster-cidr"] != "" {
		return nil
	}
	return about([]observation.Ref{kcm.Ref}, "It makes routes without --cluster-cidr, and the CCM needs that to know its own",
		"Set --cluster-cidr, or --configure-cloud-routes=false where the network plugin makes no use of routes.")
}

func prefixes(values []string) []netip.Prefix {
	var list []netip.Prefix
	for _, value := range values {
		if prefix, err := netip.ParsePrefix(strings.TrimSpace(value)); err == nil {
			list = append(list, prefix.Masked())
		}
	}
	return list
}

// overlaps sorts by address, so that only neighbours have to be compared: a range that begins within the one before overlaps it.
func overlaps(o Facts, _ time.Time) []observation.Finding {
	type owned struct {
		prefix netip.Prefix
		node   observation.Ref
	}
	var all []owned
	for _, node := range o.NodeDetails.Value() {
		for _, prefix := range prefixes(node.PodCIDRs) {
			all = append(all, owned{prefix, detailName(node)})
		}
	}
	slices.SortFunc(all, func(a, b owned) int {
		return cmp.Or(
			a.prefix.Addr().Compare(b.prefix.Addr()),
			cmp.Compare(a.prefix.Bits(), b.prefix.Bits()),
			cmp.Compare(a.node.Name, b.node.Name),
		)
	})
	var nodes []observation.Ref
	for i := 1; i < len(all); i++ {
		widest := all[i-1]
		if widest.prefix.Overlaps(all[i].prefix) && widest.node != all[i].node {
			nodes = append(nodes, widest.node, all[i].node)
		}
		if widest.prefix.Overlaps(all[i].prefix) {
			all[i].prefix, all[i].node = widest.prefix, widest.node // What comes next may still be within the wider one.
		}
	}
	return about(nodes, "Their pod CIDRs overlap, so pods of theirs have the same addresses", "Replace all but one of them.")
}

func outside(o Facts, _ time.Time) []observation.Finding {
	cluster := prefixes(strings.Split(o.ControlPlane.Value().KCM.Arguments.Flags["cluster-cidr"], ","))
	if len(cluster) == 0 {
		return nil
	}
	return about(chosen(o.NodeDetails.Value(), detailName, func(n NodeDetail) bool {
		return slices.ContainsFunc(prefixes(n.PodCIDRs), func(own netip.Prefix) bool {
			return !slices.ContainsFunc(cluster, func(all netip.Prefix) bool { return all.Overlaps(own) && all.Bits() <= own.Bits() })
		})
	}), "Their pod CIDRs are outside of --cluster-cidr, so the CCM leaves their routes in the cloud when they are gone",
		"Replace them, or correct --cluster-cidr, before routes are handed over.")
}

func cidrMissing(o Facts, _ time.Time) []observation.Finding {
	if !o.ControlPlane.Value().KCM.Arguments.True("allocate-node-cidrs", false) {
		return nil
	}
	return about(chosen(o.NodeDetails.Value(), detailName, func(n NodeDetail) bool { return len(n.PodCIDRs) == 0 }),
		"KCM allocates pod CIDRs, and they have none", "See the events CIDRNotAvailable of theirs; --cluster-cidr may be used up, "+
			"and a roll needs more.")
}

func networkUnavailable(o Facts, _ time.Time) []observation.Finding {
	return about(chosen(o.NodeDetails.Value(), detailName, func(n NodeDetail) bool { return n.NetworkUnavailable }),
		"Their condition NetworkUnavailable is True: they have no route", "See their events FailedToCreateRoute, and the cloud's "+
			"quota of routes.")
}

func imageChecks() []check {
	return []check{{
		id: "ImageCredentials", severity: observation.Blocking,
		means: "Pods pull from the cloud's own registry without a secret: old kubelets log in there by themselves, new ones only " +
			"with a plugin.",
		unseen: func(o Facts) string { return cmp.Or(unseenPods(o), unseen("the catalogue", o.Provider)) }, find: imageCredentials,
	}}
}

// imageCredentials: it is the minor of a kubelet that matters, not its --cloud-provider. Its own plugins are asked unless gate
// DisableKubeletCloudCredentialProviders is on, and that is so by default from 1.29 on; where someone switched it off for the
// in-tree provider, new machines may not have that.
// https://github.com/kubernetes/kubernetes/blob/v1.28.15/pkg/credentialprovider/plugins.go
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/features/kube_features.go#L1062
func imageCredentials(o Facts, _ time.Time) []observation.Finding {
	var findings []observation.Finding
	registries, pulling := o.Provider.Value().Registries, o.Pods.Value().Pulling
	later := o.minor() <= registries.LastMinor
	for _, host := range slices.Sorted(maps.Keys(pulling)) {
		found := about(pulling[host], fmt.Sprintf("They pull from %s without a secret, and kubelets newer than 1.%d do not log in "+
			"there by themselves", host, registries.LastMinor),
			"Give new machines the image credential provider of the cloud (--image-credential-provider-config), or the pods a secret"+
				map[bool]string{true: ", before the cluster is upgraded.", false: "."}[later])
		if registries.Public || later {
			found = severe(observation.Warning, found) // Some of it can be pulled by everyone, or all of it for now.
		}
		findings = append(findings, found...)
	}
	return findings
}
