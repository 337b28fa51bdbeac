package releases_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/apiserver"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

const (
	// patience bounds each wait; nothing here measures speed.
	patience = 90 * time.Second
	interval = 100 * time.Millisecond

	kcm = "kube-controller-manager"
	// folder names what hack/binaries.sh built of a release.
	folder = "TEST_RELEASE"
)

// What step Finalize leaves KCM is --cloud-provider=external. Without that flag, releases that the tables call bad end at the
// first Service that gets or loses its load balancer: the service loop did not start, for want of a provider, and listens all the
// same (https://github.com/kubernetes/kubernetes/issues/128121).
func TestKCMWithoutInTreeProvider(t *testing.T) {
	release := newRelease(t)
	version, err := leadermigration.ParseVersion(release.version)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	known, bad := leadermigration.BadReleasesOf(version)
	t.Logf("KCM %s, known as bad: %t %s", version, bad, known.Reason)
	t.Run("with the flag that Finalize leaves", func(t *testing.T) {
		release.expectAlive(t, "external", release.start(t, "--cloud-provider=external"))
	})
	t.Run("without it", func(t *testing.T) {
		manager := release.start(t)
		if !bad {
			release.expectAlive(t, "none", manager)
			return
		}
		g := NewWithT(t)
		release.expectWork(t, "none")
		release.toggle(t, "none")
		g.Eventually(manager.Done()).WithTimeout(patience).Should(BeClosed(), "it does not crash")
		t.Logf("exit code %d: %s", manager.ExitCode(), manager.LogTail(12))
		log, err := os.ReadFile(manager.LogFile())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(log)).To(
			And(ContainSubstring("nil pointer dereference"), ContainSubstring("service.(*Controller).needsUpdate")),
		)
	})
}

// release is KCM of one and a control plane for it.
type release struct {
	version, program string
	// servers is the folder of kube-apiserver.
	servers    string
	supervisor *process.Supervisor
	cluster    *apiserver.Cluster
	client     client.Client
}

// newRelease is the one that hack/binaries.sh built into the folder, or else KCM of the next minor.
func newRelease(t *testing.T) *release {
	t.Helper()
	if built := os.Getenv(folder); built != "" {
		return newReleaseIn(t, built)
	}
	g := NewWithT(t)
	next, err := filepath.Glob(filepath.Join(assets(t), "v1.*", kcm))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(next).To(HaveLen(1), "make binaries-test builds KCM of the next minor")
	return startRelease(t, assets(t), next[0])
}

// newReleaseIn has kube-apiserver of the same release, as the version skew policy asks for.
func newReleaseIn(t *testing.T, built string) *release {
	t.Helper()
	return startRelease(t, built, filepath.Join(built, kcm))
}

func assets(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("KUBEBUILDER_ASSETS")
	NewWithT(t).Expect(folder).NotTo(
		BeEmpty(), "KUBEBUILDER_ASSETS does not name the directory that make binaries-test fills: run make test",
	)
	return folder
}

// startRelease starts a control plane, whose kube-apiserver is in a folder, for a KCM.
func startRelease(t *testing.T, servers, program string) *release {
	t.Helper()
	g := NewWithT(t)
	r := &release{supervisor: process.NewSupervisor(), servers: servers, program: program}
	t.Cleanup(r.supervisor.Close)
	says, err := exec.CommandContext(t.Context(), program, "--version").Output()
	g.Expect(err).NotTo(HaveOccurred())
	r.version = strings.TrimPrefix(strings.TrimSpace(string(says)), "Kubernetes ")
	r.cluster = r.control(t)
	r.client, err = client.New(r.cluster.AdminConfig(), client.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	return r
}

// control is a control plane of its own, whose API server has these flags, too.
func (r *release) control(t *testing.T, flags ...string) *apiserver.Cluster {
	t.Helper()
	g := NewWithT(t)
	binaries := t.TempDir()
	for name, from := range map[string]string{"etcd": assets(t), "kube-apiserver": r.servers} {
		path, err := filepath.Abs(filepath.Join(from, name))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.Symlink(path, filepath.Join(binaries, name))).To(Succeed())
	}
	cluster, err := apiserver.Start(t.Context(), apiserver.Options{
		Name: "release", Index: 1, Dir: t.TempDir(), BinDir: binaries, Supervisor: r.supervisor, APIServerArgs: flags,
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(cluster.Stop)
	return cluster
}

func (r *release) start(t *testing.T, flags ...string) *process.Process {
	t.Helper()
	files := r.cluster.Files()
	started, err := r.supervisor.Start(process.Options{
		Name: kcm, Command: r.program, LogFile: filepath.Join(t.TempDir(), kcm+".log"),
		Args: append([]string{
			"--kubeconfig=" + files.ControllerManagerKubeconfig, "--leader-elect=false", "--secure-port=0",
			"--service-account-private-key-file=" + files.ServiceAccountKey, "--root-ca-file=" + files.CA,
			"--use-service-account-credentials=true",
		}, flags...),
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { started.Kill(); <-started.Done() })
	return started
}

// expectAlive does what a bad release ends of, and has KCM work before and after it.
func (r *release) expectAlive(t *testing.T, name string, manager *process.Process) {
	t.Helper()
	r.expectWork(t, name)
	r.toggle(t, name)
	r.expectWork(t, name+"-afterwards")
	NewWithT(t).Expect(manager.Done()).NotTo(BeClosed(), "%s", manager.LogTail(12))
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}
}

// expectWork waits for the EndpointSlice of a new Service: its loop is told of Services as the service loop is, in their order.
func (r *release) expectWork(t *testing.T, name string) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(r.client.Create(t.Context(), &corev1.Service{ObjectMeta: named(name), Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": name}, Ports: []corev1.ServicePort{{Port: 80}},
	}})).To(Succeed())
	g.Eventually(func() ([]discoveryv1.EndpointSlice, error) {
		slices := &discoveryv1.EndpointSliceList{}
		err := r.client.List(t.Context(), slices, client.MatchingLabels{discoveryv1.LabelServiceName: name})
		return slices.Items, err
	}).WithTimeout(patience).WithPolling(interval).ShouldNot(BeEmpty())
}

// toggle gives a Service a load balancer.
func (r *release) toggle(t *testing.T, name string) {
	t.Helper()
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"type":%q}}`, corev1.ServiceTypeLoadBalancer))
	NewWithT(t).Expect(r.client.Patch(t.Context(), &corev1.Service{ObjectMeta: named(name)}, patch)).To(Succeed())
}
