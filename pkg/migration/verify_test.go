package migration

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

func nodes(change func(*[]observation.Node)) func(*Observation) {
	return func(o *Observation) { edit(&o.Nodes, change) }
}

// stranger adds a Node without a Machine.
func stranger(n *[]observation.Node) { *n = append(*n, provenNode("edge")) }

func unstable(g Gomega, f ucv1.Facts) { g.Expect(f.StableSince).To(BeNil()) }

func stable(g Gomega, f ucv1.Facts) { g.Expect(f.StableSince.Time).To(Equal(ago(10 * time.Minute))) }

func TestVerifyAsksEveryNode(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a Node without a Machine needs a person at once": {
			given: soaked, when: nodes(stranger), step: ucv1.StepVerify, fails: ucv1.NodesNotInitializedReason,
			says: []string{"edge has no Machine (accept it in spec.rollout.acceptNodes or delete it)"}, facts: unstable,
		},
		"a Node that a person accepts is not asked": {
			given: soaked, when: func(o *Observation) {
				nodes(stranger)(o)
				o.Cluster.Spec.Rollout.AcceptNodes = []string{"edge"}
			},
			step: ucv1.StepComplete, action: outcome.ActionRecord,
		},
		"a Node that does not register the CSI driver misses its deadline": {
			given: soaked, when: nodes(func(n *[]observation.Node) { (*n)[0].CSIDrivers = nil }), step: ucv1.StepVerify,
			fails: ucv1.NodesNotInitializedReason, says: []string{"n1 does not register CSI driver cinder.csi.openstack.org"},
		},
		"a young Node that does not register the CSI driver is waited for, and the soak goes on": {
			given: soaked, when: nodes(func(n *[]observation.Node) { (*n)[0].CSIDrivers, (*n)[0].CreatedAt = nil, ago(time.Minute) }),
			step: ucv1.StepVerify, wait: ucv1.WaitingForNodesReason, says: []string{"n1 does not register"}, facts: stable,
		},
		"an old Node that becomes NotReady is waited for before Verify": {
			given: soaked, when: nodes(func(n *[]observation.Node) { (*n)[0].Ready = false }), step: ucv1.StepRoll,
			wait: ucv1.WaitingForMachinesReason, says: []string{"MachineDeployment kube-system/workers"},
		},
		"changes that a person accepted are none": {
			given: soaked, when: func(o *Observation) {
				o.Inventory = observation.Known(observation.Inventory{
					LoadBalancers: []observation.LoadBalancer{
						{Namespace: "web", Name: "front", UID: "lb"},
					}, Volumes: []observation.Volume{{Name: "pv", UID: "pv", Phase: "Lost"}},
				})
				o.Cluster.Spec.Rollout.AcceptChanges = []string{"Service web/front", "PersistentVolume pv"}
			},
			step: ucv1.StepComplete, action: outcome.ActionRecord,
		},
		"a KCM of someone else that leads holds the end up": {
			given: soaked, when: func(o *Observation) { edit(&o.KCMLease, func(l *observation.Lease) { l.Holder = "stranger_1" }) },
			step: ucv1.StepComplete, wait: ucv1.ProvingSilenceReason,
		},
	})
}

func TestVerifyComparesTheInventory(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a load balancer that changed its address needs a person": {
			given: soaked, when: func(o *Observation) {
				o.Inventory = observation.Known(
					observation.Inventory{
						LoadBalancers: []observation.LoadBalancer{{Namespace: "web", Name: "front", UID: "lb", Ingress: []string{"192.0.2.9"}}},
					},
				)
			},
			step: ucv1.StepVerify, fails: ucv1.InventoryChangedReason, says: []string{"Service web/front had 192.0.2.1 and has 192.0.2.9"},
			facts: unstable,
		},
		"a load balancer that lost its address needs a person": {
			given: soaked, when: func(o *Observation) {
				o.Inventory = observation.Known(
					observation.Inventory{LoadBalancers: []observation.LoadBalancer{{Namespace: "web", Name: "front", UID: "lb"}}},
				)
			},
			step: ucv1.StepVerify, fails: ucv1.InventoryChangedReason, says: []string{"has no address"},
		},
		"a load balancer that its owner deleted is no difference": {
			given: soaked, when: func(o *Observation) { o.Inventory = observation.Known(observation.Inventory{}) },
			step: ucv1.StepComplete, action: outcome.ActionRecord,
		},
		"a volume that is gone while its claim is there needs a person": {
			given: soaked, when: func(o *Observation) {
				edit(&o.Inventory, func(i *observation.Inventory) { i.Volumes = nil })
				o.Gone = observation.Known(map[string]observation.Gone{"pv": {Left: "is gone, and its claim web/data is still there"}})
			},
			step: ucv1.StepVerify, fails: ucv1.InventoryChangedReason,
			says: []string{"PersistentVolume pv is gone, and its claim web/data is still there"}, facts: unstable,
		},
		"a volume that is lost needs a person": {
			given: soaked, when: func(o *Observation) {
				o.Inventory = observation.Known(observation.Inventory{Volumes: []observation.Volume{{Name: "pv", UID: "pv", Phase: "Lost"}}})
			},
			step: ucv1.StepVerify, fails: ucv1.InventoryChangedReason, says: []string{"PersistentVolume pv was Bound and is Lost"},
		},
		"a volume that is released is no difference": {
			given: soaked, when: func(o *Observation) {
				o.Inventory = observation.Known(
					observation.Inventory{Volumes: []observation.Volume{{Name: "pv", UID: "pv", Phase: "Released"}}},
				)
			},
			step: ucv1.StepComplete, action: outcome.ActionRecord,
		},
		"a baseline that is gone needs a person": {
			given: soaked, when: func(o *Observation) { o.Baseline = observation.Absent[observation.Inventory]() }, step: ucv1.StepVerify,
			fails: ucv1.InventoryChangedReason, says: []string{"Secret alpha-ccm-migration-baseline with the baseline is gone"},
		},
		"a baseline that was changed needs a person": {
			given: soaked, when: func(o *Observation) { o.Baseline = observation.Known(observation.Inventory{}) }, step: ucv1.StepVerify,
			fails: ucv1.InventoryChangedReason, says: []string{"is not the baseline that was taken"},
		},
	})
}

