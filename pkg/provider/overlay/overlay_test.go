package overlay_test

import (
	"errors"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/contents"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/overlay"
)

// nimbus is a provider of some minors, whose CCM has a sidecar and another flag from 1.30 on.
type nimbus struct {
	broken bool
}

func (nimbus) Example() map[string][]byte { return nil }

func (nimbus) Release(version string) (manifest.Release, error) {
	if minor, err := manifest.Minor(version); err != nil || minor < 27 || minor == 29 || minor > 31 {
		return manifest.Release{}, errors.New("not in the catalogue")
	}
	return manifest.Release{CCM: "v1", CSI: "v1"}, nil
}

func (n nimbus) Render(in manifest.RenderInput) (manifest.Addons, error) {
	if n.broken {
		return manifest.Addons{}, errors.New("render nimbus: it rains")
	}
	pod := corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "init", Image: "localhost:5000/nimbus/init:v1"}},
		Containers:     []corev1.Container{{Name: "ccm", Image: "localhost:5000/nimbus/ccm:v1", Command: []string{"ccm", "-old_flag"}}},
	}
	if minor, _ := manifest.Minor(in.Version); minor >= 30 {
		sidecar := corev1.Container{Name: "sidecar", Image: "localhost:5000/nimbus/sidecar:v2", Args: []string{"--of-sidecar=1"}}
		pod.Containers = []corev1.Container{sidecar, pod.Containers[0]}
		pod.Containers[1].Args = []string{"--new-flag", "value"}
	}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: manifest.Namespace, Name: "nimbus-ccm"},
		Spec:       appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: pod}},
	}
	set, err := manifest.NewSet("nimbus-ccm", "v1", []manifest.Object{manifest.ServiceAccount("nimbus"), deployment})
	return manifest.Addons{CCM: set}, err
}

func problems(of nimbus, spec ucv1.ProviderProfileSpec) []string {
	spec.ProviderName = "nimbus"
	return overlay.Problems(spec, contents.Of(of), nil)
}

func TestProfilesAreJudgedByAllMinors(t *testing.T) {
	const sidecar = "localhost:5000/nimbus/sidecar"
	image := func(name, minor string) ucv1.ProviderProfileSpec {
		return ucv1.ProviderProfileSpec{Images: []ucv1.ImageOverride{{Image: name, Kubernetes: minor, Tag: "v9"}}}
	}
	argument := func(text string) ucv1.ProviderProfileSpec {
		return ucv1.ProviderProfileSpec{Workloads: []ucv1.WorkloadOverride{{Name: "nimbus-ccm", ExtraArguments: []string{text}}}}
	}
	for name, tc := range map[string]struct {
		spec ucv1.ProviderProfileSpec
		want []string
	}{
		"an image of some minors":         {image(sidecar, ""), nil},
		"an image in a minor that has it": {image(sidecar, "1.30"), nil},
		"an image in a minor that has it not": {image(sidecar, "1.28"), []string{"spec.images[0]: image " + sidecar +
			" is not used with Kubernetes 1.28 but with 1.30 to 1.31."}},
		"a minor between those of the catalogue": {image(sidecar, "1.29"), []string{`spec.images[0].kubernetes "1.29" is not in the catalogue of nimbus, which has 1.27 to 1.28, 1.30 to 1.31.`}},
		"an image that starts first":             {image("localhost:5000/nimbus/init", ""), nil},
		"a flag of the sidecar":                  {argument("--of-sidecar=2"), nil},
		"a flag that only some minors pass": {argument("--new-flag=2"), []string{"spec.workloads[0].extraArguments[0]: the " +
			"catalogue passes --new-flag already; take it out."}},
		"a flag of the command, with one dash and a low": {argument("--old-flag=2"), []string{"spec.workloads[0].extraArguments[0]: " +
			"the catalogue passes --old-flag already; take it out."}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(problems(nimbus{}, tc.spec)).To(Equal(tc.want))
		})
	}
}

func TestACatalogueThatCannotBeRenderedIsSaid(t *testing.T) {
	g := NewWithT(t)
	g.Expect(problems(nimbus{broken: true}, ucv1.ProviderProfileSpec{})).To(
		ConsistOf("the catalogue cannot be rendered: render nimbus: it rains."),
	)
}

func TestTheLastContainerIsChanged(t *testing.T) {
	for minor, containers := range map[int]int{28: 1, 31: 2} {
		t.Run(fmt.Sprintf("1.%d", minor), func(t *testing.T) {
			g := NewWithT(t)
			version := fmt.Sprintf("v1.%d.7", minor)
			addons, err := nimbus{}.Render(manifest.RenderInput{Version: version})
			g.Expect(err).NotTo(HaveOccurred())
			spec := ucv1.ProviderProfileSpec{
				ProviderName: "nimbus", Mirrors: []ucv1.ImageMirror{{Source: "localhost:5000", Mirror: "mirror.example.com/a"}},
				Workloads: []ucv1.WorkloadOverride{{Name: "nimbus-ccm", ExtraArguments: []string{"--more=1"}}},
			}
			g.Expect(problems(nimbus{}, spec)).To(BeEmpty())
			made, err := overlay.Lay(addons, spec, minor)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(made.CCM.Objects[0]).To(Equal(addons.CCM.Objects[0]))
			g.Expect(manifest.ChangePods(made.CCM.Objects, func(pod *corev1.PodTemplateSpec) {
				g.Expect(pod.Spec.InitContainers[0].Image).To(Equal("mirror.example.com/a/nimbus/init:v1"))
				g.Expect(pod.Spec.Containers).To(HaveLen(containers))
				for i, container := range pod.Spec.Containers {
					g.Expect(container.Image).To(HavePrefix("mirror.example.com/a/nimbus/"))
					if last := i == containers-1; last {
						g.Expect(container.Args).To(ContainElement("--more=1"))
					} else {
						g.Expect(container.Args).To(Equal([]string{"--of-sidecar=1"}))
					}
				}
			})).To(Succeed())
		})
	}
}
