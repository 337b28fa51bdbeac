package migration

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// unready is a finding about two Nodes.
func unready(change func(*observation.Finding)) observation.Finding {
	finding := observation.Finding{
		ID: "NodeNotReady", Reason: ucv1.PreflightFailedReason, Severity: observation.Blocking, Message: "They are not Ready",
		Objects: []string{"Node n1", "Node n2"}, Named: []observation.Ref{observation.NodeRef("n1"), observation.NodeRef("n2")},
		Action: "Fix them.",
	}
	if change != nil {
		change(&finding)
	}
	return finding
}

func found(findings ...observation.Finding) func(*Observation) {
	return func(o *Observation) { o.Findings = observation.Known(findings) }
}

// accepting has the findings, and what a person accepted.
func accepting(findings []observation.Finding, accepted ...ucv1.AcceptedFinding) func(*Observation) {
	return func(o *Observation) {
		o.Findings = observation.Known(findings)
		o.Cluster.Spec.Preflight.Accept = accepted
	}
}

func TestFindingsHoldTheStartBack(t *testing.T) {
	one := []observation.Finding{unready(nil)}
	other := unready(func(f *observation.Finding) {
		f.ID, f.Message, f.Objects, f.Named = "ClockSkew", "The clocks differ.", nil, nil
	})
	unseen := func(f *observation.Finding) {
		unseen := observation.NotLookedAt("the Nodes: timeout")
		unseen.ID, unseen.Reason, unseen.Severity = f.ID, f.Reason, f.Severity
		*f = unseen
	}
	accept := func(objects ...string) ucv1.AcceptedFinding {
		return ucv1.AcceptedFinding{ID: "NodeNotReady", Objects: objects, Reason: "they are being replaced"}
	}
	until := func(a ucv1.AcceptedFinding, d time.Duration) ucv1.AcceptedFinding { a.Until = stampAgo(-d); return a }
	starts := decision{
		given: fresh, step: ucv1.StepPreflight, action: outcome.ActionRecord, says: []string{"Starting the migration"},
	}
	passes := func(when func(*Observation)) decision { starts.when = when; return starts }
	blocks := func(when func(*Observation), says ...string) decision {
		return decision{given: fresh, when: when, step: ucv1.StepPreflight, fails: ucv1.PreflightFailedReason, says: says}
	}
	waits := func(when func(*Observation), says ...string) decision {
		return decision{given: fresh, when: when, step: ucv1.StepPreflight, wait: ucv1.CouldNotLookReason, says: says}
	}
	runDecisions(t, map[string]decision{
		"a blocking one":                                blocks(found(one...), "They are not Ready: Node n1, Node n2. Fix them."),
		"two, in their order":                           blocks(found(unready(nil), other), "The clocks differ. Fix them; 1 more finding: NodeNotReady."),
		"a warning does not":                            passes(found(unready(func(f *observation.Finding) { f.Severity = observation.Warning }))),
		"one that no one could look at":                 waits(found(unready(unseen)), "Could not look at the Nodes: timeout."),
		"two that could not be looked at are told once": waits(found(unready(unseen), unready(unseen)), "Could not look at the Nodes: timeout."),
		"a warning that no one could look at does not":  passes(found(unready(func(f *observation.Finding) { unseen(f); f.Severity = observation.Warning }))),
		"one that needs the cloud does not":             passes(found(unready(func(f *observation.Finding) { unseen(f); f.BeforeRoll = true }))),
		"no one looked":                                 waits(func(o *Observation) { o.Findings = observation.Observed[[]observation.Finding]{} }, "what preflight asks of the cluster"),
		"an accepted one does not":                      passes(accepting(one, accept())),
		"one whose objects are accepted does not":       passes(accepting(one, accept("Node n1", "Node n2"))),
		"one that is accepted in two parts does not":    passes(accepting(one, accept("Node n1"), accept("Node n2"))),
		"one of whose objects another came":             blocks(accepting(one, accept("Node n1")), "Node n1, Node n2"),
		"one that is accepted until later does not":     passes(accepting(one, until(accept(), time.Minute))),
		"one that was accepted until now":               blocks(accepting(one, until(accept(), 0)), "They are not Ready"),
		"another one is accepted":                       blocks(accepting([]observation.Finding{unready(nil), other}, accept()), "The clocks differ."),
		"one that no one could look at, accepted":       passes(accepting([]observation.Finding{unready(unseen)}, accept())),
		"what the Cluster refers to cannot be accepted": {
			given: fresh, step: ucv1.StepPreflight, fails: ucv1.InputInvalidReason, says: []string{"does not exist; create it"},
			when: func(o *Observation) {
				o.CloudConfig = observation.Absent[observation.CloudConfig]()
				o.Cluster.Spec.Preflight.Accept = []ucv1.AcceptedFinding{{ID: start.FindingCloudConfig, Reason: "no"}}
			},
		},
		"after the start nothing is judged": {given: applying, when: found(one...), step: ucv1.StepAddons, action: outcome.ActionApplyAddons},
	})
}

