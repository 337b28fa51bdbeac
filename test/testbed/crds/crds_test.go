package crds_test

import (
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/crds"
)

func TestDefinitions(t *testing.T) {
	tests := map[string]struct {
		name, short string
		status      bool
	}{
		"MachineDeployment has status and scale":   {"machinedeployments.cluster.k8s.io", "md", true},
		"MachineSet has status and scale":          {"machinesets.cluster.k8s.io", "ms", true},
		"Machine has no status subresource at all": {"machines.cluster.k8s.io", "ma", false},
	}
	g := NewWithT(t)
	all, err := crds.All()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all).To(HaveLen(len(tests)))
	byName := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, crd := range all {
		byName[crd.Name] = crd
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			crd := byName[test.name]
			g.Expect(crd).NotTo(BeNil())
			g.Expect(crd.Spec.Names.ShortNames).To(ConsistOf(test.short))
			version := crd.Spec.Versions[0]
			g.Expect(version.Name).To(Equal("v1alpha1"))
			g.Expect(*version.Schema.OpenAPIV3Schema.XPreserveUnknownFields).To(BeTrue())
			if !test.status {
				g.Expect(version.Subresources).To(BeNil())
				return
			}
			g.Expect(version.Subresources.Status).NotTo(BeNil())
			g.Expect(version.Subresources.Scale.SpecReplicasPath).To(Equal(".spec.replicas"))
		})
	}
}
