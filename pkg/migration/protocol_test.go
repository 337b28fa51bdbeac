package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

// leasesAreFree lets the CCM's identity write its Lease without us.
func leasesAreFree(o *Observation) {
	edit(&o.Fence, func(f *observation.Fence) { f.Open, f.Allowed = false, []string{"create", "update"} })
}

func wants(protocol ucv1.HandoverProtocolChoice, change func(*Observation)) func(*Observation) {
	return func(o *Observation) {
		o.Cluster.Spec.Handover.Protocol = protocol
		change(o)
	}
}

func resolvedTo(protocol ucv1.HandoverProtocol, reason string) func(Gomega, ucv1.Facts) {
	return func(g Gomega, f ucv1.Facts) {
		g.Expect(f.Handover.Protocol).To(Equal(protocol))
		g.Expect(f.Handover.ProtocolReason).To(ContainSubstring(reason))
	}
}

func TestProtocolIsChosenBeforeAnythingIsTouched(t *testing.T) {
	closed := func(o *Observation) { edit(&o.Fence, func(f *observation.Fence) { f.Open, f.Allowed = false, nil }) }
	runDecisions(t, map[string]decision{
		"a fence that holds is used": {
			given: fresh, when: closed, step: ucv1.StepPreflight, action: outcome.ActionRecord,
			facts: resolvedTo(ucv1.FencedProtocol, "cannot write Lease kube-system/ccm"),
		},
		"where the fence would not hold, the CCM is started later": {
			given: fresh, when: leasesAreFree, step: ucv1.StepPreflight, action: outcome.ActionRecord,
			facts: resolvedTo(ucv1.SerializedProtocol, "may create, update Lease kube-system/ccm"),
		},
		"a person may want Serialized": {
			given: fresh, when: wants(ucv1.SerializedProtocolChoice, closed), step: ucv1.StepPreflight, action: outcome.ActionRecord,
			facts: resolvedTo(ucv1.SerializedProtocol, "spec.handover.protocol asks for it"),
		},
		"Fenced is refused where the fence would not hold": {
			given: fresh, when: wants(ucv1.FencedProtocolChoice, leasesAreFree), step: ucv1.StepPreflight,
			fails: ucv1.FenceIneffectiveReason,
			says: []string{
				"may create, update Lease kube-system/ccm", "kubectl auth can-i", "Or set spec.handover.protocol to Serialized",
			},
		},
		"a fence that cannot be looked at is waited for": {
			given: fresh, when: func(o *Observation) { o.Fence = observation.Unknown[observation.Fence]("timeout") },
			step: ucv1.StepPreflight, wait: ucv1.CouldNotLookReason, says: []string{"the fence: timeout"},
		},
		"a cluster that was created with the feature has the same choice": {
			given: external, when: leasesAreFree, step: ucv1.StepAddons, action: outcome.ActionRecord,
			facts: resolvedTo(ucv1.SerializedProtocol, "may create, update"),
		},
	})
}

// serializedAt is the stage of a cluster whose protocol is Serialized; its CCM's workload is not there.
func serializedAt(stage func() Observation) func() Observation {
	return func() Observation {
		o := stage()
		o.Cluster.Status.Handover.Protocol = ucv1.SerializedProtocol
		leasesAreFree(&o)
		edit(&o.Addons, func(a *observation.Addons) { a.CSI.Drifted, a.CCM = nil, observation.AddonSet{WorkloadWithheld: true} })
		o.CCMLease = observation.Absent[observation.Lease]()
		return o
	}
}

func workloadAllowed(o *Observation) {
	o.Cluster.Status.Handover.WorkloadAllowedAt = stampAgo(time.Minute)
	edit(&o.Addons, func(a *observation.Addons) { a.CCM.WorkloadWithheld = false })
}

