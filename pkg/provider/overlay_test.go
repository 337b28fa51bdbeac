package provider_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
)

const (
	ccmName    = "openstack-cloud-controller-manager"
	ccmImage   = "registry.k8s.io/provider-os/" + ccmName
	controller = "openstack-cinder-csi-controller"
	attacher   = "registry.k8s.io/sig-storage/csi-attacher"
	digest     = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// profileWith is a profile of OpenStack.
func profileWith(change func(*ucv1.ProviderProfileSpec)) ucv1.ProviderProfileSpec {
	spec := ucv1.ProviderProfileSpec{ProviderName: "openstack"}
	change(&spec)
	return spec
}

func withImages(images ...ucv1.ImageOverride) ucv1.ProviderProfileSpec {
	return profileWith(func(spec *ucv1.ProviderProfileSpec) { spec.Images = images })
}

func withMirrors(mirrors ...ucv1.ImageMirror) ucv1.ProviderProfileSpec {
	return profileWith(func(spec *ucv1.ProviderProfileSpec) { spec.Mirrors = mirrors })
}

func withWorkloads(workloads ...ucv1.WorkloadOverride) ucv1.ProviderProfileSpec {
	return profileWith(func(spec *ucv1.ProviderProfileSpec) { spec.Workloads = workloads })
}

func withArguments(arguments ...string) ucv1.ProviderProfileSpec {
	return withWorkloads(ucv1.WorkloadOverride{Name: ccmName, ExtraArguments: arguments})
}

// overlaid are the addons of Kubernetes 1.30 with a profile, the probe included.
func overlaid(g Gomega, spec ucv1.ProviderProfileSpec) manifest.Addons {
	catalogue := builtIn()
	profile, _ := catalogue.Lookup(spec.ProviderName)
	addons := rendered(g, spec.ProviderName, profile, 30)
	var err error
	addons.Probe, err = render.Probe(addons.CCM, profile.Identity())
	g.Expect(err).NotTo(HaveOccurred())
	made, problems := catalogue.Overlay(addons, spec, "1.30.14")
	g.Expect(problems).To(BeEmpty())
	return made
}

// podNamed is the pod of a workload of any set.
func podNamed(g Gomega, addons manifest.Addons, name string) corev1.PodSpec {
	for _, object := range slices.Concat(addons.CCM.Objects, addons.CSI.Objects, addons.Probe.Objects) {
		if pod := podOf(g, object); pod != nil && object.GetName() == name {
			return pod.Spec
		}
	}
	g.Expect(name).To(BeEmpty(), "there is such a workload")
	return corev1.PodSpec{}
}

func imagesOf(pod corev1.PodSpec) []string {
	images := make([]string, 0, len(pod.Containers))
	for _, container := range pod.Containers {
		images = append(images, container.Image)
	}
	return images
}

func TestOverlayOfImages(t *testing.T) {
	mirrors := []ucv1.ImageMirror{
		{Source: "registry.k8s.io", Mirror: "mirror.example.com/k8s"},
		{Source: "registry.k8s.io/sig-storage", Mirror: "mirror.example.com:5000/storage"},
		{Source: "registry.k8s.io/provider", Mirror: "wrong.example.com"},
		{Source: "docker.io", Mirror: "wrong.example.com"},
	}
	for name, tc := range map[string]struct {
		spec    ucv1.ProviderProfileSpec
		ccm     string
		csi     string
		version string
	}{
		"without anything the catalogue's stay": {
			profileWith(func(*ucv1.ProviderProfileSpec) {}), ccmImage + ":v1.30.3", attacher + ":v4.4.2", "v1.30.3",
		},
		"the longest source of a mirror is taken, and it ends where a part of the name does": {
			withMirrors(mirrors...), "mirror.example.com/k8s/provider-os/" + ccmName + ":v1.30.3",
			"mirror.example.com:5000/storage/csi-attacher:v4.4.2", "v1.30.3",
		},
		"a source may be a whole name": {
			withMirrors(ucv1.ImageMirror{Source: attacher, Mirror: "mirror.example.com/attacher"}), ccmImage + ":v1.30.3",
			"mirror.example.com/attacher:v4.4.2", "v1.30.3",
		},
		"a tag takes the place of the catalogue's, and the set is called after it": {
			withImages(ucv1.ImageOverride{Image: ccmImage, Tag: "v1.30.4"}), ccmImage + ":v1.30.4", attacher + ":v4.4.2", "v1.30.4",
		},
		"a digest pins the tag": {
			withImages(ucv1.ImageOverride{Image: attacher, Tag: "v4.4.3", Digest: digest}), ccmImage + ":v1.30.3",
			attacher + ":v4.4.3@" + digest, "v1.30.3",
		},
		"the entry for the minor goes before the one for all": {
			withImages(
				ucv1.ImageOverride{Image: ccmImage, Tag: "v1.30.8", Digest: digest},
				ucv1.ImageOverride{Image: ccmImage, Kubernetes: "1.30", Tag: "v1.30.9"},
			),
			ccmImage + ":v1.30.9", attacher + ":v4.4.2", "v1.30.9",
		},
		"the entry for another minor changes nothing": {
			withImages(ucv1.ImageOverride{Image: ccmImage, Kubernetes: "1.31", Tag: "v1.31.9"}), ccmImage + ":v1.30.3", attacher +
				":v4.4.2", "v1.30.3",
		},
		"an image is named as in the catalogue, and its mirror comes after": {
			profileWith(func(spec *ucv1.ProviderProfileSpec) {
				spec.Mirrors, spec.Images = mirrors, []ucv1.ImageOverride{{Image: ccmImage, Tag: "v1.30.4", Digest: digest}}
			}),
			"mirror.example.com/k8s/provider-os/" + ccmName + ":v1.30.4@" +
				digest, "mirror.example.com:5000/storage/csi-attacher:v4.4.2", "v1.30.4",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			addons := overlaid(g, tc.spec)
			g.Expect(imagesOf(podNamed(g, addons, ccmName))).To(ConsistOf(tc.ccm))
			g.Expect(imagesOf(podNamed(g, addons, ccmName+"-probe"))).To(ConsistOf(tc.ccm), "the probe proves the image that is used")
			g.Expect(imagesOf(podNamed(g, addons, controller))).To(ContainElement(tc.csi))
			g.Expect(addons.CCM.Version).To(Equal(tc.version))
		})
	}
}

