package cluster

import (
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster/status"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

func TestACloudConfigurationSaysThatItIsOneWhereThatIsRequired(t *testing.T) {
	profile, _ := provider.New().Lookup("hetzner")
	labeled := map[string]string{ucv1.CloudConfigLabel: "true"}
	for name, tc := range map[string]struct {
		required bool
		labels   map[string]string
		kind     corev1.SecretType
		problem  string
	}{
		"any Secret where nothing is required":   {},
		"one with the label":                     {required: true, labels: labeled},
		"one of the type":                        {required: true, kind: ucv1.CloudConfigSecretType},
		"one that says nothing":                  {required: true, problem: "it does not say that it is a cloud configuration"},
		"one that says no":                       {required: true, labels: map[string]string{ucv1.CloudConfigLabel: "false"}, problem: "it does not say"},
		"a token of the management cluster":      {required: true, labels: labeled, kind: corev1.SecretTypeServiceAccountToken, problem: "its type is"},
		"one with the label that lacks its keys": {required: true, labels: labeled, kind: "example.com/empty", problem: "it lacks"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := &scope{Pass: status.Pass{Cluster: passes.ClusterOf(ucv1.OriginMigrating)}}
			s.Cluster.Spec.Cloud.ConfigSecretRef.Name = "cloud"
			secret := &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: s.Cluster.Namespace, Name: "cloud", Labels: tc.labels},
				Type:       tc.kind,
				Data:       profile.Example(),
			}
			if tc.kind == "example.com/empty" {
				secret.Data = nil
			}
			o := &managementObserver{live: fake.NewClientBuilder().WithObjects(secret).Build(), requireCloudConfigLabel: tc.required}
			o.observeCloudConfig(t.Context(), s, profile)
			if tc.problem == "" {
				g.Expect(s.cloudConfigProblem()).To(BeEmpty())
				return
			}
			g.Expect(s.cloudConfigProblem()).To(ContainSubstring(": " + tc.problem))
		})
	}
}

// The command of the documentation asks the API server for this.
func TestTheCommandThatLabelsCloudConfigurationsFindsThem(t *testing.T) {
	g := NewWithT(t)
	document, err := os.ReadFile("../../docs/security.md")
	g.Expect(err).NotTo(HaveOccurred())
	_, rest, found := strings.Cut(string(document), "-o jsonpath='")
	g.Expect(found).To(BeTrue())
	template, _, _ := strings.Cut(rest, "'")
	first, second := passes.ClusterOf(ucv1.OriginMigrating), passes.ClusterOf(ucv1.OriginMigrating)
	first.Namespace, first.Spec.Cloud.ConfigSecretRef.Name = "user-a", "cloud-a"
	second.Namespace, second.Spec.Cloud.ConfigSecretRef.Name = "user-b", "cloud-b"
	list, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&ucv1.ClusterList{Items: []ucv1.Cluster{*first, *second}})
	g.Expect(err).NotTo(HaveOccurred())
	query, out := jsonpath.New("command"), &strings.Builder{}
	g.Expect(query.Parse(template)).To(Succeed())
	g.Expect(query.Execute(out, list)).To(Succeed())
	g.Expect(out.String()).To(Equal("user-a cloud-a\nuser-b cloud-b\n"))
	g.Expect(string(document)).To(ContainSubstring(" " + ucv1.CloudConfigLabel + "=true"))
}

func TestNoCredentialOfTheManagementClusterIsACloudConfiguration(t *testing.T) {
	profile, _ := provider.New().Lookup("hetzner")
	for kind, problem := range map[corev1.SecretType]string{
		"":                                   "",
		corev1.SecretTypeOpaque:              "",
		"example.com/cloud":                  "",
		corev1.SecretTypeServiceAccountToken: "its type is kubernetes.io/service-account-token, a credential of the management cluster",
		corev1.SecretTypeBootstrapToken:      "its type is bootstrap.kubernetes.io/token, a credential of the management cluster",
	} {
		t.Run(string(kind), func(t *testing.T) {
			g := NewWithT(t)
			s := &scope{Pass: status.Pass{Cluster: passes.ClusterOf(ucv1.OriginMigrating)}}
			s.Cluster.Spec.Cloud.ConfigSecretRef.Name = "cloud"
			o := &managementObserver{live: fake.NewClientBuilder().WithObjects(&corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: s.Cluster.Namespace, Name: "cloud"}, Type: kind, Data: profile.Example(),
			}).Build()}

			o.observeCloudConfig(t.Context(), s, profile)

			if problem == "" {
				g.Expect(s.cloudConfigProblem()).To(BeEmpty())
				return
			}
			g.Expect(s.Observed.CloudConfig.Value().Problem).To(HavePrefix(problem))
			g.Expect(s.cloudConfigProblem()).To(ContainSubstring(problem), "nothing is rendered with it")
		})
	}
}

func TestClustersThatShareAControlPlaneAreFoundHoweverTheyNameIt(t *testing.T) {
	static := func(name string, ref *ucv1.SecretKeyReference) *ucv1.Cluster {
		cluster := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "user", Name: name}}
		cluster.Spec.ControlPlane.Type, cluster.Spec.KubeconfigSecretRef = ucv1.ExternalControlPlane, ref
		return cluster
	}
	alpha := static("alpha", nil)
	for name, tc := range map[string]struct {
		other  *ucv1.Cluster
		shared bool
	}{
		"the Secret that is the default":  {static("beta", &ucv1.SecretKeyReference{Name: "alpha-kubeconfig"}), true},
		"and the key that is the default": {static("beta", &ucv1.SecretKeyReference{Name: "alpha-kubeconfig", Key: "value"}), true},
		"another key is another cluster":  {static("beta", &ucv1.SecretKeyReference{Name: "alpha-kubeconfig", Key: "beta"}), false},
		"so is another Secret":            {static("beta", nil), false},
	} {
		t.Run(name, func(t *testing.T) {
			g, scheme := NewWithT(t), runtime.NewScheme()
			g.Expect(ucv1.AddToScheme(scheme)).To(Succeed())
			found, err := Sharers(fake.NewClientBuilder().WithScheme(scheme).WithObjects(alpha, tc.other).Build())(t.Context(), alpha)
			g.Expect(err).NotTo(HaveOccurred())
			if !tc.shared {
				g.Expect(found).To(BeEmpty())
				return
			}
			g.Expect(found).To(ConsistOf("user/beta"))
		})
	}
}