func TestVerifySoaks(t *testing.T) {
	runDecisions(t, map[string]decision{
		"the soak begins when everything is proven": {
			given: verifying, step: ucv1.StepVerify, action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.StableSince.Time).To(Equal(noon())) },
		},
		"a Node that was not Ready for a moment begins it again": {
			given: soaked, when: firstNode(func(n *observation.Node) { n.ReadyChangedAt = ago(5 * time.Minute) }), step: ucv1.StepVerify,
			action: outcome.ActionRecord, facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.StableSince.Time).To(Equal(noon())) },
		},
		"a Node that is new does not": {
			given: soaked,
			when:  firstNode(func(n *observation.Node) { n.CreatedAt, n.ReadyChangedAt = ago(6*time.Minute), ago(5*time.Minute) }),
			step:  ucv1.StepComplete, action: outcome.ActionRecord,
		},
		"the soak is waited for": {
			given: soaked, when: func(o *Observation) { o.Cluster.Spec.Rollout.SoakSeconds = new(int32(601)) },
			step: ucv1.StepVerify, wait: ucv1.SoakingReason, says: []string{"since 2026-01-01T11:50:00Z"},
		},
		"the soak ends": {
			given: soaked, when: func(o *Observation) { o.Cluster.Spec.Rollout.SoakSeconds = new(int32(600)) }, step: ucv1.StepComplete,
			action: outcome.ActionRecord,
		},
		"without a soak the migration completes at once": {
			given: verifying, when: func(o *Observation) { o.Cluster.Spec.Rollout.SoakSeconds = new(int32(0)) }, step: ucv1.StepComplete,
			action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.CompletedAt.Time).To(Equal(noon()))
				g.Expect(f.PointOfNoReturnAt.Time).To(Equal(noon()))
			},
		},
		"a point of no return that was passed before stays": {
			given: soaked, when: func(o *Observation) { o.Cluster.Status.PointOfNoReturnAt = stampAgo(time.Hour) },
			step: ucv1.StepComplete, action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.PointOfNoReturnAt.Time).To(Equal(ago(time.Hour))) },
		},
	})
}

func TestWhatANodeLacks(t *testing.T) {
	tests := map[string]struct {
		when  func(*observation.Node, *observation.Machine)
		owned bool
		want  string
	}{
		"a proven Node lacks nothing":       {owned: true},
		"a Node without a Machine":          {want: "has no Machine"},
		"a Node of an outdated Machine":     {owned: true, when: func(_ *observation.Node, m *observation.Machine) { m.Annotation = "" }, want: "outdated Machine kube-system/workers-2-a"},
		"a Node that is tainted":            {owned: true, when: func(n *observation.Node, _ *observation.Machine) { n.Uninitialized = true }, want: "still has taint"},
		"a Node without providerID":         {owned: true, when: func(n *observation.Node, _ *observation.Machine) { n.ProviderID = "" }, want: "no providerID of the form ^openstack://"},
		"a providerID with a part too many": {owned: true, when: func(n *observation.Node, _ *observation.Machine) { n.ProviderID += "/x" }, want: "no providerID"},
		"a Node with the prefix only":       {owned: true, when: func(n *observation.Node, _ *observation.Machine) { n.ProviderID = "openstack:///" }, want: "no providerID"},
		"a Node with another providerID":    {owned: true, when: func(n *observation.Node, _ *observation.Machine) { n.ProviderID = "kubermatic://openstack/x" }, want: "no providerID"},
		"a Node that is NotReady":           {owned: true, when: func(n *observation.Node, _ *observation.Machine) { n.Ready = false }, want: "is not Ready"},
		"a Node without the CSI driver":     {owned: true, when: func(n *observation.Node, _ *observation.Machine) { n.CSIDrivers = []string{"other"} }, want: "does not register CSI driver"},
		"a Node with more than one drive":   {owned: true, when: func(n *observation.Node, _ *observation.Machine) { n.CSIDrivers = append(n.CSIDrivers, "other") }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := verifying()
			machines := oneMachine()
			node := provenNode(machines.Machines[0].NodeName)
			if test.when != nil {
				test.when(&node, &machines.Machines[0])
			}
			if !test.owned {
				machines.Machines = nil
			}
			o.Nodes, o.Machines = observation.Known([]observation.Node{node}), observation.Known(machines)
			young, overdue := rollout.Unproven(rollout.Of(o, noon()))
			lacks := strings.Join(append(young, overdue...), "; ")
			if test.want == "" {
				g.Expect(lacks).To(BeEmpty())
			}
			g.Expect(lacks).To(ContainSubstring(test.want))
		})
	}
}

func TestDigestChangesWithTheInventory(t *testing.T) {
	g := NewWithT(t)
	one := observation.Inventory{LoadBalancers: []observation.LoadBalancer{{Name: "a", Ingress: []string{"1"}}}}
	other := observation.Inventory{LoadBalancers: []observation.LoadBalancer{{Name: "a", Ingress: []string{"2"}}}}
	g.Expect(one.Digest()).To(HaveLen(64))
	g.Expect(one.Digest()).NotTo(Equal(other.Digest()))
}
