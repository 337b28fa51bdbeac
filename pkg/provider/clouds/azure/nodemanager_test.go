package azure_test

import (
	"fmt"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/azure"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func nodeManager(g Gomega, version string, inherited ucv1.InheritedConfiguration) *appsv1.DaemonSet {
	addons, err := azure.Profile{}.Render(manifest.RenderInput{Version: version, Inherited: inherited,
		CloudConfig: inFile(client + `, "vmType": "vmss", "loadBalancerSku": "standard", "routeTableName": "nodes"`)})
	g.Expect(err).NotTo(HaveOccurred())
	set := addons.Nodes
	g.Expect(set.Workloads).To(
		Equal([]observation.Ref{{Kind: "DaemonSet", Namespace: "kube-system", Name: "azure-cloud-node-manager"}}),
	)
	made := &appsv1.DaemonSet{}
	last := set.Objects[len(set.Objects)-1]
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(last.Object, made, true)).To(Succeed())
	return made
}

func TestNodeManagerRunsOnEveryNodeWithoutCredentials(t *testing.T) {
	for minor := 24; minor <= 36; minor++ {
		t.Run(fmt.Sprintf("1.%d", minor), func(t *testing.T) {
			g := NewWithT(t)
			in := manifest.RenderInput{Version: fmt.Sprintf("1.%d.1", minor), Inherited: migrated(), CloudConfig: inFile(client)}
			pod := nodeManager(g, in.Version, in.Inherited).Spec.Template.Spec
			g.Expect(pod.HostNetwork).To(BeTrue())
			g.Expect(pod.Tolerations).To(Equal([]corev1.Toleration{{Operator: corev1.TolerationOpExists}}))
			g.Expect(pod.Volumes).To(BeEmpty())
			g.Expect(*pod.SecurityContext.RunAsNonRoot).To(BeTrue())
			addons, err := azure.Profile{}.Render(in)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(pod.Containers[0].Image).To(HaveSuffix("/kubernetes/azure-cloud-node-manager:" + addons.CCM.Version))
			for _, object := range append(addons.CCM.Objects, addons.CSI.Objects...) {
				g.Expect(object.GetName()).NotTo(HavePrefix("azure-cloud-node-manager"), "it is applied after the CCM leads")
			}
		})
	}
}

func TestNodesWaitForRoutesOnlyIfTheCCMMakesThem(t *testing.T) {
	tests := map[string]struct {
		loops []string
		want  string
	}{
		"KCM ran the route loop":      {[]string{observation.RouteLoop}, "--wait-routes=true"},
		"KCM ran other loops only":    {[]string{observation.ServiceLoop}, "--wait-routes=false"},
		"external from the beginning": {nil, "--wait-routes=true"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			inherited := ucv1.InheritedConfiguration{
				ClusterName:          "a",
				ClusterCIDR:          "10.0.0.0/8",
				ConfigureCloudRoutes: true,
				Loops:                test.loops,
			}
			g.Expect(nodeManager(g, "1.30.0", inherited).Spec.Template.Spec.Containers[0].Args).To(ContainElement(test.want))
		})
	}
}

// The CCM's main has no flags for webhooks, and an unknown flag ends it.
func TestTheCCMGetsNoFlagsThatItDoesNotKnow(t *testing.T) {
	for minor := 24; minor <= 36; minor++ {
		g := NewWithT(t)
		addons, err := azure.Profile{}.Render(manifest.RenderInput{
			Version: fmt.Sprintf("1.%d.1", minor), Inherited: migrated(), CloudConfig: inFile(client),
		})
		g.Expect(err).NotTo(HaveOccurred())
		ccm := &appsv1.Deployment{}
		last := addons.CCM.Objects[len(addons.CCM.Objects)-1]
		g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(last.Object, ccm)).To(Succeed())
		arguments := ccm.Spec.Template.Spec.Containers[0].Args
		g.Expect(arguments).NotTo(ContainElement(ContainSubstring("webhook")))
		g.Expect(arguments).To(ContainElement("--controllers=*,-cloud-node,-node-ipam"))
	}
}

func TestDescription(t *testing.T) {
	g := NewWithT(t)
	description := azure.Profile{}.Describe()
	const machines = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/"
	form := regexp.MustCompile(description.ProviderID)
	for id, want := range map[string]bool{
		"azure://" + machines + "virtualMachines/a":                                               true,
		"azure:///subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualMachines/a": true,
		"azure://" + machines + "virtualMachineScaleSets/a/virtualMachines/0":                     true,
		"azure://" + machines + "disks/a":                                                         false,
		"azure://" + machines + "virtualMachines/":                                                false,
		"openstack:///a": false,
	} {
		g.Expect(form.MatchString(id)).To(Equal(want), id)
	}
	for _, hazard := range description.Hazards {
		g.Expect(hazard.Text).To(HaveSuffix("."))
		g.Expect(hazard.Link).To(HavePrefix("https://github.com/"))
	}
	for _, rule := range description.Rules {
		g.Expect(rule.Operations).NotTo(BeEmpty())
		g.Expect(rule.Link).To(HavePrefix("https://github.com/"))
	}
}
