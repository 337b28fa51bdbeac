package dashboard

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/dashboard"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"
)

const (
	root     = "../.."
	deadline = 30 * time.Second
)

// cluster is a management cluster.
type cluster struct {
	client.Client
	environment *envtest.Environment
}

// noon is when the fixtures are looked at.
func noon() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

// managed starts an etcd and an API server that know our kinds.
func managed(t *testing.T) *cluster {
	t.Helper()
	g := NewWithT(t)
	scheme, err := management.NewScheme()
	g.Expect(err).NotTo(HaveOccurred())
	environment := &envtest.Environment{
		Scheme: scheme, CRDDirectoryPaths: []string{root + "/config/crd/bases"}, ErrorIfCRDPathMissing: true,
		ControlPlaneStartTimeout: time.Minute,
	}
	config, err := environment.Start()
	g.Expect(err).NotTo(HaveOccurred(), "make binaries-test builds etcd and kube-apiserver, make test-dashboard runs this")
	t.Cleanup(func() { NewWithT(t).Expect(environment.Stop()).To(Succeed()) })
	config.QPS = -1
	c, err := client.New(config, client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	return &cluster{Client: c, environment: environment}
}

// fixture is a file of the dashboard's own tests, which those of status and fleet status write.
func fixture(t *testing.T, name string, into any) {
	t.Helper()
	g := NewWithT(t)
	text, err := os.ReadFile(filepath.Join(root, "internal/cli/dashboard/testdata", name))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(yaml.UnmarshalStrict(text, into)).To(Succeed())
}

// fill it with the fixtures.
func (c *cluster) fill(t *testing.T) {
	t.Helper()
	clusters, members, migrations := &ucv1.ClusterList{}, &ucv1.ClusterList{}, &ucv1.FleetMigrationList{}
	fixture(t, "clusters.yaml", clusters)
	fixture(t, "members.yaml", members)
	fixture(t, "migrations.yaml", migrations)
	uids := map[string]string{}
	for i := range migrations.Items {
		fm := &migrations.Items[i]
		old := string(fm.UID)
		c.create(t, fm)
		uids[old] = string(fm.UID)
	}
	for _, one := range append(clusters.Items, members.Items...) {
		if admission := one.Status.Admission; admission != nil && uids[admission.UID] != "" {
			admission.UID = uids[admission.UID]
		}
		c.create(t, &one)
	}
}

// create an object with its status.
func (c *cluster) create(t *testing.T, object client.Object) {
	t.Helper()
	g := NewWithT(t)
	if object.GetNamespace() != "" {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: object.GetNamespace()}}
		g.Expect(client.IgnoreAlreadyExists(c.Create(t.Context(), namespace))).To(Succeed())
	}
	wanted := object.DeepCopyObject().(client.Object)
	for _, o := range []client.Object{object, wanted} {
		o.SetUID("")
		o.SetResourceVersion("")
		o.SetCreationTimestamp(metav1.Time{})
		o.SetDeletionTimestamp(nil)
		o.SetGeneration(0)
	}
	g.Expect(c.Create(t.Context(), object)).To(Succeed(), object.GetName())
	wanted.SetResourceVersion(object.GetResourceVersion())
	wanted.SetUID(object.GetUID())
	g.Expect(c.Status().Update(t.Context(), wanted)).To(Succeed(), object.GetName())
}

// dashboard serves the page until the test ends, and returns its address.
func (c *cluster) dashboard(t *testing.T, kubeconfig []byte) string {
	t.Helper()
	g, path := NewWithT(t), filepath.Join(t.TempDir(), "kubeconfig")
	g.Expect(os.WriteFile(path, kubeconfig, 0o600)).To(Succeed())
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	command, ended := dashboard.Command(noon), make(chan error, 1)
	command.SetArgs([]string{"--kubeconfig=" + path})
	command.SetOut(in)
	go func() {
		ended <- command.ExecuteContext(ctx)
		_ = in.Close()
	}()
	t.Cleanup(func() {
		stop()
		g.Eventually(ended, deadline).Should(Receive(BeNil()))
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address := strings.TrimSpace(lines.Text()); strings.HasPrefix(address, "http://") {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return address
		}
	}
	t.Fatal("the dashboard printed no address: ", <-ended)
	return ""
}

// wire is a connection to the API server that can be cut.
type wire struct {
	address, to string

	mu       sync.Mutex
	listener net.Listener
	open     []net.Conn
}

// kubeconfigOver is that of an administrator, over a wire.
func (c *cluster) kubeconfigOver(t *testing.T) (*wire, []byte) {
	t.Helper()
	g := NewWithT(t)
	server, err := url.Parse(c.environment.Config.Host)
	g.Expect(err).NotTo(HaveOccurred())
	if server.Host == "" {
		server.Host = c.environment.Config.Host
	}
	w := &wire{address: "127.0.0.1:0", to: server.Host}
	w.join(t)
	t.Cleanup(w.cut)
	return w, []byte(strings.ReplaceAll(string(c.environment.KubeConfig), w.to, w.address))
}

// join lets connections through.
func (w *wire) join(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", w.address)
	g.Expect(err).NotTo(HaveOccurred())
	w.mu.Lock()
	w.listener, w.address = listener, listener.Addr().String()
	w.mu.Unlock()
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", w.to)
			if err != nil {
				_ = near.Close()
				continue
			}
			w.mu.Lock()
			w.open = append(w.open, near, far)
			w.mu.Unlock()
			go func() { _, _ = io.Copy(near, far) }()
			go func() { _, _ = io.Copy(far, near) }()
		}
	}()
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.listener.Close()
	for _, conn := range w.open {
		_ = conn.Close()
	}
	w.open = nil
}
