//go:build vcsim

package vcsim_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/apiserver"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/kubelet"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

const (
	cluster = "alpha"
	plugin  = "kubernetes.io/vsphere-volume"
	driver  = "csi.vsphere.vmware.com"
	// migrated is the annotation in which a kubelet says which plugins it leaves to CSI drivers.
	migrated = "storage.alpha.kubernetes.io/migrated-plugins"
	// patience bounds each wait: KCM looks again after up to two minutes when something failed.
	patience = 90 * time.Second
	interval = 200 * time.Millisecond
	// grace is how long KCM has to end.
	grace = 10 * time.Second
)

// world is a user cluster in vSphere: a control plane, Nodes that are ready, and the cloud.
type world struct {
	ctx        context.Context
	dir        string
	cloud      *vcenter
	control    *apiserver.Cluster
	client     client.Client
	supervisor *process.Supervisor
	kcm        *process.Process
}

func newWorld(ctx SpecContext, name string, nodes ...string) *world {
	GinkgoHelper()
	w := &world{ctx: ctx, dir: suite.OutputDir("vcsim/" + bed.KubernetesVersion + "/" + name)}
	Expect(os.RemoveAll(w.dir)).To(Succeed())
	Expect(os.MkdirAll(w.dir, 0o755)).To(Succeed())
	GinkgoWriter.Println("raw records:", w.dir)
	w.cloud = startVCenter(ctx, nodes...)
	Expect(os.WriteFile(w.file("vsphere.conf"), w.cloud.conf(), 0o600)).To(Succeed())
	w.supervisor = process.NewSupervisor()
	DeferCleanup(w.supervisor.Close)
	var err error
	w.control, err = apiserver.Start(ctx, apiserver.Options{
		Name: cluster, Index: 1, Dir: w.dir, BinDir: suite.Binaries(), Supervisor: w.supervisor,
		// Pods come right after KCM, which makes the ServiceAccounts that they would have to wait for.
		APIServerArgs: []string{"--disable-admission-plugins=ServiceAccount"},
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(w.control.Stop)
	w.client, err = client.New(w.control.AdminConfig(), client.Options{})
	Expect(err).NotTo(HaveOccurred())
	w.startKubelets()
	for _, node := range nodes {
		w.addNode(node)
	}
	return w
}

func (w *world) file(name string) string { return filepath.Join(w.dir, name) }

// startKubelets keeps Nodes ready. They mount nothing: what they would say of volumes the specs say.
func (w *world) startKubelets() {
	GinkgoHelper()
	// The kubelet may say something after the test's end, which a test's own log does not like.
	trouble, err := os.Create(w.file("kubelet.log"))
	Expect(err).NotTo(HaveOccurred())
	kubelets, err := kubelet.New(kubelet.Options{
		Cluster: cluster, Index: 1, Config: w.control.AdminConfig(), RunDir: w.dir, BinDir: suite.Binaries(), Supervisor: w.supervisor,
		Log: funcr.New(func(prefix, args string) { _, _ = fmt.Fprintln(trouble, prefix, args) }, funcr.Options{}),
	})
	Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(w.ctx)
	ended := make(chan error, 1)
	go func() { ended <- kubelets.Run(ctx) }()
	DeferCleanup(func() {
		cancel()
		Eventually(ended).WithTimeout(patience).Should(Receive(BeNil()))
	})
}

// addNode makes what a kubelet with --cloud-provider=vsphere registers.
func (w *world) addNode(name string) {
	GinkgoHelper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux"},
		Annotations: map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
	}}
	node.Spec.ProviderID = "vsphere://" + w.cloud.uuids[name]
	node.Status.NodeInfo.SystemUUID, node.Status.NodeInfo.KubeletVersion = w.cloud.uuids[name], "v"+bed.KubernetesVersion
	Expect(w.client.Create(w.ctx, node)).To(Succeed())
	Expect(w.client.Create(w.ctx, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{
		Name: name, Annotations: map[string]string{migrated: "kubernetes.io/cinder"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: name, UID: node.UID}},
	}})).To(Succeed())
}

