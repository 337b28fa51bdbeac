package status

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

// balancers are load balancers, of which the first ones have another address.
func balancers(all, moved int) observation.Inventory {
	inventory := observation.Inventory{Version: observation.InventoryVersion}
	for i := range all {
		address := "192.0.2.1"
		if i < moved {
			address = "192.0.2.9"
		}
		inventory.LoadBalancers = append(inventory.LoadBalancers,
			observation.LoadBalancer{Namespace: "web", Name: fmt.Sprintf("lb-%02d", i), UID: fmt.Sprint(i), Ingress: []string{address}})
	}
	return inventory
}

// rolling is the pass of a migration that compares with a baseline.
func rolling(step ucv1.Step, before, now observation.Inventory) *Pass {
	cluster := passes.ClusterOf(ucv1.OriginMigrating, func(c *ucv1.Cluster) {
		c.Status.Step = ucv1.StepRoll
		c.Status.Baseline = &ucv1.BaselineStatus{SecretName: "baseline", Digest: before.Digest()}
	})
	s := passOf(cluster, passes.Decided(ucv1.OriginMigrating, step, passes.Waiting(ucv1.WaitingForMachinesReason, "Waiting.")))
	s.Observed.Baseline, s.Observed.Inventory = observation.Known(before), observation.Known(now)
	s.Observed.Machines = observation.Known(observation.Machines{})
	gone := map[string]observation.Gone{}
	for _, balancer := range before.LoadBalancers {
		gone[balancer.UID] = observation.Gone{Seen: "it was gone by noon"}
	}
	s.Observed.Gone = observation.Known(gone)
	return s
}

func TestInventoryInTheStatus(t *testing.T) {
	seen := &ucv1.InventoryStatus{Unexplained: 3}
	for name, test := range map[string]struct {
		pass *Pass
		when func(*Pass)
		want *ucv1.InventoryStatus
	}{
		"nothing changed": {pass: rolling(ucv1.StepRoll, balancers(2, 0), balancers(2, 0)), want: &ucv1.InventoryStatus{}},
		"what is unexplained is named": {
			pass: rolling(ucv1.StepRoll, balancers(2, 0), balancers(2, 1)),
			want: &ucv1.InventoryStatus{Unexplained: 1, Differences: []string{"Service web/lb-00 had 192.0.2.1 and has 192.0.2.9"}},
		},
		"what is explained is counted, and what is gone is a warning": {
			pass: rolling(ucv1.StepRoll, balancers(3, 0), balancers(1, 0)), want: &ucv1.InventoryStatus{
				Explained: 2, Warnings: []string{"Service web/lb-01 is gone: it was gone by noon", "Service web/lb-02 is gone: it was " +
					"gone by noon"},
			},
		},
		"a step that is over leaves its numbers": {
			pass: rolling(ucv1.StepVerify, balancers(2, 0), balancers(1, 0)),
			want: &ucv1.InventoryStatus{
				Explained: 1, Warnings: []string{"Service web/lb-01 is gone: it was gone by noon"},
				AfterSteps: []ucv1.InventoryAfterStep{{Step: ucv1.StepRoll, Explained: 1}},
			},
		},
		"a step that is over twice leaves them once": {
			pass: rolling(ucv1.StepVerify, balancers(2, 0), balancers(2, 0)),
			when: func(s *Pass) {
				s.Cluster.Status.Inventory = &ucv1.InventoryStatus{
					AfterSteps: []ucv1.InventoryAfterStep{{Step: ucv1.StepRoll, Unexplained: 7}, {Step: ucv1.StepAddons}},
				}
			},
			want: &ucv1.InventoryStatus{AfterSteps: []ucv1.InventoryAfterStep{{Step: ucv1.StepAddons}, {Step: ucv1.StepRoll}}},
		},
		"what cannot be looked at stays as it was seen": {
			pass: rolling(ucv1.StepRoll, balancers(2, 0), balancers(2, 1)),
			when: func(s *Pass) {
				s.Cluster.Status.Inventory = seen
				s.Observed.Inventory = observation.Unknown[observation.Inventory]("timeout")
			},
			want: seen,
		},
		"after completion it stays as it was": {
			pass: rolling(ucv1.StepRoll, balancers(2, 0), balancers(2, 1)),
			when: func(s *Pass) { passes.Completed(s.Cluster); s.Cluster.Status.Inventory = seen },
			want: seen,
		},
		"without a baseline there is none": {
			pass: rolling(ucv1.StepRoll, balancers(2, 0), balancers(2, 1)),
			when: func(s *Pass) { s.Cluster.Status.Baseline, s.Cluster.Status.Inventory = nil, seen },
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.when != nil {
				test.when(test.pass)
			}
			status := statusOf(test.pass)
			NewWithT(t).Expect(cmp.Diff(test.want, status.Inventory)).To(BeEmpty())
		})
	}
}

func TestTheStatusNamesTenDifferences(t *testing.T) {
	g := NewWithT(t)
	status := statusOf(rolling(ucv1.StepRoll, balancers(30, 0), balancers(30, 30)))
	g.Expect(status.Inventory.Unexplained).To(BeEquivalentTo(30))
	g.Expect(status.Inventory.Differences).To(HaveLen(10))
	g.Expect(status.Inventory.Differences[0]).To(HavePrefix("Service web/lb-00 "))
}
