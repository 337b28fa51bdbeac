package migration

import (
	"testing"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// TestKubeletsAreProvenExternal: an in-tree Node has everything else that Verify asks for.
func TestKubeletsAreProvenExternal(t *testing.T) {
	inTree := func(n *observation.Node) { n.Kubelet = observation.Kubelet{InTree: "it set its providerID itself"} }
	unproven := func(n *observation.Node) { n.Kubelet = observation.Kubelet{} }
	halts := func(change func(*observation.Node), says ...string) decision {
		return decision{
			given: verifying,
			when:  firstNode(change),
			step:  ucv1.StepRoll,
			fails: ucv1.KubeletsNotExternalReason,
			says:  says,
		}
	}
	runDecisions(t, map[string]decision{
		"an in-tree kubelet under an external Machine halts the roll": halts(
			inTree,
			"Node n1 of Machine",
			"has a kubelet with the in-tree cloud provider",
		),
		"a kubelet that nothing proves halts the roll once it had its time": halts(unproven, "shows no proof that its kubelet is "+
			"external", "spec.rollout.acceptNodes"),
		"a Node that is older than its Machine proves nothing": halts(
			func(n *observation.Node) { n.CreatedAt = ago(26 * 60e9) },
			"is older than its Machine",
		),
		"an in-tree kubelet is not given time": halts(
			func(n *observation.Node) { inTree(n); n.CreatedAt = ago(0) },
			"in-tree cloud provider",
		),
		"a proof is waited for while the Node is new": {
			given: verifying,
			when:  firstNode(func(n *observation.Node) { unproven(n); n.CreatedAt = ago(0) }),
			step:  ucv1.StepRoll,
			wait:  ucv1.WaitingForMachinesReason,
		},
		"a Node that a person vouches for needs no proof": {
			given: verifying, when: func(o *Observation) {
				firstNode(unproven)(o)
				o.Cluster.Spec.Rollout.AcceptNodes = []string{"n1"}
			},
			step: ucv1.StepVerify, action: outcome.ActionRecord,
		},
		"a Node that is not initialized is not judged before it is": {
			given: verifying, when: firstNode(func(n *observation.Node) { unproven(n); n.Uninitialized, n.CreatedAt = true, ago(0) }),
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
		},
	})
}
