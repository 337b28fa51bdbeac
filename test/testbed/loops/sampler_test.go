package loops

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// output is a file that may be read while it is written.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// seen returns the samples of an instance's loop.
func (o *output) seen(instance, loop string) []Sample {
	o.mu.Lock()
	defer o.mu.Unlock()
	all, err := ReadSamples(bytes.NewReader(o.text.Bytes()))
	if err != nil {
		return nil
	}
	var matching []Sample
	for _, sample := range all {
		if sample.Instance == instance && sample.Loop == loop {
			matching = append(matching, sample)
		}
	}
	return matching
}

// runs says whether the last sample of the instance's service loop was true.
func (o *output) runs(instance string) func() bool {
	return func() bool {
		seen := o.seen(instance, "service")
		return len(seen) > 1 && seen[len(seen)-1].Running
	}
}

// manager is a controller manager's metrics server.
type manager struct {
	metrics atomic.Value
	hangs   atomic.Bool
	server  *httptest.Server
}

func newManager(t *testing.T, metrics string) *manager {
	t.Helper()
	m := &manager{}
	m.metrics.Store(metrics)
	m.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m.hangs.Load() {
			<-r.Context().Done()
			return
		}
		fmt.Fprint(w, m.metrics.Load())
	}))
	t.Cleanup(m.server.Close)
	return m
}

func (m *manager) process(cluster, namespace, pod, name string, pid int) process {
	host, port, _ := net.SplitHostPort(m.server.Listener.Addr().String())
	return process{
		PID: pid, Cluster: cluster, Namespace: namespace, Pod: pod, Container: name,
		Image: "registry.example/kubernetes/" + name + ":v1", IP: host, Args: []string{"--secure-port=" + port},
	}
}

func register(t *testing.T, dir string, p process) string {
	t.Helper()
	g := NewWithT(t)
	file := filepath.Join(dir, p.Cluster, p.Pod+"_"+p.Container+".json")
	g.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
	text, err := json.Marshal(p)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(file, text, 0o600)).To(Succeed())
	return file
}

func startSampler(t *testing.T, dir string) (out, attempts *output) {
	t.Helper()
	out, attempts = &output{}, &output{}
	sampler := New(Options{
		ProcessDir: dir, Out: out, Reads: attempts, Interval: 5 * time.Millisecond, Timeout: 200 * time.Millisecond,
		TLS: func(string) *tls.Config { return &tls.Config{MinVersion: tls.VersionTLS12} },
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- sampler.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		NewWithT(t).Eventually(done).Should(Receive(BeNil()))
	})
	return out, attempts
}

// failed counts the attempts that an instance did not answer.
func (o *output) failed(instance string) func() int {
	return func() int {
		o.mu.Lock()
		defer o.mu.Unlock()
		all, _ := ReadReads(bytes.NewReader(o.text.Bytes()))
		count := 0
		for _, read := range all {
			if read.Instance == instance && read.Error != "" {
				count++
			}
		}
		return count
	}
}

const serviceRuns = `# HELP running_managed_controllers Indicates where.
# TYPE running_managed_controllers gauge
running_managed_controllers{manager="m",name="service"} 1
running_managed_controllers{manager="m",name="route"} 0
rest_client_requests_total{code="200"} 3
`

