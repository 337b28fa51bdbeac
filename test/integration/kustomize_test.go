package integration_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/ccm-migration/ccm-migration-controller/webhooks"
)

func TestEveryRenderedObjectIsAcceptedByTheAPIServer(t *testing.T) {
	t.Parallel()
	for _, directory := range []string{"default", "default-self-managed", "usercluster-rbac", "samples", "default-namespaced", "fleet-approvals"} {
		t.Run(directory, func(t *testing.T) {
			g := NewWithT(t)
			objects, err := kustomized(directory)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(objects).NotTo(BeEmpty())
			strict := client.WithFieldValidation(suite.client, metav1.FieldValidationStrict)
			for _, object := range objects {
				options := []client.ApplyOption{client.FieldOwner("integration"), client.ForceOwnership, client.DryRunAll}
				switch object.GetKind() {
				case "Issuer", "Certificate", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
					// cert-manager is not here; the webhook configurations are installed for real by the suite.
					continue
				case "Namespace":
					options = options[:2]
				}
				g.Expect(strict.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), options...)).
					To(Succeed(), "%s %s", object.GetKind(), object.GetName())
			}
		})
	}
}

func TestCertificatesAreTheOnlyDifferenceOfTheTwoInstallations(t *testing.T) {
	t.Parallel()
	for directory, tc := range map[string]struct {
		argument, injectFrom string
		kinds                []string
	}{
		"default": {
			"--webhook-certificates=mounted", "ccm-migration-system/ccm-migration-controller-webhook", []string{"Certificate", "Issuer"},
		},
		"default-self-managed": {"--webhook-certificates=self-managed", "", []string{"Secret"}},
	} {
		t.Run(directory, func(t *testing.T) {
			g := NewWithT(t)
			objects, err := kustomized(directory)
			g.Expect(err).NotTo(HaveOccurred())
			var kinds []string
			for _, object := range objects {
				if slices.Contains([]string{"Certificate", "Issuer", "Secret"}, object.GetKind()) {
					kinds = append(kinds, object.GetKind())
				}
			}
			g.Expect(kinds).To(ConsistOf(tc.kinds))

			deployment, err := decodeOne[appsv1.Deployment](directory, "Deployment")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(deployment.Spec.Template.Spec.Containers[0].Args).To(ConsistOf("manager", tc.argument, "--leader-elect",
				"--namespace=$(POD_NAMESPACE)", "--metrics-bind-address=:8443", "--health-probe-bind-address=:8081", "--webhook-port=9443",
				"--state-dir=/var/lib/ccm-migration-controller"))
			pod := deployment.Spec.Template.Spec
			g.Expect(pod.Containers[0].VolumeMounts).To(
				ContainElement(And(HaveField("Name", "state"), HaveField("MountPath", "/var/lib/ccm-migration-controller"),
					HaveField("ReadOnly", false))),
			)
			g.Expect(pod.Volumes).To(
				ContainElement(And(HaveField("Name", "state"), HaveField("EmptyDir.SizeLimit.Value()", int64(4<<20)))),
				"it outlives the container, and not the pod",
			)

			configuration, err := mutatingWebhook(directory)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(configuration.Annotations["cert-manager.io/inject-ca-from"]).To(Equal(tc.injectFrom))
			versions, err := validatingWebhook(directory)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(versions.Name).To(Equal(configuration.Name))
			g.Expect(versions.Annotations["cert-manager.io/inject-ca-from"]).To(Equal(tc.injectFrom))
		})
	}
}

func TestManagerPodIsAdmittedUnderRestrictedPodSecurity(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	deployment, err := decodeOne[appsv1.Deployment]("default", "Deployment")
	g.Expect(err).NotTo(HaveOccurred())
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "restricted-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	g.Expect(suite.client.Create(t.Context(), namespace)).To(Succeed())
	template := deployment.Spec.Template
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "manager", Labels: template.Labels},
		Spec:       template.Spec,
	}
	g.Expect(suite.client.Create(t.Context(), pod, client.DryRunAll)).To(Succeed())

	template.Spec.Containers[0].SecurityContext = nil
	pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "manager"}, Spec: template.Spec}
	g.Expect(suite.client.Create(t.Context(), pod, client.DryRunAll)).NotTo(Succeed(), "the API server does check")
}

