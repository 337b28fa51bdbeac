package migration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

const newName = "kube_service_prod_web_front"

// oldBalancer is one that can be renamed now.
func oldBalancer() observation.OldLoadBalancer {
	return observation.OldLoadBalancer{
		Service: observation.Ref{Kind: "Service", Namespace: "web", Name: "front", UID: "lb"}, ID: "id-1", Name: "alb", Wanted: newName,
		Status: "ACTIVE",
	}
}

func balancers(list ...observation.OldLoadBalancer) func(*Observation) {
	return func(o *Observation) { o.OldLoadBalancers = observation.Known(list) }
}

func balancer(change func(*observation.OldLoadBalancer)) func(*Observation) {
	changed := oldBalancer()
	change(&changed)
	return balancers(changed)
}

// renaming is completed, but for the names of load balancers.
func renaming() Observation {
	o := finished()
	edit(&o.Provider, func(p *observation.Provider) { p.LoadBalancerNames = "kube_service_%s_%s_%s" })
	o.Cluster.Spec.Cloud.LoadBalancers = ucv1.RenameLoadBalancers
	o.Cluster.Status.DefaultStorageClass = &ucv1.DefaultStorageClassStatus{JudgedAt: stampAgo(time.Minute)}
	balancers(oldBalancer())(&o)
	return o
}

func TestLoadBalancersAreRenamedBehindThePointOfNoReturn(t *testing.T) {
	runDecisions(t, map[string]decision{
		"one whose name is free gets the CCM's": {
			given: renaming, step: ucv1.StepFinalize, action: outcome.ActionRenameLoadBalancers, says: []string{"Service web/front"},
		},
		"where all have it, that is recorded": {
			given: renaming, when: balancer(func(b *observation.OldLoadBalancer) { b.Name = newName }),
			step: ucv1.StepFinalize, action: outcome.ActionRecord, facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.RenamedLoadBalancers.Count).To(BeEquivalentTo(1))
				g.Expect(f.RenamedLoadBalancers.FinishedAt.Time).To(Equal(noon()))
			},
		},
		"what was recorded is not looked at again": {
			given: renaming, when: func(o *Observation) {
				o.Cluster.Status.RenamedLoadBalancers = &ucv1.RenamedLoadBalancersStatus{FinishedAt: stampAgo(time.Minute)}
			}, step: ucv1.StepFinished,
		},
		"without a wish they keep their names": {
			given: renaming, when: func(o *Observation) { o.Cluster.Spec.Cloud.LoadBalancers = "" }, step: ucv1.StepFinished,
		},
		"they keep their names where the CCM deletes them anyway": {
			given: renaming, when: func(o *Observation) {
				edit(&o.Provider, func(p *observation.Provider) { p.LoadBalancerNames = "" })
			}, step: ucv1.StepFinished,
		},
		"before the migration is completed nothing is renamed": {
			given: renaming, when: func(o *Observation) {
				o.Cluster.Status.CompletedAt, o.Cluster.Status.PointOfNoReturnAt = nil, nil
				o.Cluster.Status.StableSince = stampAgo(time.Hour)
			}, step: ucv1.StepComplete, action: outcome.ActionRecord,
		},
	})
}

func TestWhatKeepsLoadBalancersFromTheirNewNames(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a cloud that cannot be asked has not none": {
			given: renaming, when: func(o *Observation) {
				o.OldLoadBalancers = observation.Unknown[[]observation.OldLoadBalancer]("log in to Keystone: no answer in time")
			}, step: ucv1.StepFinalize, wait: ucv1.CouldNotLookReason, says: []string{"no answer in time", "spec.cloud.loadBalancers: Keep"},
		},
		"one that the cloud is changing is waited for": {
			given: renaming, when: balancer(func(b *observation.OldLoadBalancer) { b.Status = "PENDING_UPDATE" }),
			step: ucv1.StepFinalize, wait: ucv1.LoadBalancersChangingReason, says: []string{"Service web/front"},
		},
		"one whose new name another one has calls a person": {
			given: renaming, when: balancer(func(b *observation.OldLoadBalancer) { b.Holders = []string{"id-2"} }),
			step: ucv1.StepFinalize, fails: ucv1.LoadBalancersNotRenamedReason,
			says: []string{"Load balancer id-1 of Service web/front", newName + ", because id-2 has that name"},
		},
		"two of the same old name call a person": {
			given: renaming, when: balancer(func(b *observation.OldLoadBalancer) { b.Twins = []string{"id-2"} }),
			step: ucv1.StepFinalize, fails: ucv1.LoadBalancersNotRenamedReason, says: []string{"the same old name as id-2, alb"},
		},
		"a broken one calls a person": {
			given: renaming, when: balancer(func(b *observation.OldLoadBalancer) { b.Status = "ERROR" }),
			step: ucv1.StepFinalize, fails: ucv1.LoadBalancersNotRenamedReason, says: []string{"has status ERROR"},
		},
		"the others do not wait for one that calls a person": {
			given: renaming, when: func(o *Observation) {
				taken := oldBalancer()
				taken.Holders = []string{"id-2"}
				balancers(taken, oldBalancer())(o)
			}, step: ucv1.StepFinalize, action: outcome.ActionRenameLoadBalancers,
		},
		"they do not wait for whoever changes the flags": {
			given: renaming, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.RolledOut = false })
				o.Cluster.Status.Handover.KCMLeaseGrantedAt = stampAgo(time.Minute)
				edit(&o.KCMLeaseRight, func(r *observation.LeaseRight) { r.There = true })
			}, step: ucv1.StepFinalize, action: outcome.ActionRenameLoadBalancers,
		},
	})
}

func TestARenameNamesWhatItChanges(t *testing.T) {
	g := NewWithT(t)
	o := renaming()
	var many []observation.OldLoadBalancer
	for i := range renamedAtOnce + 1 {
		next := oldBalancer()
		next.ID, next.Service.UID = fmt.Sprintf("id-%d", i), fmt.Sprintf("uid-%d", i)
		many = append(many, next)
	}
	balancers(many...)(&o)
	action := Decide(o, noon()).Next()
	g.Expect(action.Objects).To(HaveLen(renamedAtOnce), "each takes requests to the cloud, and a pass has its time")
	g.Expect(action.Renames).To(HaveLen(renamedAtOnce))
	g.Expect(action.Renames[1]).To(Equal(outcome.Rename{ID: "id-1", From: "alb", To: newName}))
	g.Expect(action.Objects[1].UID).To(Equal("uid-1"))
}

// The names are those that the in-tree provider and the CCM make.
func TestNamesOfLoadBalancers(t *testing.T) {
	g := NewWithT(t)
	o := renaming()
	o.Inventory = observation.Known(observation.Inventory{LoadBalancers: []observation.LoadBalancer{
		{Namespace: "web", Name: "front", UID: "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"},
	}})
	asked := OldLoadBalancersOf(o).Value()
	g.Expect(asked[0].Name).To(Equal("a0f1e2d3c4b5a69788796a5b4c3d2e1f"), "32 characters")
	g.Expect(asked[0].Wanted).To(Equal(newName))
	o.Cluster.Status.Inherited.ClusterName = strings.Repeat("c", 253)
	g.Expect(OldLoadBalancersOf(o).Value()[0].Wanted).To(HaveLen(255))
	o.Inventory = observation.Unknown[observation.Inventory]("timeout")
	g.Expect(OldLoadBalancersOf(o).IsUnknown()).To(BeTrue())
}
