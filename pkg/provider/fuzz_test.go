package provider_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

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
