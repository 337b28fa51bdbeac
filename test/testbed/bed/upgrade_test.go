//go:build acrossminors

package bed_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

const (
	apiServer = "kube-apiserver"
	kcm       = "kube-controller-manager"
	patience  = 3 * time.Minute
	// replicas of either.
	replicas = 2
)

// TestMain lets the test binary be the shim that the kubelets start processes with.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "shim" {
		fmt.Fprintln(os.Stderr, process.RunShim(os.Args[2:]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// controlPlane is one that is upgraded, component by component.
type controlPlane struct {
	Gomega
	*bed.UserCluster
	bed *bed.Bed
}

// TestControlPlaneIsUpgraded: what a hand-over across minors needs of the testbed, without a controller.
func TestControlPlaneIsUpgraded(t *testing.T) {
	older, bin := os.Getenv("TEST_OLDER"), os.Getenv("KUBEBUILDER_ASSETS")
	g := NewWithT(t)
	g.Expect(older).NotTo(BeEmpty(), "run make across-minors")
	b, err := bed.Start(t.Context(), bed.Options{
		Dir: t.TempDir(), BinDir: bin, ReleasesDir: filepath.Dir(bin), ConfigDir: "../../../config",
		LeaseDuration: 15 * time.Second, Progress: func(line string) { t.Log(line) },
	})
	g.Expect(err).NotTo(HaveOccurred())
	defer b.Stop()
	user, err := b.AddUserCluster(bed.UserClusterOptions{
		Name: "across", Version: older, WholeControlPlane: true, APIServers: replicas, KCMReplicas: replicas,
		WithoutMachineController: true,
	})
	g.Expect(err).NotTo(HaveOccurred())
	c := controlPlane{Gomega: g, UserCluster: user, bed: b}
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "kept"}}
	g.Expect(user.Client.Create(t.Context(), kept)).To(Succeed())
	c.runs(t.Context(), apiServer, older)
	c.runs(t.Context(), kcm, older)
	c.answers(older)
	led := c.lease(t.Context())

	c.upgrade(t.Context(), apiServer)
	c.runs(t.Context(), apiServer, bed.KubernetesVersion)
	c.runs(t.Context(), kcm, older)
	c.answers(bed.KubernetesVersion)
	found := &corev1.ConfigMap{}
	g.Expect(user.Client.Get(t.Context(), client.ObjectKeyFromObject(kept), found)).To(Succeed())
	g.Expect(found.UID).To(Equal(kept.UID), "the database is the same")
	g.Eventually(func() time.Time { return c.lease(t.Context()).Spec.RenewTime.Time }, patience).
		Should(BeTemporally(">", time.Now()), "KCM renews its Lease through the new API servers")
	g.Expect(c.lease(t.Context()).Spec.HolderIdentity).To(Equal(led.Spec.HolderIdentity), "the old KCM went on leading")

	c.upgrade(t.Context(), kcm)
	c.runs(t.Context(), kcm, bed.KubernetesVersion)
	g.Eventually(func() *string { return c.lease(t.Context()).Spec.HolderIdentity }, patience).
		ShouldNot(Equal(led.Spec.HolderIdentity), "a new KCM leads")
}

func (c controlPlane) upgrade(ctx context.Context, component string) {
	c.Expect(c.Upgrade(ctx, component, bed.KubernetesVersion)).To(Succeed())
	c.Expect(c.bed.WaitForDeployment(c.Namespace, component)).To(Succeed())
}

// runs waits until all pods of a component show that they have a release's image, and asks whether their processes have.
func (c controlPlane) runs(ctx context.Context, component, release string) {
	c.Eventually(func(g Gomega) {
		pods := &corev1.PodList{}
		g.Expect(c.bed.Client.List(ctx, pods, client.InNamespace(c.Namespace), client.MatchingLabels{"app": component})).To(Succeed())
		g.Expect(pods.Items).To(HaveLen(replicas))
		for _, pod := range pods.Items {
			g.Expect(pod.Spec.Containers[0].Image).To(HaveSuffix(":v" + release))
			g.Expect(pod.Status.ContainerStatuses).To(HaveLen(1))
			g.Expect(pod.Status.ContainerStatuses[0].ImageID).To(HaveSuffix(":v" + release))
		}
	}, patience).Should(Succeed())
	entries, err := c.bed.Processes(bed.ManagementName, component)
	c.Expect(err).NotTo(HaveOccurred())
	c.Expect(entries).To(HaveLen(replicas))
	for _, entry := range entries {
		c.Expect(strings.Contains(entry.Args[0], "/"+release+"/")).To(Equal(release != bed.KubernetesVersion), entry.Args[0])
	}
}

// answers asks at the address of the cluster, which leads to any of its API servers.
func (c controlPlane) answers(release string) {
	asked, err := discovery.NewDiscoveryClientForConfig(c.AdminConfig())
	c.Expect(err).NotTo(HaveOccurred())
	c.Eventually(func(g Gomega) {
		version, err := asked.ServerVersion()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(version.GitVersion).To(Equal("v" + release))
	}, patience).Should(Succeed())
}

// lease of KCM.
func (c controlPlane) lease(ctx context.Context) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{}
	c.Eventually(func() error {
		return c.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: kcm}, lease)
	}, patience).Should(Succeed())
	return lease
}
