package managers_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/managers"
)

func TestRecognizeManager(t *testing.T) {
	programs, digest := map[string]bool{"cloud-provider-vsphere": false}, "sha256:"+strings.Repeat("0", 64)
	of := func(image string, command ...string) corev1.Container {
		return corev1.Container{Image: image, Command: command}
	}
	for name, tc := range map[string]struct {
		container corev1.Container
		labels    map[string]string
		// want is what it is known by; empty: it is none.
		want      string
		nodesOnly bool
	}{
		"upstream's image": {container: of("registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1.30.0"), want: "image openstack-cloud-controller-manager"},
		"a mirror with a port and a digest": {container: of("mirror.example:5000/a/b/cloud-controller-manager@" +
			digest), want: "image cloud-controller-manager"},
		"a mirror with both": {container: of("mirror.example:5000/cloud-controller-manager:v1@" +
			digest), want: "image cloud-controller-manager"},
		"an image that is called otherwise": {container: of("registry.k8s.io/cloud-pv-vsphere/cloud-provider-vsphere:v1.30.0"), want: "image cloud-provider-vsphere"},
		"vSphere's former image":            {container: of("gcr.io/cloud-provider-vsphere/cpi/release/manager:v1.27.0"), want: "image manager"},
		"another manager":                   {container: of("ghcr.io/acme/manager:v1", "/manager")},
		"a provider that no one knows":      {container: of("acme/nimbus-cloud-controller-manager"), want: "image nimbus-cloud-controller-manager"},
		"Azure's node manager":              {container: of("mcr.microsoft.com/oss/kubernetes/azure-cloud-node-manager:v1.30.0"), want: "image azure-cloud-node-manager", nodesOnly: true},
		"the program, whatever the image":   {container: of("acme/cloud:1", "/bin/openstack-cloud-controller-manager", "--v=1"), want: "command openstack-cloud-controller-manager"},
		"the program in a shell": {container: of("acme/cloud:1", "sh", "-c", "exec /bin/aws-cloud-controller-manager "+
			"--v=1"), want: "command aws-cloud-controller-manager"},
		"a shell that only speaks of it": {container: of("acme/kubectl:1", "sh", "-c", "kubectl get lease "+
			"cloud-controller-manager")},
		"arguments that only managers have":  {container: corev1.Container{Image: "acme/nimbus:1", Args: []string{"--cloud-provider=nimbus", "--controllers=*"}}, want: "arguments --cloud-provider and --controllers"},
		"the cluster-autoscaler":             {container: of("registry.k8s.io/autoscaling/cluster-autoscaler:v1.30.0", "./cluster-autoscaler", "--cloud-provider=aws", "--leader-elect=true")},
		"kube-controller-manager in-tree":    {container: of("registry.k8s.io/kube-controller-manager:v1.25.0", "kube-controller-manager", "--cloud-provider=aws", "--controllers=*")},
		"kube-controller-manager of another": {container: of("acme/hyperkube:v1", "/hyperkube", "kube-controller-manager", "--cloud-provider=aws", "--controllers=*")},
		"kube-apiserver in-tree":             {container: of("registry.k8s.io/kube-apiserver:v1.25.0", "kube-apiserver", "--cloud-provider=aws")},
		"a label of kubectl apply":           {container: of("acme/cloud:1"), labels: map[string]string{"k8s-app": "openstack-cloud-controller-manager"}, want: "label k8s-app=openstack-cloud-controller-manager"},
		"a label of Helm":                    {container: of("acme/cloud:1"), labels: map[string]string{"app.kubernetes.io/name": "cloud-controller-manager"}, want: "label app.kubernetes.io/name=cloud-controller-manager"},
		"anything else":                      {container: of("nginx:1.27"), labels: map[string]string{"app": "web"}},
		"an image that is only a name":       {container: of("nginx"), labels: map[string]string{"app": "web"}},
		"a manager that is only a name":      {container: of("cloud-controller-manager"), want: "image cloud-controller-manager"},
		"a name with a digest":               {container: of("nginx@" + digest)},
		"an image without a name":            {container: of("")},
		"an image that no kubelet can pull":  {container: of("acme/Cloud-controller-manager:v1")},
		"an image that is a tag only":        {container: of(":v1")},
		"a program of no image":              {container: of("", "/bin/cloud-controller-manager"), want: "command cloud-controller-manager"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			pod := &corev1.PodSpec{Containers: []corev1.Container{{Image: "acme/sidecar:1"}, tc.container}}
			if len(tc.labels) > 0 {
				pod.Containers = pod.Containers[1:]
			}
			manager, is := managers.Recognize(programs, tc.labels, pod)
			g.Expect(manager.KnownBy).To(Equal(tc.want))
			g.Expect(is).To(Equal(tc.want != ""))
			g.Expect(manager.NodesOnly).To(Equal(tc.nodesOnly))
			if is {
				g.Expect(*manager.Container).To(Equal(tc.container))
			}
		})
	}
}
