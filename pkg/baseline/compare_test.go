package baseline

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// whole is an inventory with one of each.
func whole() observation.Inventory {
	return observation.Inventory{
		Version: observation.InventoryVersion, Routes: 1,
		LoadBalancers: []observation.LoadBalancer{{Namespace: "web", Name: "front", UID: "lb", Ingress: []string{"192.0.2.1"},
			Annotations: map[string]string{
				"service.beta.kubernetes.io/aws-load-balancer-type": "nlb", "team": "web",
			}}},
		Volumes: []observation.Volume{{Name: "pv", UID: "pv", Phase: "Bound", Claim: "web/data"}},
		Nodes: []observation.NodeRecord{
			{Name: "n1", UID: "uid-n1", ProviderID: "openstack:///n1", Addresses: []string{"InternalIP 10.0.0.1"},
				PodCIDRs: []string{"10.1.0.0/24"},
				Routed:   true, Machine: "ma", Labels: map[string]string{"topology.kubernetes.io/zone": "a", "team": "web"}},
			{Name: "edge", UID: "uid-edge", Addresses: []string{"InternalIP 10.0.0.2"}},
		},
		Attachments:    []observation.Attachment{{Attacher: "cinder.csi.openstack.org", Node: "n1", Volume: "pv"}},
		StorageClasses: []observation.ClassRecord{{Name: "standard", Provisioner: "kubernetes.io/cinder", Default: true}},
	}
}

// changed is a copy of the inventory with a change.
func changed(change func(*observation.Inventory)) observation.Inventory {
	copied := observation.Inventory{}
	data, err := json.Marshal(whole())
	if err == nil {
		err = json.Unmarshal(data, &copied)
	}
	if err != nil {
		panic(err)
	}
	change(&copied)
	return copied
}

func observing(before, now observation.Inventory) observation.Observation {
	cluster := &ucv1.Cluster{}
	cluster.Status.Baseline = &ucv1.BaselineStatus{SecretName: "alpha-baseline", Digest: before.Digest()}
	return observation.Observation{
		Cluster: cluster, Baseline: observation.Known(before), Inventory: observation.Known(now),
		Machines: observation.Known(oneMachine()),
		Gone: observation.Known(map[string]observation.Gone{
			"lb": {Seen: "it was gone by noon"}, "pv": {Seen: "it was gone by noon"},
		}),
	}
}

// oneMachine is that of Node n1.
func oneMachine() observation.Machines {
	return observation.Machines{
		Machines: []observation.Machine{
			{Ref: observation.Ref{Kind: "Machine", Namespace: "kube-system", Name: "workers-2-a", UID: "ma"}, NodeName: "n1"},
		},
	}
}

func TestCompareSaysWhatIsExplained(t *testing.T) {
	for name, test := range map[string]struct {
		now  func(*observation.Inventory)
		when func(*observation.Observation)
		// unexplained and explained differences.
		unexplained, explained []string
	}{
		"nothing changed": {now: func(*observation.Inventory) {}},
		"a load balancer that its owner deleted": {
			now: func(i *observation.Inventory) { i.LoadBalancers = nil }, explained: []string{"Service web/front is gone"},
		},
		"a load balancer with another address": {
			now:         func(i *observation.Inventory) { i.LoadBalancers[0].Ingress = []string{"192.0.2.9"} },
			unexplained: []string{"Service web/front had 192.0.2.1 and has 192.0.2.9"},
		},
		"what a person accepted": {
			now:       func(i *observation.Inventory) { i.LoadBalancers[0].Ingress = nil },
			when:      func(o *observation.Observation) { o.Cluster.Spec.Rollout.AcceptChanges = []string{"Service web/front"} },
			explained: []string{"Service web/front had 192.0.2.1 and has no address"},
		},
		"an annotation about the load balancer": {
			now: func(i *observation.Inventory) {
				delete(i.LoadBalancers[0].Annotations, "service.beta.kubernetes.io/aws-load-balancer-type")
			},
			unexplained: []string{"Service web/front has lost or changed annotations service.beta.kubernetes.io/aws-load-balancer-type"},
		},
		"other annotations, and a new one of the CCM": {
			now: func(i *observation.Inventory) {
				i.LoadBalancers[0].Annotations["team"] = "shop"
				i.LoadBalancers[0].Annotations["loadbalancer.openstack.org/load-balancer-id"] = "1"
			},
			explained: []string{
				"Service web/front has lost or changed annotations team",
				"Service web/front has new annotations loadbalancer.openstack.org/load-balancer-id",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := observing(whole(), changed(test.now))
			if test.when != nil {
				test.when(&o)
			}
			expectDifferences(t, o, test.unexplained, test.explained)
		})
	}
}

