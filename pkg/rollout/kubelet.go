package rollout

import (
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// kubeletLacks is what keeps a Node's kubelet from counting as external; empty: nothing does. A Node that is older than its
// Machine was registered before, under the same name, and what was seen of it then proves nothing about the kubelet that runs
// now.
func (v machineView) kubeletLacks(node observation.Node, machine observation.Machine) string {
	switch {
	case v.rollback || slices.Contains(v.accepted, node.Name):
		return ""
	case node.CreatedAt.Before(machine.CreatedAt):
		return "is older than its Machine, so nothing shows that its kubelet is external"
	case node.Kubelet.External != "":
		return ""
	case node.Kubelet.InTree != "":
		return "has a kubelet with the in-tree cloud provider: " + node.Kubelet.InTree
	}
	return "shows no proof that its kubelet is external"
}

// inTreeKubelets are Nodes of new Machines that joined in-tree, or whose proof was missed: one that the CCM initialized has had
// the time to show it.
func inTreeKubelets(v machineView) []observation.Text {
	var names []observation.Text
	for _, machine := range v.machines.Machines {
		node, found := v.nodes[machine.NodeName]
		if !found || machine.NodeName == "" || machine.Deleting || !v.upToDate(machine) || !v.served(node) {
			continue
		}
		lacks := v.kubeletLacks(node, machine)
		if lacks != "" && (node.Kubelet.InTree != "" || v.proofsSeen && v.now.Sub(node.CreatedAt) > v.initialization) {
			names = append(names, observation.Say(node, " of ", machine, " "+lacks))
		}
	}
	return names
}

// kubeletsExternal halts a roll whose new Nodes are not what the migration promises.
func kubeletsExternal(v machineView) outcome.Outcome {
	if names := inTreeKubelets(v); len(names) > 0 {
		return outcome.Fails(
			ucv1.KubeletsNotExternalReason,
			"Nothing more is rolled, because new kubelets are not proven external: ", observation.Names(names),
			". Correct what writes their configuration and delete the Machine; or name a Node that you checked in "+
				"spec.rollout.acceptNodes.",
		)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}
