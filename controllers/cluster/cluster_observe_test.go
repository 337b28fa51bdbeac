package cluster

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

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
			s := &scope{cluster: clusterOf(ucv1.OriginMigrating)}
			s.cluster.Spec.Cloud.ConfigSecretRef.Name = "cloud"
			r := &Reconciler{Live: fake.NewClientBuilder().WithObjects(&corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: s.cluster.Namespace, Name: "cloud"}, Type: kind, Data: profile.Example(),
			}).Build()}

			r.observeCloudConfig(t.Context(), s, profile)

			if problem == "" {
				g.Expect(s.cloudConfigProblem()).To(BeEmpty())
				return
			}
			g.Expect(s.observed.CloudConfig.Value().Problem).To(HavePrefix(problem))
			g.Expect(s.cloudConfigProblem()).To(ContainSubstring(problem), "nothing is rendered with it")
		})
	}
}
