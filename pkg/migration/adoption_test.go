package migration

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

func theirs(fields ...string) observation.AddonSet {
	const object = "Deployment kube-system/ccm (Helm release occm)"
	return observation.AddonSet{
		Foreign: messages.Said(object), Takeovers: []observation.Takeover{
			{Object: object, Ref: messages.Said(object)[0].Objects[0], Fields: fields},
		},
	}
}

func adopting(set observation.AddonSet, plan *ucv1.AdoptionStatus) func() Observation {
	return func() Observation {
		o := applying()
		o.Cluster.Spec.Addons.Adoption = ucv1.Adopt
		o.Cluster.Status.Adoption = plan
		o.Addons = observation.Known(observation.Addons{CCM: set})
		return o
	}
}

func plannedAgo(d time.Duration, lines ...string) *ucv1.AdoptionStatus {
	return &ucv1.AdoptionStatus{PlannedAt: metav1.NewTime(ago(d)), Changes: lines}
}

func TestAdoption(t *testing.T) {
	set := theirs("spec.replicas", "spec.template.spec.containers[ccm].image", "spec.template.spec.nodeName")
	const line = "Deployment kube-system/ccm (Helm release occm): spec.replicas, spec.template.spec.containers[ccm].image, " +
		"spec.template.spec.nodeName"
	never := func() Observation {
		o := adopting(set, nil)()
		o.Cluster.Spec.Addons.Adoption = ""
		return o
	}
	runDecisions(t, map[string]decision{
		"without it the message says what it would change, and how to see all of it": {
			given: never, step: ucv1.StepAddons, fails: ucv1.ForeignObjectsReason, says: []string{
				"were not created for this Cluster: Deployment kube-system/ccm (Helm release occm). Delete them, or set " +
					"spec.addons.adoption to Adopt",
				"spec.replicas, spec.template.spec.containers[ccm].image and 1 more field",
				"ccm-migration-controller adoption alpha -n user-alpha",
			},
		},
		"why a driver does not satisfy is said": {
			given: never, when: func(o *Observation) {
				o.Addons = observation.Known(
					observation.Addons{
						CSI: observation.AddonSet{
							Foreign: messages.Said("CSIDriver cinder"), DriverProblem: messages.Said(
								"CSIDriver cinder is registered on 0 of 2 Nodes.",
							)[0],
						},
					},
				)
			},
			step: ucv1.StepAddons, fails: ucv1.ForeignObjectsReason, says: []string{
				"were not created for this Cluster: CSIDriver cinder; CSIDriver cinder is registered on 0 of 2 Nodes. Delete them",
			},
		},
		"with it the plan is written first": {
			given: adopting(set, nil), step: ucv1.StepAddons, action: outcome.ActionRecord,
			says:  []string{"before it is done", "spec.replicas"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Adoption).To(HaveValue(Equal(*plannedAgo(0, line)))) },
		},
		"a plan that stands there for less than a minute is waited for": {
			given: adopting(set, plannedAgo(40*time.Second, line)), step: ucv1.StepAddons, wait: ucv1.AdoptionPlannedReason,
			says: []string{"To keep them"},
		},
		"then it is done": {given: adopting(set, plannedAgo(time.Minute, "another", line)), step: ucv1.StepAddons, action: outcome.ActionApplyAddons},
		"another change is another plan": {
			given: adopting(set, plannedAgo(time.Hour, "another")), step: ucv1.StepAddons, action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Adoption.Changes).To(Equal([]string{line})) },
		},
		"what the API server refuses is not tried": {
			given: adopting(observation.AddonSet{Foreign: messages.Said("a"),
				Takeovers: []observation.Takeover{{Object: "a",
					Problem: "the API server refuses the change of spec.selector, which is immutable"}}}, nil),
			step: ucv1.StepAddons, fails: ucv1.ForeignObjectsReason,
			says: []string{"cannot be adopted: a: the API server refuses the change of spec.selector", "Delete them."},
		},
	})
}

func TestAdoptionInTheHandoverWaitsForNoOne(t *testing.T) {
	g := NewWithT(t)
	o := fenced()
	o.Cluster.Spec.Addons.Adoption, o.Cluster.Status.Adoption = ucv1.Adopt, plannedAgo(
		time.Second, "Deployment kube-system/ccm (Helm release occm): spec.replicas",
	)
	o.Addons = observation.Known(observation.Addons{CCM: theirs("spec.replicas")})
	g.Expect(Decide(o, noon()).Next()).To(HaveField("Kind", outcome.ActionApplyAddons))
}

func TestAWithheldWorkloadIsNotAdoptedYet(t *testing.T) {
	g := NewWithT(t)
	set := theirs("spec.replicas")
	set.WorkloadWithheld = true
	g.Expect(set.Due().Foreign).To(BeEmpty())
	set.Takeovers = append(
		set.Takeovers, observation.Takeover{
			Object: "Role kube-system/ccm", Ref: observation.Ref{Kind: "Role", Namespace: "kube-system", Name: "ccm"},
		},
	)
	g.Expect(set.Due().Foreign).To(Equal(messages.Said("Role kube-system/ccm")))
}

func TestAPlanIsBounded(t *testing.T) {
	g := NewWithT(t)
	set := observation.AddonSet{}
	for i := range 100 {
		object := fmt.Sprintf("ConfigMap kube-system/%d", i)
		set.Foreign = append(set.Foreign, messages.Said(object)...)
		set.Takeovers = append(
			set.Takeovers, observation.Takeover{
				Object: object, Ref: messages.Said(object)[0].Objects[0], Fields: []string{fmt.Sprintf("data.%0600d", 0)},
			},
		)
	}
	d := Decide(adopting(set, nil)(), noon())
	g.Expect(d.Facts.Adoption.Changes).To(And(HaveLen(64), HaveEach(HaveLen(512))))
	g.Expect(
		Decide(adopting(set, plannedAgo(time.Minute, d.Facts.Adoption.Changes...))(), noon()).Next(),
	).To(HaveField("Kind", outcome.ActionApplyAddons), "it ends")
}
