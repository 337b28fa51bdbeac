package provider_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
)

func TestFenceIsAlsoForTheLeaseThatTheCCMWorksWith(t *testing.T) {
	g := NewWithT(t)
	azure, _ := builtIn().Lookup("azure")
	fence := grantsOf(g, render.FenceObjects(azure.Identity()), azure.Identity())
	g.Expect(fence.rules).To(
		ContainElement(HaveField("ResourceNames", Equal([]string{"cloud-controller-manager", "aks-managed-resource-locker"}))),
	)
	addons := rendered(g, "azure", azure, 36)
	probe, err := render.Probe(addons.CCM, azure.Identity())
	g.Expect(err).NotTo(HaveOccurred())
	granted := grantsOf(g, probe.Objects, render.ProbeIdentity(azure.Identity()))
	g.Expect(granted.rules).To(HaveEach(HaveField("ResourceNames", Equal([]string{"cloud-controller-manager-probe"}))))
}
