package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/program"
)

func TestRegister(t *testing.T) {
	started := time.Unix(1000, 5)
	older := &registration{baseURL: "https://127.2.0.10:9876", startedAt: started}
	newer := &registration{baseURL: "https://127.2.0.11:9876", startedAt: started.Add(time.Nanosecond)}
	tests := map[string]struct {
		order []*registration
		want  *registration
	}{
		"the first is registered":                    {[]*registration{older}, older},
		"a newer process takes over":                 {[]*registration{older, newer}, newer},
		"an older one does not take it back":         {[]*registration{older, newer, older}, newer},
		"nor does an older one that comes later":     {[]*registration{newer, older}, newer},
		"registering again is no change for a newer": {[]*registration{newer, newer}, newer},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := fake.NewClientBuilder().Build()
			for _, registration := range test.order {
				ready := &atomic.Bool{}
				registration.keep(t.Context(), c, ready)
				g.Expect(ready.Load()).To(BeTrue(), "an older process stays ready: it still answers")
			}
			got := &admissionregistrationv1.MutatingWebhookConfiguration{}
			g.Expect(c.Get(t.Context(), client.ObjectKey{Name: configurationName}, got)).To(Succeed())
			g.Expect(got.Webhooks).To(HaveLen(2))
			g.Expect(*got.Webhooks[0].ClientConfig.URL).To(Equal(test.want.baseURL + "/machines"))
			g.Expect(*got.Webhooks[1].ClientConfig.URL).To(Equal(test.want.baseURL + "/machinedeployments"))
			g.Expect(*got.Webhooks[0].FailurePolicy).To(Equal(admissionregistrationv1.Fail))
		})
	}
}

func TestSelfSignedServesItsBundle(t *testing.T) {
	g := NewWithT(t)
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	identity, err := selfSigned("127.0.0.1", time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	mux := http.NewServeMux()
	program.Handle(mux, func() bool { return true })
	server := &http.Server{Handler: mux, TLSConfig: &tls.Config{Certificates: []tls.Certificate{identity.certificate}}}
	go func() { _ = program.Serve(t.Context(), server, listener) }()

	roots := x509.NewCertPool()
	g.Expect(roots.AppendCertsFromPEM(identity.bundle)).To(BeTrue())
	caller := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	answer, err := caller.Get("https://" + listener.Addr().String() + "/healthz")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(answer.Body.Close()).To(Succeed())
	g.Expect(answer.StatusCode).To(Equal(http.StatusOK))
}

func TestAdvertised(t *testing.T) {
	tests := map[string]struct {
		listen, podIP, want string
	}{
		"a listener's own address is used":         {"127.2.0.10:9876", "127.2.0.99", "127.2.0.10:9876"},
		"a listener on all uses the Pod's address": {"[::]:9876", "127.2.0.11", "127.2.0.11:9876"},
		"without a Pod it is this machine":         {"0.0.0.0:9876", "", "127.0.0.1:9876"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			t.Setenv("POD_IP", test.podIP)
			address, err := net.ResolveTCPAddr("tcp", test.listen)
			g.Expect(err).NotTo(HaveOccurred())
			got, err := advertised(address)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(test.want))
		})
	}
}
