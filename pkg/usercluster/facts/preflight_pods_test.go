package facts

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func TestAnAutoscalerIsFoundByItsImage(t *testing.T) {
	for image, want := range map[string]bool{
		"registry.k8s.io/autoscaling/cluster-autoscaler:v1.30.0":              true,
		"mirror.example:5000/cluster-autoscaler":                              true,
		"mirror.example/cluster-autoscaler@sha256:" + strings.Repeat("0", 64): true,
		"cluster-autoscaler":                     true,
		"registry.example/cluster-autoscaler/ui": false,
		"nginx":                                  false,
		"":                                       false,
	} {
		t.Run(image, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "nginx"}, {Image: image}}}}
			NewWithT(t).Expect(isAutoscaler(pod)).To(Equal(want))
		})
	}
}

func TestOnlyImagesThatAKubeletCanPullArePulled(t *testing.T) {
	registries := observation.Registries{Hosts: []string{"*.azurecr.io"}}
	for image, pulled := range map[string]bool{
		"mine.azurecr.io/web": true,
		"mine.azurecr.io/web:1@sha256:" + strings.Repeat("0", 64): true,
		"mine.azurecr.io/Web": false,
		"mine.azurecr.io/":    false,
		"web":                 false,
		"":                    false,
	} {
		t.Run(image, func(t *testing.T) {
			facts := preflight.Pods{Pulling: map[string][]observation.Ref{}}
			addPod(&facts, &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: image}}}}, registries)
			NewWithT(t).Expect(facts.Pulling).To(HaveLen(map[bool]int{true: 1}[pulled]))
		})
	}
}