func TestWebhooksNeverFailClosed(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	configuration, err := mutatingWebhook("default")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(configuration.Webhooks).To(HaveLen(1))
	hook := configuration.Webhooks[0]
	g.Expect(hook.FailurePolicy).To(HaveValue(Equal(admissionregistrationv1.Ignore)))
	g.Expect(hook.TimeoutSeconds).To(HaveValue(BeNumerically("<=", 5)))
	g.Expect(hook.SideEffects).To(HaveValue(Equal(admissionregistrationv1.SideEffectClassNone)))
	g.Expect(hook.ReinvocationPolicy).To(HaveValue(Equal(admissionregistrationv1.NeverReinvocationPolicy)))
	g.Expect(hook.MatchConditions).To(HaveLen(3))
	g.Expect(hook.ClientConfig.Service.Path).To(HaveValue(Equal(webhooks.ClusterPath)))

	versions, err := validatingWebhook("default")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(versions.Webhooks).To(HaveLen(1))
	judge := versions.Webhooks[0]
	g.Expect(judge.FailurePolicy).To(HaveValue(Equal(admissionregistrationv1.Ignore)))
	g.Expect(judge.TimeoutSeconds).To(HaveValue(BeNumerically("<=", 5)))
	g.Expect(judge.SideEffects).To(HaveValue(Equal(admissionregistrationv1.SideEffectClassNone)))
	g.Expect(judge.MatchConditions).To(HaveLen(2))
	g.Expect(judge.Rules).To(HaveLen(1))
	g.Expect(judge.Rules[0].Resources).To(Equal([]string{"clusters"}), "no status")
	g.Expect(judge.Rules[0].Operations).To(
		ConsistOf(admissionregistrationv1.Create, admissionregistrationv1.Update),
		"deleting always works",
	)
	g.Expect(judge.ClientConfig.Service.Path).To(HaveValue(Equal(webhooks.VersionsPath)))
}

func TestNoRoleGrantsMoreThanItSays(t *testing.T) {
	t.Parallel()
	for _, directory := range []string{"default", "default-self-managed", "default-namespaced", "usercluster-rbac", "fleet-approvals"} {
		objects, err := kustomized(directory)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		for _, object := range objects {
			if object.GetKind() != "ClusterRole" && object.GetKind() != "Role" {
				continue
			}
			t.Run(directory+" "+object.GetName(), func(t *testing.T) {
				checkRole(t, object)
			})
		}
	}
}

func checkRole(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	g := NewWithT(t)
	role := &rbacv1.ClusterRole{}
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role)).To(Succeed())
	g.Expect(role.Rules).NotTo(BeEmpty())
	for _, to := range []string{"edit", "admin"} {
		g.Expect(role.Labels).NotTo(HaveKey("rbac.authorization.k8s.io/aggregate-to-"+to), "a migration is started by those who "+
			"were told to")
	}
	for _, rule := range role.Rules {
		g.Expect(slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs)).NotTo(ContainElement("*"))
		if object.GetKind() == "ClusterRole" &&
			(slices.Contains(rule.Resources, "secrets") || slices.Contains(rule.Resources, "configmaps")) {
			g.Expect(rule.Verbs).NotTo(ContainElements(BeElementOf("list", "watch", "deletecollection")), "Secrets and ConfigMaps are "+
				"read by name")
		}
		if slices.Contains(rule.Verbs, "escalate") || slices.Contains(rule.Verbs, "bind") {
			g.Expect(rule.ResourceNames).NotTo(BeEmpty(), "escalate and bind are for named roles")
		}
		g.Expect(rule.Verbs).NotTo(ContainElement("impersonate"))
	}
}

