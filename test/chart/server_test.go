package chart_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/apiserver"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

// combinations are those of the main options.
func combinations() (all [][]string) {
	for _, certificates := range []string{"SelfManaged", "CertManager"} {
		for _, namespaces := range []string{`[]`, `["user-a","user-b"]`} {
			for _, admission := range []string{"Optional", "Required"} {
				values := []string{"--set=certificates=" + certificates, "--set-json=namespaces=" + namespaces, "--set=fleetAdmission=" + admission}
				all = append(all, values, append(slices.Clone(values), everything()...))
			}
		}
	}
	return all
}

func name(values []string) string {
	return strings.NewReplacer("--set=", "", "--set-json=", "").Replace(strings.Join(values, " "))
}

// server is an API server without anything that acts on what is in it.
type server struct {
	t          *testing.T
	kubeconfig string
	client     client.Client
}

func startServer(t *testing.T, index int) server {
	t.Helper()
	g, folder := NewWithT(t), t.TempDir()
	supervisor := process.NewSupervisor()
	t.Cleanup(supervisor.Close)
	cluster, err := apiserver.Start(t.Context(), apiserver.Options{
		Name: "management", Index: index, Dir: folder, BinDir: filepath.Dir(kubectlProgram()), Supervisor: supervisor,
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(cluster.Stop)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, ucv1.AddToScheme, metav1.AddMetaToScheme} {
		g.Expect(add(scheme)).To(Succeed())
	}
	s := server{t: t, kubeconfig: filepath.Join(folder, "kubeconfig")}
	file, err := clientcmd.Load(cluster.Kubeconfig(cluster.AdminConfig()))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(clientcmd.WriteToFile(*file, s.kubeconfig)).To(Succeed())
	s.client, err = client.New(cluster.AdminConfig(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	return s
}

func (s server) kubectl(input []byte, args ...string) string {
	s.t.Helper()
	command := exec.CommandContext(s.t.Context(), kubectlProgram(), append([]string{"--kubeconfig=" + s.kubeconfig}, args...)...)
	var warnings bytes.Buffer
	command.Stdin, command.Stderr = bytes.NewReader(input), &warnings
	out, err := command.Output()
	NewWithT(s.t).Expect(err).NotTo(HaveOccurred(), "%s%s", out, &warnings)
	return string(out)
}

func (s server) helm(args ...string) {
	s.t.Helper()
	out, err := helm(s.t, append([]string{"--kubeconfig=" + s.kubeconfig, "--namespace=" + namespace}, args...)...)
	NewWithT(s.t).Expect(err).NotTo(HaveOccurred(), "%s", out)
}

func TestTheAPIServerAcceptsEachCombinationOfTheMainOptions(t *testing.T) {
	t.Parallel()
	s := startServer(t, 1)
	for _, folder := range []string{namespace, "user-a", "user-b"} {
		s.kubectl(nil, "create", "namespace", folder)
	}
	s.kubectl(kustomized(t, "crd"), "apply", "--server-side", "-f", "-")
	s.defineOthers()
	s.kubectl(nil, "wait", "--for=condition=Established", "crd", "--all")
	for _, values := range combinations() {
		t.Run(name(values), func(t *testing.T) {
			var documents bytes.Buffer
			objects := objectsOf(t, template(t, values...))
			for _, object := range objects {
				content, err := object.MarshalJSON()
				NewWithT(t).Expect(err).NotTo(HaveOccurred())
				documents.WriteString("---\n" + string(content))
			}
			said := server{t: t, kubeconfig: s.kubeconfig}.kubectl(documents.Bytes(), "apply", "--server-side", "--dry-run=server",
				"--validate=strict", "--force-conflicts", "-f", "-")
			NewWithT(t).Expect(strings.Split(strings.TrimSpace(said), "\n")).To(HaveLen(len(objects)))
		})
	}
}

// The previous version is that of a commit before there were FleetMigrations, applied as its README said, with a Cluster in the middle
// of its migration. Helm takes it over.
func TestThePreviousVersionIsUpgradedAndUninstalled(t *testing.T) {
	t.Parallel()
	g, s := NewWithT(t), startServer(t, 2)
	s.kubectl(nil, "apply", "--server-side", "-f", "testdata/previous/install.yaml")
	s.kubectl(nil, "wait", "--for=condition=Established", "crd/clusters.usercluster.k8c.io")
	s.kubectl(nil, "create", "namespace", "user-example")
	object := migrating(t)
	s.kubectl(manifest(t, object), "apply", "-f", "-")
	status := object.Object["status"]
	g.Expect(s.client.Get(t.Context(), client.ObjectKeyFromObject(object), object)).To(Succeed())
	object.Object["status"] = status
	g.Expect(s.client.Status().Update(t.Context(), object)).To(Succeed())
	before := s.cluster()
	g.Expect(before.Status.StartedAt).NotTo(BeNil(), "it migrates")

	s.helm("upgrade", "--install", "--take-ownership", "--force-conflicts", release, chart, "--set=image.repository=registry.example/manager")
	g.Expect(s.kubectl(nil, "get", "crd", "fleetmigrations.usercluster.k8c.io", "-o=name")).NotTo(BeEmpty())
	schema := "-o=jsonpath={.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.admission}"
	g.Expect(s.kubectl(nil, "get", "crd", "clusters.usercluster.k8c.io", schema)).To(ContainSubstring("Immediate"), "a field that is new")
	after := s.cluster()
	g.Expect(after.Spec).To(Equal(before.Spec))
	g.Expect(after.Status).To(Equal(before.Status))
	g.Expect(after.UID).To(Equal(before.UID))
	s.kubectl(manifest(t, migrating(t)), "apply", "--dry-run=server", "--validate=strict", "-f", "-")

	// kubectl owns what both said: https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts
	s.helm("upgrade", release, chart, "--force-conflicts", "--reuse-values", "--set=replicas=3")
	image := "-o=jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}"
	g.Expect(s.kubectl(nil, "-n", namespace, "get", "deployment/ccm-migration-controller-manager", image)).
		To(Equal("3 registry.example/manager:0.0.0"))

	s.helm("uninstall", release)
	g.Expect(s.left()).To(HaveEach(HavePrefix("customresourcedefinition.apiextensions.k8s.io/")))
	g.Expect(s.left()).To(HaveLen(3))
	g.Expect(s.cluster().UID).To(Equal(before.UID), "and so are the Clusters")

	s.helm("install", release, chart)
	g.Expect(s.cluster().Status).To(Equal(before.Status))
}

// migrating is the Cluster of the previous version.
func migrating(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile("testdata/previous/cluster.yaml")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return objectsOf(t, content)[0]
}

// manifest is what a person has of it.
func manifest(t *testing.T, object *unstructured.Unstructured) []byte {
	t.Helper()
	written := object.DeepCopy()
	delete(written.Object, "status")
	content, err := written.MarshalJSON()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return content
}

func (s server) cluster() *ucv1.Cluster {
	s.t.Helper()
	found := &ucv1.Cluster{}
	key := client.ObjectKey{Namespace: "user-example", Name: "example"}
	NewWithT(s.t).Expect(s.client.Get(s.t.Context(), key, found)).To(Succeed())
	return found
}

// left is what has the chart's label, of all kinds that can be listed.
func (s server) left() []string {
	s.t.Helper()
	kinds := strings.Fields(s.kubectl(nil, "api-resources", "--verbs=list", "-o=name"))
	return strings.Fields(s.kubectl(nil, "get", strings.Join(kinds, ","), "-A", "-l", "app.kubernetes.io/name="+release, "-o=name"))
}

func keys[V any](of map[string]V) []string { return slices.Collect(maps.Keys(of)) }