// gates of KCM. From 1.27 on CSI migration is on for good, and 1.29 has no gate for it any more.
func gates(migrates bool) string {
	if observation.MinorOf(bed.KubernetesVersion) < 27 {
		return fmt.Sprintf("CSIMigrationvSphere=%t", migrates)
	}
	Expect(migrates).To(BeTrue())
	return "DisableCloudProviders=false,DisableKubeletCloudCredentialProviders=false"
}

// startKCM starts it with the gate on or off; the one before has ended.
func (w *world) startKCM(migrates bool) {
	GinkgoHelper()
	if w.kcm != nil {
		Expect(w.kcm.Stop(w.ctx, grace)).To(Succeed())
	}
	files := w.control.Files()
	var err error
	w.kcm, err = w.supervisor.Start(process.Options{
		Name: "kube-controller-manager", Command: filepath.Join(suite.Binaries(), "kube-controller-manager"),
		LogFile: w.file(fmt.Sprintf("kcm-%t.log", migrates)),
		Args: []string{
			"--kubeconfig=" + files.ControllerManagerKubeconfig, "--leader-elect=false", "--secure-port=0",
			"--service-account-private-key-file=" + files.ServiceAccountKey, "--root-ca-file=" + files.CA,
			"--use-service-account-credentials=true", "--cloud-provider=vsphere", "--cloud-config=" + w.file("vsphere.conf"),
			"--configure-cloud-routes=false", "--feature-gates=" + gates(migrates), "--v=4",
			// The default of a minute is for clusters of thousands of Nodes.
			"--attach-detach-reconcile-sync-period=5s", "--disable-attach-detach-reconcile-sync=false",
		},
	})
	Expect(err).NotTo(HaveOccurred())
}

// eventually waits for what KCM does, and ends at once when it has ended.
func (w *world) eventually(what func(Gomega)) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		select {
		case <-w.kcm.Done():
			StopTrying("KCM has ended").Wrap(w.kcm.Failure()).Now()
		default:
		}
		what(g)
	}).WithContext(w.ctx).WithTimeout(patience).WithPolling(interval).Should(Succeed())
}

// mounts says for a kubelet which volumes it has mounted: KCM detaches none of these.
func (w *world) mounts(name string, volumes ...corev1.UniqueVolumeName) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node := w.node(name)
		node.Status.VolumesInUse = volumes
		return w.client.Status().Update(w.ctx, node)
	})).To(Succeed())
}

func (w *world) node(name string) *corev1.Node {
	GinkgoHelper()
	node := &corev1.Node{}
	Expect(w.client.Get(w.ctx, client.ObjectKey{Name: name}, node)).To(Succeed())
	return node
}

// expectMigrated waits until KCM says of a volume that the driver is to serve it.
func (w *world) expectMigrated(name string) {
	GinkgoHelper()
	volume := &corev1.PersistentVolume{}
	w.eventually(func(g Gomega) {
		g.Expect(w.client.Get(w.ctx, client.ObjectKey{Name: name}, volume)).To(Succeed())
		g.Expect(volume.Annotations).To(HaveKeyWithValue("pv.kubernetes.io/migrated-to", driver))
	})
}

// migrateKubelet does what a kubelet does that has the gate on, and the driver's registrar beside it.
func (w *world) migrateKubelet(name string) {
	GinkgoHelper()
	entry := &storagev1.CSINode{}
	Expect(w.client.Get(w.ctx, client.ObjectKey{Name: name}, entry)).To(Succeed())
	entry.Annotations[migrated] += "," + plugin
	entry.Spec.Drivers = []storagev1.CSINodeDriver{{Name: driver, NodeID: w.cloud.uuids[name]}}
	Expect(w.client.Update(w.ctx, entry)).To(Succeed())
}