func TestSampler(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	kcm, ccm := newManager(t, serviceRuns), newManager(t, serviceRuns)
	kcmFile := register(t, dir, kcm.process("management", "user-alpha", "kcm-0", kubeControllerManager, 1))
	register(t, dir, ccm.process("alpha", "kube-system", "ccm-0", cloudControllerManager, 2))
	other := newManager(t, serviceRuns)
	register(t, dir, other.process("alpha", "kube-system", "other-0", "csi-driver", 3))
	out, attempts := startSampler(t, dir)

	g.Eventually(out.runs("kcm-0")).Should(BeTrue())
	g.Eventually(out.runs("ccm-0")).Should(BeTrue())
	for _, instance := range []string{"kcm-0", "ccm-0"} {
		g.Expect(out.seen(instance, "service")[0].Cluster).To(Equal("alpha"), "both work for the user cluster")
	}
	g.Expect(out.seen("kcm-0", "route")).To(BeEmpty(), "a loop that never ran has no sample")

	kcm.hangs.Store(true)
	before := len(out.seen("ccm-0", "service"))
	g.Eventually(func() int { return len(out.seen("ccm-0", "service")) }).Should(BeNumerically(">", before+2))
	g.Expect(out.runs("kcm-0")()).To(BeTrue(), "a hanging process says nothing new")
	g.Eventually(attempts.failed("kcm-0")).Should(BeNumerically(">", 1), "but that it was asked is written down")
	g.Expect(attempts.failed("ccm-0")()).To(BeZero())

	g.Expect(os.WriteFile(kcmFile, []byte(`{"pid":`), 0o600)).To(Succeed())
	ccm.metrics.Store(`running_managed_controllers{manager="m",name="service"} 0` + "\n")
	g.Eventually(out.runs("ccm-0")).Should(BeFalse())
	g.Expect(out.runs("kcm-0")()).To(BeTrue(), "a half written registry file is no end")

	g.Expect(os.Remove(kcmFile)).To(Succeed())
	g.Eventually(out.runs("kcm-0")).Should(BeFalse())
	kcm.hangs.Store(false)
	register(t, dir, kcm.process("management", "user-alpha", "kcm-0", kubeControllerManager, 4))
	g.Eventually(out.runs("kcm-0")).Should(BeTrue(), "a new process of the pod is sampled again")
	register(t, dir, kcm.process("management", "user-alpha", "kcm-0", kubeControllerManager, 5))
	g.Eventually(func() int { return stops(out.seen("kcm-0", "service")) }).Should(Equal(2), "the old process ended")
	g.Expect(stops(out.seen("ccm-0", "service"))).To(Equal(1), "what stopped is said once")
	g.Expect(out.seen("other-0", "service")).To(BeEmpty())
}

func stops(samples []Sample) int {
	count := 0
	for _, sample := range samples {
		if !sample.Running {
			count++
		}
	}
	return count
}

func TestProcess(t *testing.T) {
	tests := map[string]struct {
		process                  process
		component, cluster, port string
	}{
		"a KCM of a control plane namespace works for the user cluster": {
			process:   process{Cluster: "management", Namespace: "user-a", Image: "r/kube-controller-manager:v1"},
			component: kubeControllerManager, cluster: "a", port: "10257",
		},
		"a CCM in the user cluster works for it": {
			process: process{Cluster: "a", Namespace: "kube-system", Image: "r:5000/cloud-controller-manager@sha256:" +
				strings.Repeat("0", 64)},
			component: cloudControllerManager, cluster: "a", port: "10258",
		},
		"a namespace with such a name in a user cluster is its own": {
			process: process{
				Cluster:   "a",
				Namespace: "user-b",
				Container: cloudControllerManager,
				Image:     "r/x",
				Args:      []string{"--secure-port=7"},
			},
			component: cloudControllerManager,
			cluster:   "a",
			port:      "7",
		},
		"anything else is no controller manager": {
			process: process{Cluster: "a", Image: "r/machine-controller:v1", Container: "machine-controller"}, cluster: "a",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(tc.process.component()).To(Equal(tc.component))
			g.Expect(tc.process.worksFor("management")).To(Equal(tc.cluster))
			g.Expect(tc.process.port()).To(Equal(tc.port))
		})
	}
}

func TestExcluded(t *testing.T) {
	tests := map[string]struct {
		container string
		args      []string
		want      []string
	}{
		"a KCM with an in-tree provider runs all":   {kubeControllerManager, []string{"--cloud-provider=simcloud"}, []string{}},
		"a KCM without a provider runs none":        {kubeControllerManager, nil, CloudLoops()},
		"a KCM with an external provider runs none": {kubeControllerManager, []string{"--cloud-provider=external"}, CloudLoops()},
		"a CCM runs all":                            {cloudControllerManager, []string{"--cloud-provider=simcloud"}, []string{}},
		"loops are left out by names of 1.28 and on": {
			kubeControllerManager, []string{"--cloud-provider=simcloud", "--controllers=*,-service-lb-controller,-node-route-controller"},
			[]string{"service", "route"},
		},
		"loops are left out by names of before 1.28": {
			kubeControllerManager, []string{"--cloud-provider=simcloud", "--controllers=*,-cloud-node-lifecycle"},
			[]string{"cloud-node-lifecycle"},
		},
		"what is named without a minus is not left out": {
			kubeControllerManager, []string{"--cloud-provider=simcloud", "--controllers=service"}, []string{},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(process{Container: tc.container, Args: tc.args}.excluded()).To(Equal(tc.want))
		})
	}
}
