package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func TestTheCCMGoesInARollback(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a Node that only the CCM can initialize keeps it": {
			given: rolledBack, when: func(o *Observation) {
				edit(&o.Nodes, func(n *[]observation.Node) { *n = append(*n, observation.Node{Name: "edge", Uninitialized: true}) })
			}, step: ucv1.StepRollbackRoll, wait: ucv1.WaitingForNodesReason, says: []string{"edge"},
		},
		"that the CCM is not wanted is recorded first": {given: rolledBack, step: ucv1.StepRollbackFence, action: outcome.ActionRecord},
		"KCM does not get its loops back beside another manager": {
			given: quiet, when: beside(nil), step: ucv1.StepRollbackSilence, fails: ucv1.ForeignObjectsReason,
			says: []string{"Deployment infra/occm"},
		},
		"the fence is closed": {
			given:  withdrawing,
			step:   ucv1.StepRollbackFence,
			action: outcome.ActionCloseFence,
		},
		"the workload goes": {
			given:  shut,
			step:   ucv1.StepRollbackFence,
			action: outcome.ActionPruneAddons,
			says:   []string{"Deployment kube-system/ccm"},
		},
		"a fence that does not hold is waited for": {
			given: shut, when: func(o *Observation) {
				edit(&o.Fence, func(f *observation.Fence) { f.Allowed = []string{"update"} })
			},
			step: ucv1.StepRollbackFence, wait: ucv1.ProvingSilenceReason, says: []string{"may update Lease"},
		},
		"pods of the CCM are waited for": {
			given: gone,
			when:  func(o *Observation) { o.CCMPods = observation.Known([]string{"ccm"}) },
			step:  ucv1.StepRollbackFence,
			wait:  ucv1.ProvingSilenceReason,
			says:  []string{"ccm"},
		},
		"a pod that a person vouches for is not": {
			given: gone, when: func(o *Observation) {
				o.CCMPods = observation.Known([]string{"ccm"})
				o.Cluster.Spec.Handover.AcceptLostManagers = []string{"ccm"}
			}, step: ucv1.StepRollbackFence, action: outcome.ActionRecord,
		},
		"a pod that comes back begins the wait again": {
			given: quiet,
			when:  func(o *Observation) { o.CCMPods = observation.Known([]string{"ccm"}) },
			step:  ucv1.StepRollbackFence,
			wait:  ucv1.ProvingSilenceReason,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Rollback.WorkloadGoneAt).To(BeNil()) },
		},
	})
}

func TestTheCCMIsProvenSilent(t *testing.T) {
	runDecisions(t, map[string]decision{
		"that no pod is left is recorded": {
			given: gone, step: ucv1.StepRollbackFence, action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Rollback.WorkloadGoneAt.Time).To(Equal(noon())) },
		},
		"a Lease that was renewed a moment ago is waited for": {
			given: quiet, when: func(o *Observation) { edit(&o.CCMLease, func(l *observation.Lease) { l.ChangedAt = ago(time.Second) }) },
			step: ucv1.StepRollbackSilence, wait: ucv1.ProvingSilenceReason, says: []string{"is renewed by ccm_1 although no pod"},
		},
		"a look that is young proves nothing": {
			given: quiet, when: func(o *Observation) { edit(&o.CCMLease, func(l *observation.Lease) { l.WatchedAt = ago(time.Second) }) },
			step: ucv1.StepRollbackSilence, wait: ucv1.ProvingSilenceReason,
		},
		"pods that are gone for a moment only prove nothing": {
			given: quiet, when: func(o *Observation) {
				o.Cluster.Status.Rollback.WorkloadGoneAt = new(metav1.NewMicroTime(ago(time.Second)))
			}, step: ucv1.StepRollbackSilence, wait: ucv1.ProvingSilenceReason,
		},
		"a Lease that is not there is waited for where it was": {
			given: quiet, when: func(o *Observation) {
				o.CCMLease = observation.Absent[observation.Lease]()
				o.Cluster.Status.Rollback.WorkloadGoneAt = new(metav1.NewMicroTime(ago(time.Second)))
			}, step: ucv1.StepRollbackSilence, wait: ucv1.ProvingSilenceReason,
		},
		"a CCM that never led is silent at once": {
			given: quiet, when: func(o *Observation) {
				o.CCMLease, o.Cluster.Status.Handover.FenceOpenedAt = observation.Absent[observation.Lease](), nil
				o.Cluster.Status.Rollback.WorkloadGoneAt = new(metav1.NewMicroTime(noon()))
			}, step: ucv1.StepRollbackLoops, action: outcome.ActionChangeArguments,
		},
	})
}

