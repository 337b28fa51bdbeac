package integration_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster"
)

// namespacedIdentity has what config/default-namespaced grants, for a namespace of a test in the place of user-example.
const namespacedIdentity = "system:serviceaccount:ccm-migration-system:namespaced-manager"

// A manager that asked for anything of all namespaces would wait for its cache, and look at nothing.
func TestAManagerOfSomeNamespacesNeedsRightsThereOnly(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	bindRights(t, w.namespace)
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 1)
	w.playKCM(kcm + "-r1-0")
	elsewhere := newCluster(newNamespace(t), ofProvider("simcloud"), version("1.30.14"), feature(true))
	g.Expect(suite.client.Create(t.Context(), elsewhere)).To(Succeed())
	w.create()
	startManager(t, "--namespaces="+w.namespace)
	has := func(what string, holds func(ucv1.ClusterStatus) bool) {
		t.Helper()
		g.Eventually(func() bool { return holds(w.status()) }, 2*deadline, interval).Should(BeTrue(), what)
	}

	has("what it is", func(s ucv1.ClusterStatus) bool { return s.Origin == ucv1.OriginInTree })
	w.edit(feature(true))
	has("the start of its migration", func(s ucv1.ClusterStatus) bool { return s.StartedAt != nil && s.Inherited != nil })
	g.Eventually(w.ccmDeployed, 2*deadline, interval).Should(BeTrue(), "with a ConfigMap of the inventory beside the Cluster")

	found := fetch(t, elsewhere)
	g.Expect(found.Finalizers).To(BeEmpty())
	g.Expect(found.Status).To(BeZero(), "its namespace is another one")
}

// bindRights grants what config/default-namespaced does, to the identity of the test.
func bindRights(t *testing.T, namespace string) {
	t.Helper()
	g := NewWithT(t)
	objects, err := kustomized("default-namespaced")
	g.Expect(err).NotTo(HaveOccurred())
	bindings := 0
	for _, object := range objects {
		if kind := object.GetKind(); kind != "RoleBinding" && kind != "ClusterRoleBinding" && !strings.HasSuffix(kind, "Role") {
			continue
		}
		if object.GetNamespace() == "user-example" {
			object.SetNamespace(namespace)
			bindings++
		}
		if strings.HasSuffix(object.GetKind(), "Binding") {
			object.SetName("namespaced-" + object.GetName())
			subject := map[string]any{"kind": rbacv1.ServiceAccountKind, "name": "namespaced-manager", "namespace": "ccm-migration-system"}
			g.Expect(unstructured.SetNestedSlice(object.Object, []any{subject}, "subjects")).To(Succeed())
		}
		if object.GetNamespace() == "ccm-migration-system" {
			continue // Leader election and certificates, which this manager does without.
		}
		g.Expect(
			suite.client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("integration")),
		).To(
			Succeed(),
			object.GetName(),
		)
	}
	g.Expect(bindings).To(Equal(2))
}

func TestTheOverlayForNamespacesBindsNothingOfANamespaceClusterWide(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	objects, err := kustomized("default-namespaced")
	g.Expect(err).NotTo(HaveOccurred())
	roles, bound := map[string][]rbacv1.PolicyRule{}, 0
	for _, object := range objects {
		if object.GetKind() == "ClusterRole" {
			role := &rbacv1.ClusterRole{}
			g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role)).To(Succeed())
			roles[role.Name] = role.Rules
		}
	}
	for _, object := range objects {
		if object.GetKind() != "ClusterRoleBinding" {
			continue
		}
		name, _, _ := unstructured.NestedString(object.Object, "roleRef", "name")
		for _, rule := range roles[name] {
			bound++
			if len(rule.NonResourceURLs) > 0 {
				g.Expect(rule.NonResourceURLs).To(ConsistOf("/metrics"), name)
				continue
			}
			g.Expect(rule.Resources).To(HaveEach(BeElementOf(
				"nodes", "providerprofiles", "providerprofiles/status", "tokenreviews", "subjectaccessreviews", "customresourcedefinitions",
			)), name)
			if slices.Contains(rule.Resources, "customresourcedefinitions") {
				g.Expect(rule.ResourceNames).To(ConsistOf(cluster.DefinitionName))
				g.Expect(rule.Verbs).To(ConsistOf("get"))
			}
		}
	}
	g.Expect(bound).To(BeNumerically(">", 2))
}

// startManager runs the manager with the rights of the overlay for some namespaces.
func startManager(t *testing.T, arguments ...string) {
	t.Helper()
	startManagerAs(t, &clientcmdapi.AuthInfo{Token: "admin", Impersonate: namespacedIdentity}, arguments...)
}

// startManagerAs runs the manager as the identity until the test is over.
func startManagerAs(t *testing.T, identity *clientcmdapi.AuthInfo, arguments ...string) {
	t.Helper()
	g, serving := NewWithT(t), suite.management.plane.GetAPIServer().SecureServing
	file := clientcmdapi.NewConfig()
	file.Clusters["management"] = &clientcmdapi.Cluster{
		Server:                   serving.URL("https", "/").String(),
		CertificateAuthorityData: serving.CA,
	}
	file.AuthInfos["manager"] = identity
	file.Contexts["manager"], file.CurrentContext = &clientcmdapi.Context{Cluster: "management", AuthInfo: "manager"}, "manager"
	folder := t.TempDir()
	kubeconfig, log := filepath.Join(folder, "kubeconfig"), &strings.Builder{}
	g.Expect(clientcmd.WriteToFile(*file, kubeconfig)).To(Succeed())
	command := exec.CommandContext(
		t.Context(),
		filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "ccm-migration-controller"),
		append([]string{
			"manager", "--leader-elect=false", "--webhook-certificates=none", "--metrics-bind-address=0",
			"--health-probe-bind-address=0", "--allow-user-cluster-addresses=127.0.0.0/8",
		}, arguments...)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.Stdout, command.Stderr = log, log
	g.Expect(command.Start()).To(Succeed())
	t.Cleanup(func() {
		_ = command.Wait() // The context of the test has ended.
		if t.Failed() {
			t.Log(log.String())
		}
	})
}
