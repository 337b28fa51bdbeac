package provider_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// FuzzRecognizeManager: a pod may say what it likes. Whatever is recognized says by what and in which container, a program
// of the catalogue is recognized in any mirror, and nothing panics.
func FuzzRecognizeManager(f *testing.F) {
	for _, seed := range []struct{ image, command, args, label string }{
		{"nginx", "", "", ""},
		{"registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1.30.0", "", "--cluster-name=a", ""},
		{"mirror:5000/vmware/cpi/release/manager@sha256:" + strings.Repeat("0", 64), "/bin/sh", "-c\nexec /a-cloud-node-manager", ""},
		{"a", "kube-controller-manager", "--cloud-provider=aws\n--controllers=*", "kube-controller-manager"},
		{"", "sh", "-c\n", "cloud-controller-manager"},
	} {
		f.Add(seed.image, seed.command, seed.args, seed.label)
	}
	catalogue := provider.New()
	f.Fuzz(func(t *testing.T, image, command, args, label string) {
		g := NewWithT(t)
		container := corev1.Container{Image: image, Args: strings.Split(args, "\n")}
		if command != "" {
			container.Command = []string{command}
		}
		pod := &corev1.PodSpec{Containers: []corev1.Container{{Image: "nginx"}, container}}
		manager, found := catalogue.RecognizeManager(map[string]string{"app": label}, pod)
		known := manager.KnownBy != ""
		g.Expect(known).To(Equal(found))
		g.Expect(manager.Container == &pod.Containers[0] || manager.Container == &pod.Containers[1]).To(Equal(found))

		byImage := manager.KnownBy == "image "+manifest.ImageName(image)
		mirrored := "mirror.example:5000/" + image
		if _, err := manifest.ParseImage(mirrored); byImage && err == nil {
			pod.Containers[1].Image = mirrored
			again, _ := catalogue.RecognizeManager(nil, pod)
			g.Expect(again).To(Equal(manager))
		}
	})
}

// FuzzProviderProfile: what is found to be good is laid over the addons, whose images are still some that a kubelet can pull.
func FuzzProviderProfile(f *testing.F) {
	const manager = "docker.io/hetznercloud/hcloud-cloud-controller-manager"
	f.Add("docker.io", "mirror.example:5000/hub", manager, "v1.20.0", "", "--v=2", "system-cluster-critical")
	f.Add(
		"docker.io/hetznercloud",
		"mirror.example",
		manager,
		"v1",
		"sha256:"+strings.Repeat("0", 64),
		"--webhook-bind-address=:1",
		"",
	)
	f.Add("", "//", "a b", "\n", "sha256:", "..", "..")
	catalogue := provider.New()
	profile, _ := catalogue.Lookup("hetzner")
	addons, err := profile.Render(input("hetzner", 30))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, source, mirror, image, tag, digest, argument, priority string) {
		g := NewWithT(t)
		spec := ucv1.ProviderProfileSpec{
			ProviderName: "hetzner", Mirrors: []ucv1.ImageMirror{{Source: source, Mirror: mirror}},
			Images: []ucv1.ImageOverride{{Image: image, Tag: tag, Digest: digest}},
			Workloads: []ucv1.WorkloadOverride{{
				Name: "hcloud-cloud-controller-manager", ExtraArguments: []string{argument}, PriorityClassName: priority,
			}},
		}
		if len(catalogue.OverlayProblems(spec)) > 0 {
			return
		}
		made, problems := catalogue.Overlay(addons, spec, "1.30.3")
		g.Expect(problems).To(BeEmpty())
		for _, object := range made.CCM.Objects {
			containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
			for _, container := range containers {
				_, err := manifest.ParseImage(container.(map[string]any)["image"].(string))
				g.Expect(err).NotTo(HaveOccurred())
			}
		}
	})
}
