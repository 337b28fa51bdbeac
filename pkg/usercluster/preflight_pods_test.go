package usercluster

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
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
