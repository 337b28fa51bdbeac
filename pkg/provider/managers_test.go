package provider_test

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
)

func TestEveryCCMOfTheCatalogueIsRecognized(t *testing.T) {
	catalogue := builtIn()
	for _, name := range catalogue.Names() {
		profile, _ := catalogue.Lookup(name)
		for minor := versions.FirstMinor; minor <= versions.LastMinor; minor++ {
			version := fmt.Sprintf("1.%d.0", minor)
			if _, err := profile.Release(version); err != nil {
				continue
			}
			t.Run(name+" "+version, func(t *testing.T) {
				g := NewWithT(t)
				addons, err := profile.Render(manifest.RenderInput{Version: version, CloudConfig: profile.Example(), ClusterUID: "uid",
					Inherited: ucv1.InheritedConfiguration{ClusterName: "kubernetes"}})
				g.Expect(err).NotTo(HaveOccurred())
				recognized := 0
				g.Expect(manifest.ChangePods(addons.WithNodes().Objects, func(pod *corev1.PodTemplateSpec) {
					if _, is := catalogue.RecognizeManager(nil, &pod.Spec); is {
						recognized++
					}
				})).To(Succeed())
				g.Expect(recognized).To(Equal(len(addons.WithNodes().Workloads)))
				g.Expect(catalogue.ManagerWorkloads(name)).To(ContainElements(addons.CCM.Workloads))
				g.Expect(manifest.ChangePods(addons.CSI.Objects, func(pod *corev1.PodTemplateSpec) {
					_, is := catalogue.RecognizeManager(pod.Labels, &pod.Spec)
					g.Expect(is).To(BeFalse(), "a CSI driver is none")
				})).To(Succeed())
			})
		}
	}
}
