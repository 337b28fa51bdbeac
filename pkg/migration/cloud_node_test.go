package migration

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

func kubeletAddresses() []string { return []string{"ExternalIP 192.0.2.9", "InternalIP 10.0.0.4"} }

// comparing is ready to switch the loop cloud-node on.
func comparing() Observation {
	o := configuring()
	edit(&o.Provider, func(p *observation.Provider) { p.CloudNodeLater = true })
	edit(&o.Nodes, func(nodes *[]observation.Node) { (*nodes)[0].Addresses = kubeletAddresses() })
	edit(&o.Baseline, func(i *observation.Inventory) {
		i.Nodes = []observation.NodeRecord{{Name: "n1", UID: "uid-n1", Addresses: kubeletAddresses()}, {Name: "gone", UID: "uid-gone"}}
	})
	o.Cluster.Status.Baseline.Digest = o.Baseline.Value().Digest()
	return o
}

// compared is ready to see another CCM lead.
func compared() Observation {
	o := comparing()
	o.Cluster.Status.CloudNode = &ucv1.CloudNodeStatus{EnabledAt: stampAgo(time.Minute), LedBy: "ccm_0"}
	return o
}

func readdressed(o *Observation) {
	edit(&o.Nodes, func(nodes *[]observation.Node) { (*nodes)[0].Addresses = []string{"InternalIP 192.0.2.9"} })
}

const difference = "Node n1 had ExternalIP 192.0.2.9, InternalIP 10.0.0.4 and has InternalIP 192.0.2.9"

func refused(o *Observation) {
	o.Cluster.Status.CloudNode = &ucv1.CloudNodeStatus{
		Conflict: difference, ConflictObjects: []ucv1.ObjectName{{Kind: "Node", Name: "n1"}}, Judged: "2/7",
	}
	edit(&o.CloudConfig, func(c *observation.CloudConfig) { c.Version = "7" })
}

func TestTheLoopCloudNodeIsSwitchedOnBeforeTheFlags(t *testing.T) {
	runDecisions(t, map[string]decision{
		"it is recorded who led without it": {
			given: comparing, step: ucv1.StepMachineController, action: outcome.ActionRecord, says: []string{"cloud-node"},
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.CloudNode).To(Equal(&ucv1.CloudNodeStatus{EnabledAt: stampAgo(0), LedBy: "ccm_1"}))
			},
		},
		"a CCM that does not lead is waited for": {
			given: comparing, when: func(o *Observation) { edit(&o.CCMLease, func(l *observation.Lease) { l.Holder = "" }) },
			step: ucv1.StepMachineController, wait: ucv1.WaitingForLeaderReason,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.CloudNode).To(BeNil()) },
		},
		"the rollout of the CCM is waited for": {
			given: compared, when: func(o *Observation) {
				edit(&o.Addons, func(a *observation.Addons) { a.CCM.Unhealthy = messages.Said("Deployment ccm has 1 of 2") })
			},
			step: ucv1.StepMachineController, wait: ucv1.RollingOutReason, says: []string{"1 of 2"},
		},
		"a rollout that does not end calls a person": {
			given: compared, when: func(o *Observation) {
				edit(&o.Addons, func(a *observation.Addons) { a.CCM.Unhealthy = messages.Said("Deployment ccm has 1 of 2") })
				o.Cluster.Status.CloudNode.EnabledAt = stampAgo(11 * time.Minute)
			},
			step: ucv1.StepMachineController, fails: ucv1.RollingOutReason,
			says: []string{"Deployment ccm has 1 of 2; no CCM leads with its loop cloud-node"},
		},
		"the process that led without the loop does not count": {
			given: compared, when: func(o *Observation) { o.Cluster.Status.CloudNode.LedBy = "ccm_1" },
			step: ucv1.StepMachineController, wait: ucv1.WaitingForLeaderReason,
		},
	})
}

func untilStamp(ago time.Duration) func(*Observation) {
	return func(o *Observation) { o.Cluster.Status.CloudNode.ComparedUntil = stampAgo(ago) }
}