func TestThatTheLoopsAreBackIsRecorded(t *testing.T) {
	runDecisions(t, map[string]decision{
		"it is, where the pass that gave them back did not come to it": {
			given:  quiet,
			when:   func(o *Observation) { setKCM(o, inTree()) },
			step:   ucv1.StepRollbackLoops,
			action: outcome.ActionRecord,
			says:   []string{"has its cloud loops back"},
			facts:  func(g Gomega, f ucv1.Facts) { g.Expect(f.Rollback.LoopsOnAt.Time).To(Equal(noon())) },
		},
		"a KCM that never lost them did not get them back": {
			given: quiet, when: func(o *Observation) {
				setKCM(o, inTree())
				o.Cluster.Status.Handover.LoopsOffAt, o.Cluster.Status.Handover.KCMLeaseGrantedAt = nil, nil
			},
			step: ucv1.StepRollbackAddons, action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Rollback.FinishedAt.Time).To(Equal(noon())) },
		},
	})
}

func TestTheLoopsGoBack(t *testing.T) {
	runDecisions(t, map[string]decision{
		"then KCM gets its loops back, with the flag as it was": {
			given: quiet, step: ucv1.StepRollbackLoops, action: outcome.ActionChangeArguments, says: []string{"its cloud loops back"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Rollback.LoopsOnAt.Time).To(Equal(noon())) },
		},
		"not while a Node without Machine is not Ready": {
			given: quiet, when: func(o *Observation) {
				edit(&o.Nodes, func(n *[]observation.Node) { *n = append(*n, observation.Node{Name: "edge"}) })
			},
			step: ucv1.StepRollbackLoops, wait: ucv1.NodesNotReadyReason, says: []string{"edge"},
		},
		"not while a Node is not Ready": {
			given: quiet, when: func(o *Observation) { edit(&o.Nodes, func(n *[]observation.Node) { (*n)[0].Ready = false }) },
			step: ucv1.StepRollbackRoll, wait: ucv1.WaitingForMachinesReason,
		},
		"who switches them off again is not fought": {
			given: quiet, when: func(o *Observation) { o.Cluster.Status.Rollback.LoopsOnAt = stampAgo(time.Minute) },
			step: ucv1.StepRollbackLoops, fails: ucv1.CloudLoopsContendedReason, says: []string{"No one runs them now"},
		},
		"who took its provider away is named": {
			given: quiet, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.KCM.Arguments.Flags["cloud-provider"], c.KCM.FieldOwner = "external", "argocd"
				})
			}, step: ucv1.StepRollbackLoops, fails: ucv1.CloudLoopsContendedReason, says: []string{"argocd"},
		},
		"what it was must be known": {
			given: quiet, when: func(o *Observation) { o.Cluster.Status.Handover.Original = nil },
			step: ucv1.StepRollbackLoops, fails: ucv1.InputInvalidReason, says: []string{"set it by hand"},
		},
		"where no one runs the loops for too long a person is called": {
			given: gone, when: func(o *Observation) {
				o.CCMPods = observation.Known([]string{"ccm"})
				o.Cluster.Status.Rollback.WorkloadWithdrawnAt = stampAgo(11 * time.Minute)
			}, step: ucv1.StepRollbackFence, fails: ucv1.ProvingSilenceReason, says: []string{"no one may be running"},
		},
		"KCM has to lead": {
			given: loopsBack, when: func(o *Observation) { edit(&o.KCMLease, func(l *observation.Lease) { l.Holder = "old_1" }) },
			step: ucv1.StepRollbackLoops, wait: ucv1.WaitingForLeaderReason,
		},
		"load balancers have to be the same": {
			given: loopsBack, when: func(o *Observation) {
				edit(&o.Inventory, func(i *observation.Inventory) {
					i.LoadBalancers = []observation.LoadBalancer{{UID: "lb", Ingress: []string{"192.0.2.9"}}}
				})
			}, step: ucv1.StepRollbackLoops, fails: ucv1.InventoryChangedReason,
		},
		"then it is recorded as rolled back, and what was recorded is forgotten": {
			given: loopsBack, step: ucv1.StepRollbackAddons, action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Rollback.FinishedAt.Time).To(Equal(noon()))
				f.Rollback = nil
				g.Expect(f).To(Equal(ucv1.Facts{Origin: ucv1.OriginMigrating}))
			},
		},
	})
}

func TestTheLoopsAreGivenBackWithTheFlagAsItWas(t *testing.T) {
	g := NewWithT(t)
	o := quiet()
	g.Expect(Decide(o, noon()).Next().Arguments.Set).To(ConsistOf(outcome.Flag{Name: "--controllers", Value: "*,tokencleaner"}))
	o.Cluster.Status.Handover.Original[0].Controllers = nil
	change := Decide(o, noon()).Next().Arguments
	g.Expect(change.Set).To(BeEmpty())
	g.Expect(change.Remove).To(ConsistOf("controllers"), "it was not given")
}