func TestOverlayOfAWorkload(t *testing.T) {
	g := NewWithT(t)
	cpu, memory := resource.MustParse("200m"), resource.MustParse("1Gi")
	seconds := int64(60)
	change := ucv1.WorkloadOverride{
		ExtraArguments: []string{"--concurrent-service-syncs=3", "--profiling=false"}, PriorityClassName: "cloud-critical",
		Resources: &ucv1.ContainerResources{
			Requests: ucv1.ResourceAmounts{CPU: &cpu}, Limits: ucv1.ResourceAmounts{Memory: &memory, EphemeralStorage: &memory},
		},
		Tolerations: []ucv1.Toleration{{Key: "example.com/dedicated", Value: "a", Effect: ucv1.NoExecute, TolerationSeconds: &seconds}},
	}
	ofCCM, ofCSI := change, change
	ofCCM.Name, ofCSI.Name = ccmName, controller
	before, after := overlaid(g, profileWith(func(*ucv1.ProviderProfileSpec) {})), overlaid(g, withWorkloads(ofCCM, ofCSI))
	for _, name := range []string{ccmName, ccmName + "-probe", controller} {
		was, is := podNamed(g, before, name), podNamed(g, after, name)
		last := len(is.Containers) - 1
		g.Expect(is.Containers[:last]).To(Equal(was.Containers[:last]), "sidecars are left alone")
		g.Expect(is.Containers[last].Args).To(Equal(append(was.Containers[last].Args, change.ExtraArguments...)))
		g.Expect(is.Containers[last].Resources).To(BeComparableTo(corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": cpu}, Limits: corev1.ResourceList{"memory": memory, "ephemeral-storage": memory},
		}), "the catalogue's are gone")
		g.Expect(is.Tolerations).To(Equal(append(was.Tolerations, corev1.Toleration{
			Key: "example.com/dedicated", Value: "a", Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
		})), "those without which it could not start stay")
		g.Expect(is.PriorityClassName).To(Equal("cloud-critical"))
	}
	g.Expect(podNamed(g, after, "openstack-cinder-csi-node")).To(Equal(podNamed(g, before, "openstack-cinder-csi-node")))
}

func TestOverlayLeavesWhatItIsGivenAlone(t *testing.T) {
	catalogue := everyProvider()
	forEach(t, func(g Gomega, name string, profile provider.Profile, minor int) {
		addons := rendered(g, name, profile, minor)
		version := input(name, minor).Version
		for what, spec := range map[string]ucv1.ProviderProfileSpec{
			"an empty profile changes nothing": {ProviderName: name},
			"a mirror of something else":       {ProviderName: name, Mirrors: []ucv1.ImageMirror{{Source: "elsewhere.example.com", Mirror: "m.example.com"}}},
		} {
			same, problems := catalogue.Overlay(addons, spec, version)
			g.Expect(problems).To(BeEmpty(), what)
			g.Expect(same).To(Equal(addons), what)
		}
		registry := map[string]bool{}
		for _, object := range slices.Concat(addons.CCM.Objects, addons.CSI.Objects) {
			if pod := podOf(g, object); pod != nil {
				for _, image := range imagesOf(pod.Spec) {
					registry[strings.Split(image, "/")[0]] = true
				}
			}
		}
		spec := ucv1.ProviderProfileSpec{ProviderName: name}
		for source := range registry {
			spec.Mirrors = append(spec.Mirrors, ucv1.ImageMirror{Source: source, Mirror: "mirror.example.com/" + source})
		}
		mirrored, problems := catalogue.Overlay(addons, spec, version)
		g.Expect(problems).To(BeEmpty())
		g.Expect(addons).To(Equal(rendered(g, name, profile, minor)), "the objects that were given are as they were")
		for i, object := range slices.Concat(mirrored.WithNodes().Objects, mirrored.CSI.Objects) {
			pod, was := podOf(g, object), slices.Concat(addons.WithNodes().Objects, addons.CSI.Objects)[i]
			if pod == nil {
				g.Expect(object).To(Equal(was))
				continue
			}
			g.Expect(imagesOf(pod.Spec)).To(HaveEach(HavePrefix("mirror.example.com/")))
		}
	})
}
