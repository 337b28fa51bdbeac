package migration

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func TestRefsAreFoundInMessages(t *testing.T) {
	for name, tc := range map[string]struct {
		message string
		want    []observation.Ref
	}{
		"namespaced, in their order": {
			"These cannot be rolled: Machine kube-system/pet has no MachineDeployment; delete it, MachineDeployment kube-system/held " +
				"is paused.",
			[]observation.Ref{{Kind: "Machine", Namespace: "kube-system", Name: "pet"}, {Kind: "MachineDeployment", Namespace: "kube-system", Name: "held"}},
		},
		"at the end of a sentence": {"Waiting for Deployment user-a/kcm.", []observation.Ref{{Kind: "Deployment", Namespace: "user-a", Name: "kcm"}}},
		"of the whole cluster":     {"Node cp-1.example is not Ready.", []observation.Ref{{Kind: "Node", Name: "cp-1.example"}}},
		"no name of a Node":        {"Waiting until every Node is Ready.", nil},
		"no Kind at all":           {"Step Handover: The cloud loops are off.", nil},
		"as refs are written":      {observation.Ref{Kind: "Node", Name: "a"}.String(), []observation.Ref{{Kind: "Node", Name: "a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(RefsIn(tc.message)).To(Equal(tc.want))
		})
	}
}
