package leases

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/simcloud"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func podOf(namespace, name, account string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.PodSpec{ServiceAccountName: account}, Status: corev1.PodStatus{Phase: phase},
	}
}

func TestPodsOfAnIdentity(t *testing.T) {
	g := NewWithT(t)
	s, _ := electionsWith(interceptor.Funcs{},
		podOf("kube-system", "b", "cloud-controller-manager", corev1.PodRunning),
		podOf("kube-system", "a", "cloud-controller-manager", corev1.PodPending),
		podOf("kube-system", "done", "cloud-controller-manager", corev1.PodFailed),
		podOf("kube-system", "other", "default", corev1.PodRunning),
		podOf("default", "elsewhere", "cloud-controller-manager", corev1.PodRunning),
	)
	pods, known := s.PodsOf(t.Context(), simcloud.Profile{}.Identity(), nil).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(pods).To(Equal([]string{"a", "b"}))
}

func TestPodsBesideCountAsTheCCMs(t *testing.T) {
	g := NewWithT(t)
	s, _ := electionsWith(interceptor.Funcs{})
	management := fake.NewClientBuilder().WithScheme(scheme.Scheme).Build()
	s.management = management
	access := &manifest.Access{Secret: observation.Ref{Kind: "Secret", Namespace: "user-a", Name: "credentials"}}
	mounting := func(namespace, name, secret string) *corev1.Pod {
		pod := podOf(namespace, name, "", corev1.PodRunning)
		pod.Spec.Volumes = []corev1.Volume{
			{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}}},
		}
		return pod
	}
	for _, pod := range []*corev1.Pod{
		mounting("user-a", "ours", access.Secret.Name), mounting("user-a", "other", "something"),
		mounting("user-b", "elsewhere", access.Secret.Name),
	} {
		g.Expect(management.Create(t.Context(), pod)).To(Succeed())
	}
	pods, known := s.PodsOf(t.Context(), simcloud.Profile{}.Identity(), access).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(pods).To(Equal([]string{"ours"}))

	s.management = fake.NewClientBuilder().WithScheme(scheme.Scheme).WithInterceptorFuncs(interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return context.DeadlineExceeded
		},
	}).Build()
	g.Expect(s.PodsOf(t.Context(), simcloud.Profile{}.Identity(), access).IsUnknown()).To(BeTrue(), "could not look is not absent")
}
