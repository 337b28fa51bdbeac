package supportbundle

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/proxy"
	apiserverproxy "k8s.io/apiserver/pkg/util/proxy"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// readersToken is what the API server gives for the ServiceAccount that may read the metrics.
const readersToken = "token-of-the-reader"

// endpoint is the manager's, which knows that token alone.
func (w *world) endpoint() *httptest.Server {
	server := httptest.NewTLSServer(http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		if request.URL.Path != "/metrics" || request.Header.Get("Authorization") != "Bearer "+readersToken {
			out.WriteHeader(http.StatusUnauthorized)
			return
		}
		out.WriteHeader(w.metrics)
		fmt.Fprintln(out, "metric 1")
	}))
	w.Cleanup(server.Close)
	return server
}

// giveToken is the API server's TokenRequest.
func (w *world) giveToken(out http.ResponseWriter, request *http.Request) {
	g := NewWithT(w)
	body, err := io.ReadAll(request.Body)
	g.Expect(err).NotTo(HaveOccurred())
	asked := &authenticationv1.TokenRequest{}
	_, _, err = scheme.Codecs.UniversalDeserializer().Decode(body, nil, asked)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*asked.Spec.ExpirationSeconds).To(BeNumerically("<=", 600))
	asked.Status.Token = readersToken
	out.Header().Set("Content-Type", "application/json")
	g.Expect(json.NewEncoder(out).Encode(asked)).To(Succeed())
}

// forwardPort as an API server does: WebSockets carry SPDY, which the kubelet speaks. One before 1.30 knows SPDY alone.
// https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/4006-transition-spdy-to-websockets
func (w *world) forwardPort(out http.ResponseWriter, request *http.Request) {
	if !wsstream.IsWebSocketRequestWithTunnelingProtocol(request) {
		w.spoken = "SPDY"
	} else if !w.older {
		w.spoken = "WebSocket"
	}
	kubelet := httptest.NewServer(http.HandlerFunc(w.kubelet))
	defer kubelet.Close()
	location, err := url.Parse(kubelet.URL)
	NewWithT(w).Expect(err).NotTo(HaveOccurred())
	var handler http.Handler = proxy.NewUpgradeAwareHandler(location, http.DefaultTransport, false, true, w)
	if !w.older {
		tunnel := apiserverproxy.NewTunnelingHandler(handler)
		handler = apiserverproxy.NewTranslatingHandler(handler, tunnel, wsstream.IsWebSocketRequestWithTunnelingProtocol)
	}
	handler.ServeHTTP(out, request)
}

// Error that the API server has with a request.
func (w *world) Error(out http.ResponseWriter, _ *http.Request, err error) {
	http.Error(out, err.Error(), http.StatusInternalServerError)
}

func (w *world) kubelet(out http.ResponseWriter, request *http.Request) {
	if _, err := httpstream.Handshake(request, out, []string{portforward.PortForwardProtocolV1Name}); err != nil {
		return
	}
	streams := make(chan httpstream.Stream, 2)
	connection := spdy.NewResponseUpgrader().UpgradeResponse(out, request, func(stream httpstream.Stream, _ <-chan struct{}) error {
		streams <- stream
		return nil
	})
	if connection == nil {
		return
	}
	defer func() { _ = connection.Close() }()
	faults, data := <-streams, <-streams
	to, err := (&net.Dialer{}).DialContext(request.Context(), "tcp", strings.TrimPrefix(w.manager.URL, "https://"))
	if port := data.Headers().Get(corev1.PortHeader); err != nil || port != "8443" {
		fmt.Fprintf(faults, "no one is at port %s: %v", port, err)
	} else {
		go func() {
			_, _ = io.Copy(to, data)
			_ = to.Close()
		}()
		_, _ = io.Copy(data, to)
	}
	_, _ = data.Close(), faults.Close()
	<-connection.CloseChan()
}

func TestMetricsComeThroughAForwardedPort(t *testing.T) {
	for spoken, older := range map[string]bool{"WebSocket": false, "SPDY": true} {
		t.Run("by "+spoken, func(t *testing.T) {
			g, w := NewWithT(t), newWorld(t)
			w.older, w.noPlan = older, true
			err := w.make()
			g.Expect(err).NotTo(HaveOccurred(), w.files()[readmeName])
			g.Expect(w.files()).To(And(HaveKeyWithValue("manager/metrics-manager-1.txt", "metric 1\n"), Not(HaveKey("plan.txt"))))
			g.Expect(w.spoken).To(Equal(spoken))
			g.Expect(w.files()[readmeName]).To(ContainSubstring("* plan.txt: --no-plan leaves the user cluster alone"))
			for _, text := range w.files() {
				g.Expect(text).NotTo(ContainSubstring(readersToken))
			}
		})
	}
}

func TestMetricsThatCannotBeReadAreSaid(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*world)
		want   string
	}{
		"the manager refuses the token": {
			func(w *world) { w.metrics = http.StatusForbidden }, "the manager answered 403 Forbidden",
		},
		"no token":        {func(w *world) { w.refused = "/token" }, "ask for a token of ServiceAccount system/ccm-migration-controller-metrics-reader: "},
		"no port":         {func(w *world) { w.refused = "/portforward" }, "forward port 8443: "},
		"no one is there": {func(w *world) { w.manager.Close() }, "forward port 8443: no one is at port 8443: dial tcp"},
	} {
		t.Run(name, func(t *testing.T) {
			g, w := NewWithT(t), newWorld(t)
			tc.change(w)
			g.Expect(w.make()).To(MatchError(ContainSubstring("could not read manager/metrics-manager-1.txt")))
			g.Expect(w.files()[readmeName]).To(ContainSubstring(tc.want))
		})
	}
}