// Who writes a kustomization of their own names a component in it, and gets what it says and no more.
func TestComponentsAreAddedToAKustomization(t *testing.T) {
	t.Parallel()
	t.Run("no Cluster starts without a FleetMigration", func(t *testing.T) {
		g := NewWithT(t)
		before, err := kustomized("default-self-managed")
		g.Expect(err).NotTo(HaveOccurred())
		after := withComponent(t, "fleet-admission", "sortOptions: {order: legacy}\nresources: ["+configFrom(t, "default-self-managed")+"]\n")
		g.Expect(after).To(HaveLen(len(before)))
		for i := range before {
			if before[i].GetKind() == "Deployment" {
				containers, _, err := unstructured.NestedFieldNoCopy(before[i].Object, "spec", "template", "spec", "containers")
				g.Expect(err).NotTo(HaveOccurred())
				manager := containers.([]any)[0].(map[string]any)
				manager["args"] = append(manager["args"].([]any), "--fleet-admission=Required")
			}
			g.Expect(after[i]).To(Equal(before[i]))
		}
	})
	t.Run("Argo CD keeps what it had", func(t *testing.T) {
		g := NewWithT(t)
		ours, err := os.ReadFile(configPath("gitops/argocd/argocd-cm.yaml"))
		g.Expect(err).NotTo(HaveOccurred())
		want := &corev1.ConfigMap{}
		g.Expect(yaml.Unmarshal(ours, want)).To(Succeed())
		want.Data["url"] = "https://argocd.example.com"
		after := withComponent(t, "gitops/argocd", "configMapGenerator:\n- name: argocd-cm\n  namespace: argocd\n"+
			"  literals: ['url=https://argocd.example.com']\n  options: {disableNameSuffixHash: true}\n")
		g.Expect(after).To(HaveLen(1))
		data, _, err := unstructured.NestedStringMap(after[0].Object, "data")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(data).To(Equal(want.Data))
	})
}

// withComponent renders a kustomization elsewhere that has a component of config/.
func withComponent(t *testing.T, component, kustomization string) []*unstructured.Unstructured {
	t.Helper()
	g, folder := NewWithT(t), t.TempDir()
	text := kustomization + "components: [" + configFrom(t, component) + "]\n"
	g.Expect(os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(text), 0o600)).To(Succeed())
	objects, err := renderedFrom(folder)
	g.Expect(err).NotTo(HaveOccurred())
	return objects
}

// configFrom is the way from a folder of this test to one of config/: kustomize takes no absolute ones.
func configFrom(t *testing.T, directory string) string {
	t.Helper()
	path, err := filepath.Abs(configPath(directory))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	way, err := filepath.Rel(t.TempDir(), path)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return way
}

func configPath(directory string) string {
	return filepath.Join("..", "..", "config", directory)
}

func kustomized(directory string) ([]*unstructured.Unstructured, error) {
	return renderedFrom(configPath(directory))
}

// renderedFrom is what a kustomization in a folder installs.
func renderedFrom(folder string) ([]*unstructured.Unstructured, error) {
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return nil, err
	}
	objects := make([]*unstructured.Unstructured, 0, rendered.Size())
	for _, resource := range rendered.Resources() {
		content, err := resource.Map()
		if err != nil {
			return nil, err
		}
		objects = append(objects, &unstructured.Unstructured{Object: content})
	}
	return objects, nil
}

// decodeOne returns the first rendered object of a kind; without one it is the zero value.
func decodeOne[T any](directory, kind string) (*T, error) {
	objects, err := kustomized(directory)
	if err != nil {
		return nil, err
	}
	into := new(T)
	for _, object := range objects {
		if object.GetKind() == kind {
			return into, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into)
		}
	}
	return into, nil
}

func mutatingWebhook(directory string) (*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	return decodeOne[admissionregistrationv1.MutatingWebhookConfiguration](directory, "MutatingWebhookConfiguration")
}

func validatingWebhook(directory string) (*admissionregistrationv1.ValidatingWebhookConfiguration, error) {
	return decodeOne[admissionregistrationv1.ValidatingWebhookConfiguration](directory, "ValidatingWebhookConfiguration")
}
