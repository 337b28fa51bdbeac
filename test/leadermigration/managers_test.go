package leadermigration_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

const (
	minor = 30
	// patience bounds each wait; nothing here measures speed.
	patience = 60 * time.Second
	interval = 100 * time.Millisecond
	// cloudNode is a loop that only CCM has, and no lock moves.
	cloudNode leadermigration.Loop = "cloud-node"
	// stranger holds a lock that no one is to get.
	stranger = "stranger"
)

// pair is a KCM and a CCM with Leases of their own, and a witness of what they run.
type pair struct {
	t    *testing.T
	name string
	dir  string
	mu   sync.Mutex
	// samples are what the witness saw.
	samples []loops.Sample
}

// newPair starts the witness.
func newPair(t *testing.T, name string) *pair {
	t.Helper()
	g := NewWithT(t)
	p := &pair{t: t, name: name, dir: t.TempDir()}
	g.Expect(os.MkdirAll(filepath.Join(p.dir, "processes", name), 0o755)).To(Succeed())
	sampler := loops.New(loops.Options{
		ProcessDir: filepath.Join(p.dir, "processes"), Out: p, TLS: func(string) *tls.Config { return suite.metricsTLS },
		Interval: interval, Timeout: time.Second,
	})
	ended := make(chan error, 1)
	go func() { ended <- sampler.Run(t.Context()) }()
	t.Cleanup(func() { NewWithT(t).Expect(<-ended).To(Succeed()) })
	return p
}

// Write takes a line of the sampler.
func (p *pair) Write(line []byte) (int, error) {
	var sample loops.Sample
	if err := json.Unmarshal(line, &sample); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.samples = append(p.samples, sample)
	return len(line), nil
}

func (p *pair) seen() []loops.Sample {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.samples)
}

// manager is a running process of the pair.
type manager struct {
	*process.Process
	component leadermigration.Component
	pair      *pair
	host, ip  string
}

