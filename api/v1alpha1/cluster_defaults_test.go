package v1alpha1

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNamesThatASpecLeavesOut(t *testing.T) {
	g := NewWithT(t)
	cluster := &Cluster{ObjectMeta: metav1.ObjectMeta{Name: "alpha"}}
	g.Expect(cluster.KubeconfigSecret()).To(Equal(SecretKeyReference{Name: "alpha-kubeconfig", Key: "value"}))
	g.Expect(cluster.KubeControllerManager()).To(
		Equal(DeploymentReference{Name: "kube-controller-manager", Container: "kube-controller-manager"}),
	)

	cluster.Spec.KubeconfigSecretRef = &SecretKeyReference{Name: "admin"}
	cluster.Spec.ControlPlane.KubeControllerManager = DeploymentReference{Container: "kcm"}
	g.Expect(cluster.KubeconfigSecret()).To(Equal(SecretKeyReference{Name: "admin", Key: "value"}))
	g.Expect(cluster.KubeControllerManager()).To(Equal(DeploymentReference{Name: "kube-controller-manager", Container: "kcm"}))
	cluster.Spec.KubeconfigSecretRef.Key = "kubeconfig"
	g.Expect(cluster.KubeconfigSecret()).To(Equal(SecretKeyReference{Name: "admin", Key: "kubeconfig"}))
}
