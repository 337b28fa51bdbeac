package apiserver_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/apiserver"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

const deadline = 30 * time.Second

// TestCluster needs the programs of the testbed in the directory KUBEBUILDER_ASSETS.
func TestCluster(t *testing.T) {
	g := NewWithT(t)
	ctx := t.Context()
	supervisor := process.NewSupervisor()
	defer supervisor.Close()
	started := time.Now()
	cluster, err := apiserver.Start(ctx, apiserver.Options{
		Name: "east", Index: 2, Dir: t.TempDir(), BinDir: os.Getenv("KUBEBUILDER_ASSETS"), Supervisor: supervisor,
		WithScheduler: true, WithControllerManager: true,
	})
	g.Expect(err).NotTo(HaveOccurred())
	defer cluster.Stop()
	t.Logf("ready after %s", time.Since(started))
	client := kubernetes.NewForConfigOrDie(cluster.AdminConfig())

	checkIdentities(t, cluster, client)
	checkScheduler(t, client)

	started = time.Now()
	g.Expect(cluster.StopAPIServer(ctx)).To(Succeed())
	_, err = client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	g.Expect(err).To(MatchError(syscall.ECONNREFUSED))
	t.Logf("stopped after %s", time.Since(started))
	g.Expect(cluster.StartAPIServer(ctx)).To(Succeed())
	t.Logf("restarted after %s", time.Since(started))
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pods.Items).To(HaveLen(1), "the data survives")
	g.Expect(cluster.Failures()).NotTo(Receive())
}

func checkIdentities(t *testing.T, cluster *apiserver.Cluster, client kubernetes.Interface) {
	t.Helper()
	g := NewWithT(t)
	ctx := t.Context()
	requestHeader, err := client.CoreV1().ConfigMaps("kube-system").Get(
		ctx,
		"extension-apiserver-authentication",
		metav1.GetOptions{},
	)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(requestHeader.Data).To(HaveKey("requestheader-client-ca-file"))

	// Someone without a role may do nothing.
	config, err := cluster.ClientCert("jane", "nobodies")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	g.Expect(err).To(MatchError(ContainSubstring(`User "jane" cannot list resource "pods"`)))

	g.Eventually(func() error {
		_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	}, deadline).Should(Succeed(), "the controller manager works")
	token, err := cluster.TokenKubeconfig(ctx, "default", "default")
	g.Expect(err).NotTo(HaveOccurred())
	config, err = clientcmd.RESTConfigFromKubeConfig(token)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	g.Expect(err).To(MatchError(ContainSubstring("system:serviceaccount:default:default")))

}

func checkScheduler(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	g := NewWithT(t)
	ctx := t.Context()
	_, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n"},
		Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("9")}},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = client.CoreV1().Pods("default").Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec: corev1.PodSpec{
			Containers:  []corev1.Container{{Name: "c", Image: "registry.example/c:1"}},
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() (string, error) {
		pod, err := client.CoreV1().Pods("default").Get(ctx, "p", metav1.GetOptions{})
		return pod.Spec.NodeName, err
	}, deadline).Should(Equal("n"))
}
