package provider_test

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
)

func TestEveryCCMHasAProbe(t *testing.T) {
	catalogue := everyProvider()
	for _, name := range catalogue.Names() {
		profile, _ := catalogue.Lookup(name)
		for minor := range 100 {
			version := fmt.Sprintf("1.%d.0", minor)
			if profile.Facts(version).VersionProblem != "" {
				continue
			}
			t.Run(name+" "+version, func(t *testing.T) {
				g := NewWithT(t)
				addons, err := profile.Render(manifest.RenderInput{
					Version: version, CloudConfig: cloudConfigs()[name], ClusterUID: "6f4cbf1e-0a2f-4b7e-9d0c-1c0d2f3a4b5c",
					Inherited: ucv1.InheritedConfiguration{ClusterName: "kubernetes"},
				})
				g.Expect(err).NotTo(HaveOccurred())
				id := profile.Identity()
				probe, err := render.Probe(addons.CCM, id)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(probe.Workloads).To(HaveLen(1))
				deployment := &appsv1.Deployment{}
				names := map[string]bool{}
				for _, object := range addons.CCM.Objects {
					names[object.GetKind()+"/"+object.GetName()] = true
				}
				granted := grantsOf(g, probe.Objects, render.ProbeIdentity(id))
				g.Expect(granted.rules).To(HaveExactElements(HaveField("Verbs", ConsistOf("get", "update", "patch"))),
					"it may not create the Lease, which would be there again when the probe is deleted")
				for _, object := range probe.Objects {
					g.Expect(names).NotTo(HaveKey(object.GetKind()+"/"+object.GetName()), "nothing of the CCM's is touched")
					if object.GetKind() == "Deployment" {
						g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment)).To(Succeed())
					}
				}
				pod := deployment.Spec.Template.Spec
				g.Expect(pod.ServiceAccountName).To(Equal(id.ServiceAccountName + "-probe"))
				g.Expect(pod.Containers[0].Args).To(ContainElements(
					"--leader-elect=true", "--leader-elect-resource-name="+id.LeaseName+"-probe",
					"--controllers=-cloud-node,-cloud-node-lifecycle,-route,-service", "--cluster-name=kubernetes"))
				g.Expect(*deployment.Spec.Replicas).To(Equal(int32(1)))
			})
		}
	}
}
