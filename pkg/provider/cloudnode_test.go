package provider_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
)

func TestTheLoopCloudNodeCanBeTakenFromEveryCCM(t *testing.T) {
	forEach(t, func(g Gomega, name string, profile provider.Profile, minor int) {
		addons, err := profile.Render(input(name, minor))
		g.Expect(err).NotTo(HaveOccurred())
		before := ccmArguments(g, addons.CCM)
		without, err := render.WithoutCloudNode(addons.CCM, profile.Identity())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(ccmArguments(g, addons.CCM)).To(Equal(before), "the input is left alone")

		want := slices.Clone(before)
		at := slices.IndexFunc(want, func(argument string) bool { return strings.HasPrefix(argument, "--controllers=*") })
		// From 1.28 on that is an alias, and before it is the only name.
		want[at] += ",-cloud-node"
		g.Expect(ccmArguments(g, without)).To(Equal(want))
		g.Expect(without.Workloads).To(Equal(addons.CCM.Workloads))
	})
}

func TestNoOtherContainerLosesTheLoop(t *testing.T) {
	g := NewWithT(t)
	profile, _ := builtIn().Lookup("simcloud")
	addons, err := profile.Render(input("simcloud", 30))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = render.WithoutCloudNode(addons.CSI, profile.Identity())
	g.Expect(err).To(MatchError("take the loop cloud-node from the CCM: no single container has its list of controllers"))
}

func ccmArguments(g Gomega, set manifest.Set) []string {
	for _, object := range set.Objects {
		if object.GetKind() == "Deployment" {
			deployment := &appsv1.Deployment{}
			g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment)).To(Succeed())
			return deployment.Spec.Template.Spec.Containers[0].Args
		}
	}
	return nil
}
