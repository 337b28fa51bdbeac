package controlplane

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

func TestAComponentIsRecognized(t *testing.T) {
	prober := corev1.Container{Name: "controller-manager", Command: []string{"/http-prober-bin/http-prober"}, Args: []string{
		"-command", `{"command":"/usr/local/bin/kube-controller-manager","args":["--cloud-provider","openstack"]}`,
	}}
	for name, test := range map[string]struct {
		containers []corev1.Container
		// runs is what its first container executes.
		container, runs string
	}{
		"within http-prober": {
			containers: []corev1.Container{prober, {Name: "openvpn-client", Command: []string{"/usr/sbin/openvpn"}}},
			container:  "controller-manager", runs: kubeControllerManager,
		},
		"by its executable": {
			containers: []corev1.Container{{Name: "main", Command: []string{"/usr/bin/kube-controller-manager", "--v=2"}}},
			container:  "main", runs: kubeControllerManager,
		},
		"by its name, where the image decides": {
			containers: []corev1.Container{{Name: kubeControllerManager, Args: []string{"--v=2"}}}, container: kubeControllerManager,
		},
		"not where something else runs": {
			containers: []corev1.Container{{Name: "main", Command: []string{"/cloud-controller-manager"}}}, runs: "cloud-controller-manager",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			deployment := deploymentOf("control", "x", test.containers...)
			g.Expect(ContainerRunning(deployment, kubeControllerManager)).To(Equal(test.container))
			g.Expect(Executable(&test.containers[0])).To(Equal(test.runs))
		})
	}
}
