package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// keeping is a Roll or Verify with these proofs kept.
func keeping(proofs map[string]observation.Proof) func() Observation {
	return func() Observation {
		o := verifying()
		o.Proofs = observation.Known(
			observation.KeptProofs{Secret: observation.Ref{Kind: "Secret", Name: "baseline", UID: "s"}, Version: "9", ByNode: proofs},
		)
		return o
	}
}

func TestProofsAreKeptWhenTheyChange(t *testing.T) {
	kept := map[string]observation.Proof{"uid-n1": observation.TaintSeen}
	for name, test := range map[string]struct {
		given func() Observation
		when  func(*Observation)
		want  map[string]observation.Proof
	}{
		"a taint that was seen is kept":               {given: keeping(nil), want: kept},
		"an event that was seen is kept":              {given: keeping(nil), when: firstNode(func(n *observation.Node) { n.Kubelet.External = observation.SyncedSeen }), want: map[string]observation.Proof{"uid-n1": observation.SyncedSeen}},
		"what is kept is not written again":           {given: keeping(kept)},
		"what the world goes on showing is not kept":  {given: keeping(nil), when: firstNode(func(n *observation.Node) { n.Kubelet.External = observation.ProviderIDOwned })},
		"that of a Node that is gone is removed":      {given: keeping(map[string]observation.Proof{"uid-n1": observation.TaintSeen, "uid-gone": observation.TaintSeen}), want: kept},
		"a Secret that cannot be read is not written": {given: keeping(nil), when: func(o *Observation) { o.Proofs = observation.Unknown[observation.KeptProofs]("timeout") }},
		"without a Secret there is nothing to write":  {given: keeping(nil), when: func(o *Observation) { o.Proofs = observation.Absent[observation.KeptProofs]() }},
		"without the Nodes nothing is taken for gone": {given: keeping(kept), when: func(o *Observation) { o.Nodes = observation.Unknown[[]observation.Node]("timeout") }},
		"nothing is kept any more of a completed one": {given: keeping(nil), when: func(o *Observation) { o.Cluster.Status.CompletedAt = stampAgo(time.Minute) }},
		"it holds up no action that does not rest on them": {given: keeping(nil), when: func(o *Observation) {
			o.Addons = observation.Known(observation.Addons{Obsolete: []observation.Ref{{Kind: "Role", Name: "r"}}})
		}},
		"a pause keeps them all the same": {given: keeping(nil), when: func(o *Observation) { o.Cluster.Spec.Paused = true }, want: kept},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := test.given()
			if test.when != nil {
				test.when(&o)
			}
			decision := Decide(o, noon())
			if test.want == nil {
				g.Expect(decision.Proofs).To(BeNil())
				return
			}
			g.Expect(decision.Proofs).To(
				HaveValue(And(HaveField("ByNode", test.want), HaveField("Secret.UID", "s"), HaveField("Version", "9"))),
			)
		})
	}
}

func TestKeptProofsCount(t *testing.T) {
	missed := func(o *Observation) {
		firstNode(func(n *observation.Node) { n.Kubelet = observation.Kubelet{} })(o)
	}
	with := func(proofs observation.Observed[observation.KeptProofs]) func(*Observation) {
		return func(o *Observation) {
			missed(o)
			o.Proofs = proofs
			o.Nodes = baseline.WithProofs(o.Nodes, o.Proofs)
		}
	}
	of := func(uid string, proof observation.Proof) observation.Observed[observation.KeptProofs] {
		return observation.Known(observation.KeptProofs{ByNode: map[string]observation.Proof{uid: proof}})
	}
	missing := decision{given: verifying, step: ucv1.StepRoll, fails: ucv1.KubeletsNotExternalReason, says: []string{"Node n1"}}
	when := func(d decision, proofs observation.Observed[observation.KeptProofs]) decision {
		d.when = with(proofs)
		return d
	}
	runDecisions(t, map[string]decision{
		"a proof that was kept is one": {
			given:  verifying,
			when:   with(of("uid-n1", observation.TaintSeen)),
			step:   ucv1.StepVerify,
			action: outcome.ActionRecord,
		},
		"one of a kubelet that shows itself to be in-tree is none": {given: verifying, when: func(o *Observation) {
			firstNode(func(n *observation.Node) {
				n.Kubelet = observation.Kubelet{InTree: "it set its providerID and its zone itself"}
			})(o)
			o.Proofs = of("uid-n1", observation.TaintSeen)
			o.Nodes = baseline.WithProofs(o.Nodes, o.Proofs)
		}, step: ucv1.StepRoll, fails: ucv1.KubeletsNotExternalReason, says: []string{"in-tree"}},
		"one of another Node of that name is none":        when(missing, of("uid-before", observation.TaintSeen)),
		"a word that is not known is none":                when(missing, of("uid-n1", "Believe me")),
		"one that was missed calls a person by name":      when(missing, observation.Known(observation.KeptProofs{})),
		"one whose Secret is gone calls a person by name": when(missing, observation.Absent[observation.KeptProofs]()),
		"one that cannot be looked at is not called missed": {
			given: verifying,
			when:  with(observation.Unknown[observation.KeptProofs]("timeout")),
			step:  ucv1.StepRoll,
			wait:  ucv1.CouldNotLookReason,
			says:  []string{"timeout"},
		},
	})
}

func TestProvenKubeletsAreCounted(t *testing.T) {
	g := NewWithT(t)
	count := func(when ...func(*Observation)) *ucv1.ProvenCount {
		o := verifying()
		for _, change := range when {
			change(&o)
		}
		progress, ok := rollout.ProgressOf(o, noon())
		g.Expect(ok).To(BeTrue())
		return progress.Nodes.Proven
	}
	proof := func(proof observation.Proof) func(*Observation) {
		return firstNode(func(n *observation.Node) { n.Kubelet.External = proof })
	}
	g.Expect(count()).To(HaveValue(Equal(ucv1.ProvenCount{Total: 1, Taint: 1})))
	g.Expect(count(proof(observation.SyncedSeen))).To(HaveValue(Equal(ucv1.ProvenCount{Total: 1, Synced: 1})))
	g.Expect(count(proof(observation.ProviderIDOwned))).To(HaveValue(Equal(ucv1.ProvenCount{Total: 1, ProviderID: 1})))
	g.Expect(count(proof(""))).To(HaveValue(BeZero()))
	g.Expect(count(firstNode(func(n *observation.Node) { n.CreatedAt = ago(26 * time.Minute) }))).To(
		HaveValue(BeZero()),
		"it is older than its Machine",
	)
	g.Expect(count(func(o *Observation) { o.Cluster.Status.Baseline = nil })).To(BeNil())
}