func TestCompareSaysWhatBecameOfStorage(t *testing.T) {
	for name, test := range map[string]struct {
		now                    func(*observation.Inventory)
		when                   func(*observation.Observation)
		unexplained, explained []string
	}{
		"a volume that is lost": {
			now:         func(i *observation.Inventory) { i.Volumes[0].Phase = "Lost" },
			unexplained: []string{"PersistentVolume pv was Bound and is Lost"},
		},
		"a volume that is released": {
			now:       func(i *observation.Inventory) { i.Volumes[0].Phase = "Released" },
			explained: []string{"PersistentVolume pv was Bound and is Released"},
		},
		"a volume that went to another Node with its pod": {
			now: func(i *observation.Inventory) { i.Attachments[0].Node = "n2" },
			explained: []string{
				"PersistentVolume pv is attached to Node n2", "PersistentVolume pv is not attached to Node n1",
			},
		},
		"a volume that cannot be attached any more": {
			now:         func(i *observation.Inventory) { i.Attachments[0].Node, i.Attachments[0].Problem = "n2", "attaching" },
			unexplained: []string{"PersistentVolume pv fails attaching by cinder.csi.openstack.org at Node n2"},
			explained:   []string{"PersistentVolume pv is not attached to Node n1"},
		},
		"a StorageClass of another provisioner": {
			now:         func(i *observation.Inventory) { i.StorageClasses[0].Provisioner = "cinder.csi.openstack.org" },
			unexplained: []string{"StorageClass standard had provisioner kubernetes.io/cinder and has cinder.csi.openstack.org"},
		},
		"no default StorageClass any more": {
			now:         func(i *observation.Inventory) { i.StorageClasses[0].Default = false },
			unexplained: []string{"StorageClass standard was the default, and no class is it now"},
		},
		"another default StorageClass": {
			now: func(i *observation.Inventory) {
				i.StorageClasses[0].Default = false
				i.StorageClasses = append(i.StorageClasses, observation.ClassRecord{Name: "new", Default: true})
			},
			explained: []string{"StorageClass new is new", "StorageClass standard is or was the default"},
		},
		"a baseline of the first form is compared by what it has": {
			now: func(i *observation.Inventory) {
				*i = observation.Inventory{LoadBalancers: i.LoadBalancers, Volumes: i.Volumes}
			},
			when: func(o *observation.Observation) {
				o.Baseline, o.Inventory = o.Inventory, o.Baseline
				o.Cluster.Status.Baseline.Digest = o.Baseline.Value().Digest()
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := observing(whole(), changed(test.now))
			if test.when != nil {
				test.when(&o)
			}
			expectDifferences(t, o, test.unexplained, test.explained)
		})
	}
}

func expectDifferences(t *testing.T, o observation.Observation, unexplained, explained []string) {
	t.Helper()
	g := NewWithT(t)
	differences, known := Compare(o).Get()
	g.Expect(known).To(BeTrue(), Compare(o).Why())
	var without, with []string
	for _, difference := range differences {
		if difference.Explained == "" {
			without = append(without, difference.String())
			g.Expect(with).To(BeEmpty(), "what is unexplained comes first")
			continue
		}
		with = append(with, difference.String())
	}
	g.Expect(without).To(ConsistOf(anything(unexplained)...))
	g.Expect(with).To(ConsistOf(anything(explained)...))
}