func comparesUntil(then time.Duration) func(Gomega, ucv1.Facts) {
	return func(g Gomega, f ucv1.Facts) { g.Expect(f.CloudNode.ComparedUntil).To(Equal(stampAgo(then))) }
}

func TestAddressesAreComparedBeforeTheFlags(t *testing.T) {
	runDecisions(t, map[string]decision{
		"from when another one leads, addresses are compared, longer where there are more Nodes": {
			given: compared, step: ucv1.StepMachineController, action: outcome.ActionRecord,
			facts: comparesUntil(-61 * time.Second),
		},
		"and until then nothing is configured": {
			given: compared, when: untilStamp(-time.Second), step: ucv1.StepMachineController, wait: ucv1.WaitingForNodesReason,
		},
		"a leader that is lost begins it again": {
			given: compared, when: func(o *Observation) {
				untilStamp(-time.Second)(o)
				edit(&o.CCMLease, func(l *observation.Lease) { l.Holder = "" })
			},
			step: ucv1.StepMachineController, wait: ucv1.WaitingForLeaderReason,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.CloudNode.ComparedUntil).To(BeNil()) },
		},
		"then the machine-controller is configured": {
			given: compared, when: untilStamp(0), step: ucv1.StepMachineController, action: outcome.ActionChangeArguments,
		},
		"who was away meanwhile looks once more": {
			given: compared, when: func(o *Observation) { untilStamp(0)(o); readdressed(o) }, step: ucv1.StepMachineController,
			action: outcome.ActionRecord, says: []string{"changes addresses"},
		},
		"and waits until the CCM leads again": {
			given: compared, when: func(o *Observation) {
				untilStamp(0)(o)
				edit(&o.CCMLease, func(l *observation.Lease) { l.Holder = "" })
			},
			step: ucv1.StepMachineController, wait: ucv1.WaitingForLeaderReason,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.CloudNode.ComparedUntil).To(BeNil()) },
		},
		"what changes after the first flag is not the loop's": {
			given: compared, when: func(o *Observation) { untilStamp(0)(o); readdressed(o); flagged(o, 0) },
			step: ucv1.StepMachineController, action: outcome.ActionRecord, says: []string{"new Machines join"},
		},
		"and the loop stays on where the CCM is gone": {
			given: compared, when: func(o *Observation) {
				untilStamp(0)(o)
				flagged(o, 0)
				edit(&o.CCMLease, func(l *observation.Lease) { l.Holder = "" })
			},
			step: ucv1.StepMachineController, wait: ucv1.WaitingForLeaderReason,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.CloudNode.ComparedUntil).NotTo(BeNil()) },
		},
		"without Nodes there is no one to lead": {
			given: compared, when: func(o *Observation) {
				o.Nodes, o.CCMLease = observation.Known([]observation.Node{}), observation.Absent[observation.Lease]()
			},
			step: ucv1.StepMachineController, action: outcome.ActionChangeArguments,
		},
		"other providers have it from the start": {
			given: comparing, when: func(o *Observation) { edit(&o.Provider, func(p *observation.Provider) { p.CloudNodeLater = false }) },
			step: ucv1.StepMachineController, action: outcome.ActionChangeArguments,
		},
		"Nodes that cannot be looked at": {
			given: comparing, when: func(o *Observation) { o.Nodes = observation.Unknown[[]observation.Node]("timeout") },
			step: ucv1.StepMachineController, wait: ucv1.CouldNotLookReason,
		},
	})
}

func withoutConflict(g Gomega, f ucv1.Facts) { g.Expect(f.CloudNode.Conflict).To(BeEmpty()) }

