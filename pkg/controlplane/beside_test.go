package controlplane

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// deploymentOf runs these containers under the name, with the label app.
func deploymentOf(name, app string, containers ...corev1.Container) *appsv1.Deployment {
	deployment := testDeployment(name, "--v=2")
	deployment.Labels = map[string]string{"app": app}
	deployment.Spec.Template.Spec.Containers = containers
	return deployment
}

func TestKubeAPIServerIsFoundBesideKCM(t *testing.T) {
	const flag = "--cloud-provider=openstack"
	run := func(name string, command ...string) corev1.Container {
		return corev1.Container{Name: name, Command: command, Args: []string{flag}}
	}
	prober := corev1.Container{Name: "apiserver", Command: []string{"/http-prober-bin/http-prober"}, Args: []string{
		"-endpoint", "https://etcd", `-command={"command":"/usr/local/bin/kube-apiserver","args":["` + flag + `"]}`,
	}}
	named := &ucv1.ControlPlaneComponent{
		DeploymentReference: ucv1.DeploymentReference{Name: "api"},
		Ownership:           ucv1.ForeignComponent,
	}
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		spec       *ucv1.ControlPlaneComponent
		container  string
		// problem is what its arguments are not understood for.
		problem string
	}{
		"by its container":                          {deployment: deploymentOf("control", "x", run("sidecar", "/envoy"), run(kubeAPIServer)), container: kubeAPIServer},
		"by its executable":                         {deployment: deploymentOf("control", "x", run("main", "/usr/bin/kube-apiserver")), container: "main"},
		"by its executable within http-prober":      {deployment: deploymentOf("api", "x", prober), container: "apiserver"},
		"by its name":                               {deployment: deploymentOf("apiserver", "x", run("main")), container: "main"},
		"by its label":                              {deployment: deploymentOf("control", "kube-apiserver", run("main")), container: "main"},
		"by a label, among other containers":        {deployment: deploymentOf("control", "apiserver", run("sidecar"), run("apiserver")), container: "apiserver"},
		"by a label, though a script starts it":     {deployment: deploymentOf("control", "apiserver", run("main", "sh", "-c", "kube-apiserver")), container: "main", problem: "script"},
		"by the name in the spec":                   {deployment: deploymentOf("api", "x", run("main")), spec: named, container: "main"},
		"not under another name than in the spec":   {deployment: deploymentOf(kubeAPIServer, kubeAPIServer, run(kubeAPIServer)), spec: named},
		"not where a container runs something else": {deployment: deploymentOf("apiserver", "apiserver", run("apiserver", "/metrics-server"))},
		"not in another Deployment":                 {deployment: deploymentOf("etcd", "etcd", run("etcd", "/etcd"))},
		"anywhere, if the spec only calls it Foreign": {
			deployment: deploymentOf("apiserver", "x", run("main")),
			spec:       &ucv1.ControlPlaneComponent{Ownership: ucv1.ForeignComponent}, container: "main",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			cluster := testCluster()
			cluster.Spec.ControlPlane.KubeAPIServer = test.spec
			reader, _ := testReader(testClient(interceptor.Funcs{}, testDeployment(kubeControllerManager, "--v=2"), test.deployment))
			plane, known := lookAt(t.Context(), reader, cluster).Get()
			g.Expect(known).To(BeTrue())
			g.Expect(plane.Others).To(BeEmpty())
			if test.container == "" {
				g.Expect(plane.Neighbors).To(BeEmpty())
				g.Expect(plane.NotSeen).To(Equal([]string{kubeAPIServer, kubeScheduler}))
				return
			}
			g.Expect(plane.NotSeen).To(Equal([]string{kubeScheduler}))
			g.Expect(plane.Neighbors).To(HaveLen(1))
			seen := plane.Neighbors[0]
			g.Expect(seen.Name).To(Equal(test.deployment.Name))
			g.Expect(seen.Container).To(Equal(test.container))
			g.Expect(plane.APIServers()).To(Equal([]observation.Component{seen.Component}))
			g.Expect(seen.Field).To(Equal("spec.controlPlane.kubeAPIServer"))
			g.Expect(seen.Foreign).To(Equal(test.spec != nil))
			g.Expect(seen.Arguments.Problem).To(ContainSubstring(test.problem))
			if test.problem == "" {
				g.Expect(seen.Arguments.Flags).To(HaveKeyWithValue("cloud-provider", "openstack"))
			}
		})
	}
}

func TestWhatIsBesideKCMIsUnknownWhenDeploymentsCannotBeListed(t *testing.T) {
	g := NewWithT(t)
	lists := interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, matches := list.(*appsv1.DeploymentList); matches {
				return errors.New("the server is on fire")
			}
			return c.List(ctx, list, opts...)
		},
	}
	reader, _ := testReader(testClient(lists, testDeployment(kubeControllerManager, "--v=2")))
	g.Expect(lookAt(t.Context(), reader, testCluster()).IsUnknown()).To(BeTrue())
}

func TestStaticPodsBesideKCM(t *testing.T) {
	g := NewWithT(t)
	reader, _ := testReader(nil)
	apiServer := mirrorOf("cp-0", "api", "--cloud-provider=openstack")
	apiServer.Name, apiServer.UID, apiServer.Spec.Containers[0].Name = "kube-apiserver-cp-0", "api", kubeAPIServer
	user := testClient(interceptor.Funcs{}, controlPlaneNode("cp-0"), mirrorOf("cp-0", "new", silentFlag), apiServer)
	plane := reader.StaticControlPlane(t.Context(), staticCluster(), user).Value()
	g.Expect(plane.Others).To(BeEmpty())
	g.Expect(plane.NotSeen).To(Equal([]string{kubeScheduler}))
	g.Expect(plane.Neighbors).To(HaveLen(1))
	g.Expect(components.InTreeConfiguration(plane.Neighbors[0], observation.Provider{})).To(Equal([]string{"--cloud-provider"}))
}