func anything(list []string) []any {
	result := make([]any, 0, len(list))
	for _, item := range list {
		result = append(result, item)
	}
	return result
}

func TestCompareSaysWhatBecameOfNodes(t *testing.T) {
	without := func(i *observation.Inventory) { i.Nodes = i.Nodes[1:] }
	edge := func(addresses ...string) func(*observation.Inventory) {
		return func(i *observation.Inventory) { i.Nodes[1].Addresses = addresses }
	}
	noMachines := func(o *observation.Observation) { o.Machines = observation.Known(observation.Machines{}) }
	deleting := func(o *observation.Observation) { o.Machines.Value().Machines[0].Deleting = true }
	for name, test := range map[string]struct {
		now                    func(*observation.Inventory)
		when                   func(*observation.Observation)
		unexplained, explained []string
	}{
		"one that was rolled":                {now: without, when: noMachines, explained: []string{"Node n1 is gone"}},
		"one whose Machine is being deleted": {now: without, when: deleting, explained: []string{"Node n1 is gone"}},
		"one that someone deleted under its Machine": {
			now: without, unexplained: []string{"Node n1 is gone, and its Machine kube-system/workers-2-a is still there"},
		},
		"one that was deleted and joined again": {
			now:         func(i *observation.Inventory) { i.Nodes[1].UID = "uid-edge-2" },
			unexplained: []string{"Node edge was deleted and joined again"}, explained: []string{"Node edge is new"},
		},
		"one without a Machine that a person deleted": {
			now: func(i *observation.Inventory) { i.Nodes = i.Nodes[:1] }, explained: []string{"Node edge is gone"},
		},
		"one without a Machine that a person vouched for": {
			now:         func(i *observation.Inventory) { i.Nodes = i.Nodes[:1] },
			when:        func(o *observation.Observation) { o.Cluster.Spec.Rollout.AcceptNodes = []string{"edge"} },
			unexplained: []string{"Node edge is gone"},
		},
		"one that stayed and has another zone, address, providerID and podCIDR, and no route": {
			now: func(i *observation.Inventory) {
				n := &i.Nodes[0]
				n.Labels["topology.kubernetes.io/zone"], n.Labels["team"], n.Labels["new"] = "b", "shop", "yes"
				n.Addresses, n.ProviderID, n.PodCIDRs, n.Routed = []string{"InternalIP 10.0.0.9"}, "openstack:///n9", nil, false
			},
			unexplained: []string{
				"Node n1 has lost or changed labels topology.kubernetes.io/zone",
				"Node n1 had addresses InternalIP 10.0.0.1 and has InternalIP 10.0.0.9",
				"Node n1 had providerID openstack:///n1 and has openstack:///n9", "Node n1 had podCIDR 10.1.0.0/24 and has none",
				"Node n1 had a route to its pods and has none",
			},
			explained: []string{"Node n1 has lost or changed labels team", "Node n1 has new labels new"},
		},
		"one that stayed and shows its own name as its hostname": {now: edge("Hostname edge", "InternalIP 10.0.0.2")},
		"one that stayed and shows another hostname": {
			now:         edge("Hostname other", "InternalIP 10.0.0.2"),
			unexplained: []string{"Node edge had addresses InternalIP 10.0.0.2 and has Hostname other, InternalIP 10.0.0.2"},
		},
		"one that was given a providerID": {
			now:       func(i *observation.Inventory) { i.Nodes[1].ProviderID = "openstack:///edge" },
			explained: []string{"Node edge has providerID openstack:///edge"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := observing(whole(), changed(test.now))
			if test.when != nil {
				test.when(&o)
			}
			expectDifferences(t, o, test.unexplained, test.explained)
		})
	}
}