func TestAddressesThatTheCCMWouldChangeStopTheMigration(t *testing.T) {
	runDecisions(t, map[string]decision{
		"the loop is switched off again": {
			given: compared, when: readdressed, step: ucv1.StepMachineController, action: outcome.ActionRecord, says: []string{difference},
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.CloudNode).To(Equal(&ucv1.CloudNodeStatus{
					Conflict: difference, ConflictObjects: []ucv1.ObjectName{{Kind: "Node", Name: "n1"}}, Judged: "2/",
				}))
			},
		},
		"and a person is called": {
			given: comparing, when: refused, step: ucv1.StepMachineController, fails: ucv1.NodeAddressesDifferReason,
			says: []string{difference, "acceptChanges"},
		},
		"also while the cloud configuration cannot be looked at": {
			given: comparing, when: func(o *Observation) {
				refused(o)
				o.CloudConfig = observation.Unknown[observation.CloudConfig]("timeout")
			},
			step: ucv1.StepMachineController, fails: ucv1.NodeAddressesDifferReason,
		},
		"another cloud configuration is tried": {
			given: comparing, when: func(o *Observation) {
				refused(o)
				edit(&o.CloudConfig, func(c *observation.CloudConfig) { c.Version = "8" })
			},
			step: ucv1.StepMachineController, action: outcome.ActionRecord, facts: withoutConflict,
		},
		"so is another spec": {
			given: comparing, when: func(o *Observation) { refused(o); o.Cluster.Generation++ },
			step: ucv1.StepMachineController, action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.CloudNode.EnabledAt).NotTo(BeNil()) },
		},
		"what is accepted is no difference": {
			given: compared, when: func(o *Observation) {
				readdressed(o)
				o.Cluster.Spec.Rollout.AcceptChanges = []string{"Node n1"}
			},
			step: ucv1.StepMachineController, action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.CloudNode.ComparedUntil).NotTo(BeNil()) },
		},
		"a Node of the same name is another one": {
			given: compared, when: func(o *Observation) {
				readdressed(o)
				edit(&o.Nodes, func(nodes *[]observation.Node) { (*nodes)[0].UID = "new" })
			},
			step: ucv1.StepMachineController, action: outcome.ActionRecord, facts: withoutConflict,
		},
		"addresses that changed before are named, and nothing is switched on": {
			given: comparing, when: readdressed, step: ucv1.StepMachineController, fails: ucv1.NodeAddressesDifferReason,
			says: []string{difference}, facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.CloudNode).To(BeNil()) },
		},
		"a baseline that is gone is named": {
			given: compared, when: func(o *Observation) { o.Baseline = observation.Absent[observation.Inventory]() },
			step: ucv1.StepMachineController, fails: ucv1.InventoryChangedReason, says: []string{"with the baseline is gone"},
		},
		"a baseline that cannot be looked at": {
			given: compared, when: func(o *Observation) { o.Baseline = observation.Unknown[observation.Inventory]("timeout") },
			step: ucv1.StepMachineController, wait: ucv1.CouldNotLookReason,
		},
	})
}

func TestTheCCMIsWithoutTheLoopCloudNode(t *testing.T) {
	later := observation.Provider{CloudNodeLater: true}
	tests := map[string]struct {
		facts    ucv1.Facts
		provider observation.Provider
		want     bool
	}{
		"while the cluster migrates":           {ucv1.Facts{Origin: ucv1.OriginMigrating}, later, true},
		"when the loop changed addresses":      {ucv1.Facts{Origin: ucv1.OriginMigrating, CloudNode: &ucv1.CloudNodeStatus{Conflict: "a"}}, later, true},
		"not when it is switched on":           {ucv1.Facts{Origin: ucv1.OriginMigrating, CloudNode: &ucv1.CloudNodeStatus{EnabledAt: stampAgo(0)}}, later, false},
		"not when new Machines join external":  {ucv1.Facts{Origin: ucv1.OriginMigrating, MachineControllerConfiguredAt: stampAgo(0)}, later, false},
		"not when the migration is completed":  {ucv1.Facts{Origin: ucv1.OriginMigrating, CompletedAt: stampAgo(0)}, later, false},
		"not in a cluster created external":    {ucv1.Facts{Origin: ucv1.OriginExternal}, later, false},
		"not with a provider that has no such": {ucv1.Facts{Origin: ucv1.OriginMigrating}, observation.Provider{}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(loops.WithholdsCloudNode(test.facts, test.provider)).To(Equal(test.want))
		})
	}
}

// flagged has the flag set in one of the Deployments.
func flagged(o *Observation, at int) {
	edit(&o.MachineController, func(d *[]observation.MachineControllerDeployment) {
		(*d)[at].Arguments.Flags = map[string]string{strings.TrimLeft((*d)[at].Flag, "-"): "true"}
	})
}