func TestWhatTheCloudSaysHoldsTheRollBack(t *testing.T) {
	refused := unready(func(f *observation.Finding) {
		f.ID, f.BeforeRoll, f.Message, f.Objects, f.Named = "LoadBalancerRefused", true, "The CCM cannot.", nil, nil
	})
	unseen := refused
	unseen.NotLookedAt, unseen.Unseen = true, "the cloud: timeout"
	runDecisions(t, map[string]decision{
		"one that blocks": {
			given: recording, when: found(refused), step: ucv1.StepRoll, fails: ucv1.PreflightFailedReason,
			says: []string{"The CCM cannot. Fix them."},
		},
		"one that no one could look at": {
			given: recording, when: found(unseen), step: ucv1.StepRoll, wait: ucv1.CouldNotLookReason,
			says: []string{"the cloud: timeout"},
		},
		"no one looked": {
			given: recording, when: func(o *Observation) { o.Findings = observation.Observed[[]observation.Finding]{} },
			step: ucv1.StepRoll, wait: ucv1.CouldNotLookReason, says: []string{"what only the cloud can tell"},
		},
		"one of before the start does not": {given: recording, when: found(unready(nil)), step: ucv1.StepRoll, action: outcome.ActionRecord},
		"an accepted one does not": {
			given: recording, when: accepting([]observation.Finding{refused},
				ucv1.AcceptedFinding{ID: "LoadBalancerRefused", Reason: "known"}), step: ucv1.StepRoll, action: outcome.ActionRecord,
		},
		"a roll that began is not held back": {given: rolling, when: found(refused), step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment},
	})
}

func TestFindingsAreTold(t *testing.T) {
	g := NewWithT(t)
	o := fresh()
	warning := unready(func(f *observation.Finding) { f.ID, f.Severity = "LeaseLong", observation.Warning })
	accepting([]observation.Finding{warning, unready(nil)}, ucv1.AcceptedFinding{ID: "NodeNotReady", Reason: "known"})(&o)
	o.CloudConfig = observation.Absent[observation.CloudConfig]()
	findings := Decide(o, noon()).Findings
	g.Expect(findings).To(HaveLen(3))
	g.Expect(findings[0]).To(And(HaveField("ID", start.FindingCloudConfig), HaveField("Severity", observation.Blocking)))
	g.Expect(findings[1]).To(
		And(HaveField("ID", "NodeNotReady"), HaveField("Accepted", true), HaveField("AcceptedBecause", "known")),
	)
	g.Expect(findings[2].ID).To(Equal("LeaseLong"))
	g.Expect(o.Findings.Value()[1].Accepted).To(BeFalse(), "what was observed is not changed")
}

func TestTheMessageIsBounded(t *testing.T) {
	g := NewWithT(t)
	o := fresh()
	var many []observation.Finding
	for i := range 13 {
		many = append(many, unready(func(f *observation.Finding) { f.ID = fmt.Sprintf("Check%02d", i) }))
	}
	found(many...)(&o)
	g.Expect(Decide(o, noon()).Calls().Message).To(ContainSubstring("12 more findings: "))
	g.Expect(Decide(o, noon()).Findings).To(HaveLen(len(many)))
}

func TestAClusterCreatedWithTheFeatureTellsAllItsFindings(t *testing.T) {
	g := NewWithT(t)
	o := external()
	o.CloudConfig, o.ControlPlane = observation.Absent[observation.CloudConfig](), observation.Absent[observation.ControlPlane]()
	g.Expect(Decide(o, noon()).Findings).To(ConsistOf(HaveField("ID", "CloudConfigUnusable"), HaveField("ID", "ControlPlaneUnusable")))
}

func TestWhatWasJudgedAndFoundNothingIsNoSilence(t *testing.T) {
	g := NewWithT(t)
	o := fresh()
	o.Findings = observation.Known([]observation.Finding{})
	g.Expect(Decide(o, noon()).Findings).To(And(Not(BeNil()), BeEmpty()))
	o.Findings = observation.Unknown[[]observation.Finding]("it hangs")
	g.Expect(Decide(o, noon()).Findings).To(BeNil(), "no one judged")
	o.CloudConfig = observation.Absent[observation.CloudConfig]()
	g.Expect(Decide(o, noon()).Findings).To(HaveLen(1), "what is known is said all the same")
}
