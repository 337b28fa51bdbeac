package kubelet

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const deadline = 20 * time.Second

func TestTally(t *testing.T) {
	tests := map[string]struct {
		successes, failures int32
		results             string
		want                string
	}{
		"one success is enough by default":                        {results: "+", want: "+"},
		"three failures are needed by default":                    {results: "---", want: "..-"},
		"a success in between starts the count of failures again": {results: "+--+---", want: "+++++" + "+-"},
		"several successes may be asked for":                      {successes: 2, failures: 1, results: "+-+++-", want: ".--++-"},
		"a verdict stays until the opposite is established":       {failures: 2, results: "+-+-+--", want: "++++++-"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			results := newTally(&corev1.Probe{SuccessThreshold: test.successes, FailureThreshold: test.failures})
			var got string
			for _, result := range test.results {
				before := results.verdict
				g.Expect(results.add(result == '+')).To(Equal(results.verdict != before))
				got += map[verdict]string{undecided: ".", passing: "+", failing: "-"}[results.verdict]
			}
			g.Expect(got).To(Equal(test.want))
		})
	}
}

// target is a server whose answer can be changed, and the probe of it.
func target(t *testing.T, secure bool, status *atomic.Int32) (*corev1.Container, *corev1.Probe, string) {
	t.Helper()
	g := NewWithT(t)
	handler := http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		if request.URL.RequestURI() != "/healthz?verbose" || request.Header.Get("X-Probe") != "yes" {
			answer.WriteHeader(http.StatusNotFound)
			return
		}
		answer.WriteHeader(int(status.Load()))
	})
	start, scheme := httptest.NewServer, corev1.URISchemeHTTP
	if secure {
		start, scheme = httptest.NewTLSServer, corev1.URISchemeHTTPS
	}
	server := start(handler)
	t.Cleanup(server.Close)
	ip, port, err := net.SplitHostPort(server.Listener.Addr().String())
	g.Expect(err).NotTo(HaveOccurred())
	number, err := strconv.ParseInt(port, 10, 32)
	g.Expect(err).NotTo(HaveOccurred())
	container := &corev1.Container{Ports: []corev1.ContainerPort{{Name: "health", ContainerPort: int32(number)}}}
	probe := &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 1, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
		Path: "/healthz?verbose", Port: intstr.FromString("health"), Scheme: scheme,
		HTTPHeaders: []corev1.HTTPHeader{{Name: "X-Probe", Value: "yes"}},
	}}}
	return container, probe, ip
}

func TestProbeOnce(t *testing.T) {
	tests := map[string]struct {
		secure bool
		status int32
		passes bool
	}{
		"success passes":                                   {status: 200, passes: true},
		"an error of the server fails":                     {status: 500},
		"an error of the client fails":                     {status: 403},
		"a certificate of no one in particular is trusted": {secure: true, status: 204, passes: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var status atomic.Int32
			status.Store(test.status)
			container, probe, ip := target(t, test.secure, &status)
			err := (&prober{container: container, ip: ip}).once(t.Context(), probe)
			NewWithT(t).Expect(err == nil).To(Equal(test.passes), "%v", err)
		})
	}
}

func TestOtherProbes(t *testing.T) {
	g := NewWithT(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	port := listener.Addr().(*net.TCPAddr).Port
	p := &prober{container: &corev1.Container{}, ip: "127.0.0.1"}
	socket := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt(port)}}}
	g.Expect(p.once(t.Context(), socket)).To(Succeed())
	g.Expect(listener.Close()).To(Succeed())
	g.Expect(p.once(t.Context(), socket)).NotTo(Succeed())
	g.Expect(p.once(t.Context(), &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{}}})).To(Succeed())
}

func TestProberFollowsTheContainer(t *testing.T) {
	g := NewWithT(t)
	var status, wakeups atomic.Int32
	status.Store(500)
	container, probe, ip := target(t, false, &status)
	startup := probe.DeepCopy()
	startup.FailureThreshold = 100
	container.StartupProbe, container.ReadinessProbe, container.LivenessProbe = startup, probe, probe
	p := startProber(t.Context(), container, ip, func() { wakeups.Add(1) })
	defer p.stop()
	g.Consistently(func() bool { return p.started() || p.ready() || p.unhealthy() }, "300ms").Should(BeFalse())

	status.Store(200)
	g.Eventually(func() bool { return p.started() && p.ready() && !p.unhealthy() }, deadline).Should(BeTrue())
	status.Store(503)
	g.Eventually(func() bool { return !p.ready() && p.unhealthy() }, deadline).Should(BeTrue())
	g.Expect(wakeups.Load()).To(BeNumerically(">=", 4))
}

func TestProberWithoutProbesIsReadyAtOnce(t *testing.T) {
	g := NewWithT(t)
	p := startProber(t.Context(), &corev1.Container{}, "", func() {})
	g.Expect(p.started() && p.ready() && !p.unhealthy()).To(BeTrue())
}

func TestStartupProbeThatNeverPassesFailsTheContainer(t *testing.T) {
	g := NewWithT(t)
	var status atomic.Int32
	status.Store(500)
	container, probe, ip := target(t, false, &status)
	container.StartupProbe = probe
	p := startProber(t.Context(), container, ip, func() {})
	defer p.stop()
	g.Eventually(p.unhealthy, deadline).Should(BeTrue())
	g.Expect(p.started() || p.ready()).To(BeFalse())
}