// start runs a manager with flags that came from rendering, and makes it known to the witness.
func (p *pair) start(component leadermigration.Component, flags ...leadermigration.Flag) *manager {
	p.t.Helper()
	g := NewWithT(p.t)
	// A hostname has at most 64 letters.
	host := p.name + "-" + strings.TrimSuffix(string(component), "-controller-manager")
	m := &manager{component: component, pair: p, host: host, ip: ownAddress()}
	args := m.arguments()
	for _, flag := range flags {
		args = append(args, flag.String())
	}
	shim, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	m.Process, err = suite.supervisor.Start(process.Options{
		Name: m.host, Command: filepath.Join(suite.binaries, string(component)), Args: args,
		LogFile:    filepath.Join(p.dir, string(component)+".log"),
		Namespaces: &process.Namespaces{Shim: []string{shim, "shim"}, Hostname: m.host},
	})
	g.Expect(err).NotTo(HaveOccurred())
	record, err := json.Marshal(map[string]any{
		"pid": m.PID(), "cluster": p.name, "pod": m.host, "image": component, "ip": m.ip, "args": args,
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(m.record(), record, 0o600)).To(Succeed())
	p.t.Cleanup(m.end)
	return m
}

// arguments are those without the lock. KCM runs the token loop, without which it never asks for the migration lock, and the
// loops that a lock may move.
func (m *manager) arguments() []string {
	kubeconfig := suite.cluster.Files().AdminKubeconfig
	args := []string{
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=" + m.ip, "--cloud-provider=simcloud", "--cloud-config=" + suite.cloudConf,
		"--allocate-node-cidrs=true", "--cluster-cidr=10.244.0.0/16", "--configure-cloud-routes=true", "--min-resync-period=1h",
		"--leader-elect-resource-name=" + m.mainLock(), "--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s",
		"--leader-elect-retry-period=500ms",
	}
	if m.component == leadermigration.CCM {
		return args
	}
	return append(
		args,
		"--feature-gates=DisableCloudProviders=false,DisableKubeletCloudCredentialProviders=false",
		"--service-account-private-key-file="+suite.cluster.Files().ServiceAccountKey,
		"--controllers=serviceaccount-token-controller,node-ipam-controller,"+
			"service-lb-controller,node-route-controller,cloud-node-lifecycle-controller",
	)
}

func (m *manager) mainLock() string { return m.host }

// record is the file that makes the manager known to the witness.
func (m *manager) record() string {
	return filepath.Join(m.pair.dir, "processes", m.pair.name, string(m.component)+".json")
}

// end kills the process, as a node that fails does.
func (m *manager) end() {
	m.Kill()
	<-m.Done()
	_ = os.Remove(m.record())
}

// running are the loops that the witness saw last.
func (m *manager) running() []leadermigration.Loop {
	state := map[leadermigration.Loop]bool{}
	for _, sample := range m.pair.seen() {
		if sample.Instance == m.host {
			state[leadermigration.Loop(sample.Loop)] = sample.Running
		}
	}
	maps.DeleteFunc(state, func(_ leadermigration.Loop, running bool) bool { return !running })
	return slices.Sorted(maps.Keys(state))
}

// eventually waits for what a manager does that goes on.
func (m *manager) eventually(condition func(g Gomega)) {
	m.pair.t.Helper()
	NewWithT(m.pair.t).Eventually(func(g Gomega) {
		if m.ExitCode() >= 0 {
			StopTrying(m.Failure().Error()).Now()
		}
		condition(g)
	}).WithContext(m.pair.t.Context()).WithTimeout(patience).WithPolling(interval).Should(Succeed())
}

// expectRunning waits until the manager leads and runs exactly these loops.
func (m *manager) expectRunning(wanted []leadermigration.Loop) {
	m.pair.t.Helper()
	m.expectLeading()
	m.eventually(func(g Gomega) { g.Expect(m.running()).To(Equal(wanted), "loops of %s", m.host) })
}

// expectLeading waits until the manager has its main lock.
func (m *manager) expectLeading() {
	m.pair.t.Helper()
	m.eventually(func(g Gomega) { g.Expect(holderOf(m.pair.t.Context(), g, m.mainLock())).To(HavePrefix(m.host + "_")) })
}

// expectHolding waits until the manager has the migration lock with the identity of its main lock.
func (m *manager) expectHolding(lock string) {
	m.pair.t.Helper()
	m.eventually(func(g Gomega) {
		g.Expect(holderOf(m.pair.t.Context(), g, lock)).To(
			And(HavePrefix(m.host+"_"), Equal(holderOf(m.pair.t.Context(), g, m.mainLock()))),
		)
	})
}

func holderOf(ctx context.Context, g Gomega, name string) string {
	lease, err := suite.client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, name, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// hold gives a lock to a stranger, who never renews it and never has to.
func hold(t *testing.T, lock string) {
	t.Helper()
	now := metav1.NowMicro()
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: lock},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new(stranger), LeaseDurationSeconds: new(int32(3600)), AcquireTime: &now, RenewTime: &now,
		},
	}
	_, err := suite.client.CoordinationV1().Leases(metav1.NamespaceSystem).Create(t.Context(), lease, metav1.CreateOptions{})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}

// release deletes a lock that a stranger holds.
func release(t *testing.T, lock string) {
	t.Helper()
	err := suite.client.CoordinationV1().Leases(metav1.NamespaceSystem).Delete(t.Context(), lock, metav1.DeleteOptions{})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}

func configured(lock *leadermigration.Lock, component leadermigration.Component) leadermigration.Configuration {
	return leadermigration.Configuration{Manager: component, Version: leadermigration.OfMinor(minor), Lock: lock}
}

// placed are the loops that a manager has in one of the places, sorted.
func placed(
	lock *leadermigration.Lock,
	component leadermigration.Component,
	places ...leadermigration.Place,
) []leadermigration.Loop {
	has := leadermigration.AllLoops()
	var found []leadermigration.Loop
	if component == leadermigration.CCM {
		has = leadermigration.CloudLoops()
		if slices.Contains(places, leadermigration.MainLock) {
			found = append(found, cloudNode)
		}
	}
	for _, loop := range has {
		if slices.Contains(places, configured(lock, component).Place(loop)) {
			found = append(found, loop)
		}
	}
	slices.Sort(found)
	return found
}

// twice are the loops that ran in both managers at once.
func (p *pair) twice() []leadermigration.Loop {
	var found []leadermigration.Loop
	for _, overlap := range loops.Overlaps(p.seen()) {
		if loop := leadermigration.Loop(overlap.Loop); !slices.Contains(found, loop) {
			found = append(found, loop)
		}
	}
	slices.Sort(found)
	return found
}

// ownAddress is a loopback address that no other manager of this test has, so that each listens on its standard port: a
// port that was free a moment ago may be someone else's by the time that the manager listens on it.
func ownAddress() string {
	n := suite.managers.Add(1)
	return fmt.Sprintf("127.201.%d.%d", n>>8, n&0xff)
}