func TestWhatCannotBeComparedIsUnknown(t *testing.T) {
	gone := func(i *observation.Inventory) { i.Nodes = nil }
	for name, test := range map[string]struct {
		when            func(*observation.Observation)
		absent, unknown bool
	}{
		"without a baseline there is nothing to compare": {when: func(o *observation.Observation) { o.Cluster.Status.Baseline = nil }, absent: true},
		"a baseline that is gone":                        {when: func(o *observation.Observation) { o.Baseline = observation.Absent[observation.Inventory]() }, absent: true},
		"a baseline that was changed":                    {when: func(o *observation.Observation) { o.Baseline = observation.Known(observation.Inventory{}) }, absent: true},
		"a baseline that cannot be read":                 {when: func(o *observation.Observation) { o.Baseline = observation.Unknown[observation.Inventory]("timeout") }, unknown: true},
		"a cluster that cannot be read":                  {when: func(o *observation.Observation) { o.Inventory = observation.Unknown[observation.Inventory]("timeout") }, unknown: true},
		"Nodes that went, and no look at the Machines":   {when: func(o *observation.Observation) { o.Machines = observation.Unknown[observation.Machines]("timeout") }, unknown: true},
		"Nodes that went, and no Machines at all":        {when: func(o *observation.Observation) { o.Machines = observation.Absent[observation.Machines]() }},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observing(whole(), changed(gone))
			test.when(&o)
			compared := Compare(o)
			g.Expect([]bool{compared.IsAbsent(), compared.IsUnknown()}).To(Equal([]bool{test.absent, test.unknown}), compared.Why())
		})
	}
}

func TestNodesJoinTheInventory(t *testing.T) {
	g := NewWithT(t)
	nodes := observation.Known([]observation.Node{{
		Name: "n1", UID: "uid", Addresses: []string{"a"}, ProviderID: "p", Labels: map[string]string{"l": "v"},
		PodCIDRs: []string{"c"}, Routed: true,
	}})
	inventory, known := WithNodes(observation.Known(observation.Inventory{}), nodes, observation.Known(oneMachine())).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(cmp.Diff(observation.Inventory{Version: observation.InventoryVersion, Routes: 1, Nodes: []observation.NodeRecord{{
		Name: "n1", UID: "uid", Addresses: []string{"a"}, ProviderID: "p", Labels: map[string]string{"l": "v"},
		PodCIDRs: []string{"c"}, Routed: true, Machine: "ma",
	}}}, inventory)).To(BeEmpty())
	g.Expect(WithNodes(observation.Known(observation.Inventory{}), nodes, observation.Absent[observation.Machines]()).IsKnown()).To(
		BeTrue(),
	)
	g.Expect(
		WithNodes(
			observation.Known(observation.Inventory{}), observation.Unknown[[]observation.Node]("timeout"),
			observation.Known(oneMachine()),
		).Why(),
	).To(Equal("timeout"))
	g.Expect(
		WithNodes(observation.Known(observation.Inventory{}), nodes, observation.Unknown[observation.Machines]("timeout")).Why(),
	).To(Equal("timeout"))
	g.Expect(WithNodes(observation.Unknown[observation.Inventory]("refused"), nodes, observation.Known(oneMachine())).Why()).To(
		Equal("refused"),
	)
}

func TestLargeClustersKeepOnlyWhatTheCloudSays(t *testing.T) {
	g := NewWithT(t)
	nodes := make([]observation.Node, mostWhole+1)
	for i := range nodes {
		nodes[i] = observation.Node{Name: fmt.Sprint(i), Labels: map[string]string{"team": "web", "topology.kubernetes.io/zone": "a"}}
	}
	inventory := WithNodes(
		observation.Known(observation.Inventory{}), observation.Known(nodes), observation.Absent[observation.Machines](),
	).Value()
	g.Expect(inventory.Nodes[0].Labels).To(Equal(map[string]string{"topology.kubernetes.io/zone": "a"}))
}