func TestSerializedStartsTheCCMLast(t *testing.T) {
	of := func(kind string) []observation.Ref {
		return []observation.Ref{{Kind: kind, Namespace: "kube-system", Name: "ccm"}}
	}
	missing := func(o *Observation) {
		workloadAllowed(o)
		edit(&o.Fence, func(f *observation.Fence) { f.Open = true })
		edit(&o.Addons, func(a *observation.Addons) { a.CCM.Drifted = of("Deployment") })
	}
	runDecisions(t, map[string]decision{
		"what is not its workload is applied before": {
			given: serializedAt(applying), when: func(o *Observation) {
				edit(&o.Addons, func(a *observation.Addons) { a.CCM.Drifted = of("ServiceAccount") })
			},
			step: ucv1.StepAddons, action: outcome.ActionApplyAddons, says: []string{"ServiceAccount kube-system/ccm"},
		},
		"a look that did not withhold the workload is not acted on": {
			given: serializedAt(applying), when: func(o *Observation) {
				edit(&o.Addons, func(a *observation.Addons) { a.CCM = observation.AddonSet{Drifted: of("Deployment")} })
			},
			step: ucv1.StepAddons, wait: ucv1.CouldNotLookReason, says: []string{"was not withheld"},
		},
		"KCM is changed while the CCM has no workload": {
			given: serializedAt(loud), step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionChangeArguments,
		},
		"the workload waits for the silence": {
			given: serializedAt(fenced), when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.RolledOut = false })
			},
			step: ucv1.StepHandover, line: "Silent", wait: ucv1.ProvingSilenceReason,
		},
		"the workload is allowed when KCM is silent": {
			given: serializedAt(fenced), step: ucv1.StepHandover, line: "WorkloadAllowed", action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.WorkloadAllowedAt.Time).To(Equal(noon())) },
		},
		"the workload is not allowed while a Node is NotReady, because the loops would delete it": {
			given: serializedAt(fenced), when: notReady, step: ucv1.StepHandover, line: "WorkloadAllowed", wait: ucv1.NodesNotReadyReason,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.WorkloadAllowedAt).To(BeNil()) },
		},
		"the right to lead comes before the workload": {
			given: serializedAt(fenced), when: workloadAllowed, step: ucv1.StepHandover, line: "FenceOpen",
			action: outcome.ActionOpenFence,
		},
		"the workload that is allowed is applied": {
			given: serializedAt(fenced), when: missing, step: ucv1.StepHandover, line: "WorkloadApplied",
			action: outcome.ActionApplyAddons, says: []string{"Deployment kube-system/ccm"},
		},
		"a workload of someone else is never taken over": {
			given: serializedAt(fenced), when: func(o *Observation) {
				missing(o)
				edit(&o.Addons, func(a *observation.Addons) { a.CCM.Foreign = messages.Said("Deployment kube-system/ccm (helm)") })
			},
			step: ucv1.StepHandover, line: "WorkloadApplied", fails: ucv1.ForeignObjectsReason,
		},
		"a workload that lost its right is deleted": {
			given: serializedAt(contendedSince(inTree())), when: func(o *Observation) {
				edit(&o.Addons, func(a *observation.Addons) { a.Obsolete = of("Deployment") })
			},
			step: ucv1.StepHandover, line: "WorkloadWithheld", action: outcome.ActionPruneAddons, says: []string{"Deployment kube-system/ccm"},
		},
	})
}

func TestAgentsOnTheNodesFollowTheCCM(t *testing.T) {
	for name, tc := range map[string]struct {
		facts ucv1.Facts
		want  bool
	}{
		"before the hand-over":                {ucv1.Facts{Origin: ucv1.OriginMigrating}, false},
		"in it":                               {ucv1.Facts{Origin: ucv1.OriginMigrating, Handover: &ucv1.HandoverStatus{}}, false},
		"after it":                            {ucv1.Facts{Origin: ucv1.OriginMigrating, Handover: &ucv1.HandoverStatus{FinishedAt: stampAgo(0)}}, true},
		"when it is rolled back":              {ucv1.Facts{Origin: ucv1.OriginMigrating, Handover: &ucv1.HandoverStatus{FinishedAt: stampAgo(0)}, Rollback: &ucv1.RollbackStatus{}}, false},
		"in a cluster that was never in-tree": {ucv1.Facts{Origin: ucv1.OriginExternal}, true},
		"in one of which we do not know yet":  {ucv1.Facts{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(start.WantsNodeAgents(tc.facts)).To(Equal(tc.want))
		})
	}
}
