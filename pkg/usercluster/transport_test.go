package usercluster

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// serverOf is an API server over TLS and HTTP/2 whose answers a test writes.
func serverOf(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	s := httptest.NewUnstartedServer(answer)
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(func() {
		// A test that failed may still watch: Close alone would wait for its connections without end.
		_ = s.Config.Close()
		s.Close()
	})
	return s
}

func kubeconfigFor(s *httptest.Server, user string) []byte {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return []byte(kubeconfigWith(`server: "`+s.URL+`", certificate-authority-data: `+base64.StdEncoding.EncodeToString(ca), user))
}

// options are those of a manager that may reach the servers of tests.
func testOptions() Options {
	options := Options{
		Scheme: scheme.Scheme,
		Log:    logr.Discard(),
		Allow:  Allow{Addresses: []net.IPNet{loopback()}},
		QPS:    10000,
		Burst:  10000,
	}
	options.setDefaults()
	return options
}

// sessionTo is a session with a server, which was not asked for anything.
func sessionTo(t *testing.T, s *httptest.Server, options Options) *Session {
	t.Helper()
	session, err := open(
		kubeconfigFor(s, token),
		types.NamespacedName{Namespace: "tenant", Name: "alpha"},
		options,
		knownKinds(),
		func() {},
	)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(session.close)
	return session
}

func TestNoRedirectIsFollowed(t *testing.T) {
	for name, tc := range map[string]struct {
		status  int
		without bool
	}{
		"301": {status: http.StatusMovedPermanently}, "302": {status: http.StatusFound}, "303": {status: http.StatusSeeOther},
		"307": {status: http.StatusTemporaryRedirect}, "308": {status: http.StatusPermanentRedirect},
		"300": {status: http.StatusMultipleChoices}, "304 to nowhere": {status: http.StatusNotModified, without: true},
		"400 with a place": {status: http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var reached atomic.Int32
			count := func(http.ResponseWriter, *http.Request) { reached.Add(1) }
			elsewhere, plain := serverOf(t, count), httptest.NewServer(http.HandlerFunc(count))
			t.Cleanup(plain.Close)
			to := atomic.Pointer[string]{}
			s := sessionTo(t, serverOf(t, func(w http.ResponseWriter, _ *http.Request) {
				if !tc.without {
					w.Header().Set("Location", *to.Load())
				}
				w.WriteHeader(tc.status)
			}), testOptions())
			for _, place := range []string{elsewhere.URL, plain.URL, "/api/v1/nodes"} {
				to.Store(&place)
				for what, ask := range map[string]func() error{
					"a probe": func() error { return s.probe(t.Context()) },
					"a list":  func() error { return s.client.List(t.Context(), &corev1.NodeList{}) },
					"a write": func() error { return s.client.Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{}) },
				} {
					redirect := (*reads.RedirectError)(nil)
					err := ask()
					g.Expect(errors.As(err, &redirect)).To(BeTrue(), "%s to %s: %v", what, place, err)
				}
			}
			g.Expect(reached.Load()).To(BeZero(), "the token stays here")
			because := secretSource{}.failed(s.probe(t.Context()))
			g.Expect(because).To(
				And(haveReason(ucv1.UnreachableReason), HaveField("Message", ContainSubstring("redirects are never followed"))),
			)
		})
	}
}

func TestAddressesAreJudgedWhenTheyAreDialed(t *testing.T) {
	own := []net.IPNet{loopback()}
	judgeAddresses(t, map[string]judgedAddress{
		"an API server in the internet":            {address: "192.0.2.1:6443"},
		"a Service in the management cluster":      {address: "10.96.10.10:443"},
		"one with IPv6":                            {address: "[2001:db8::1]:6443"},
		"the metadata service":                     {address: "169.254.169.254:80", refused: "link-local"},
		"another link-local address":               {address: "169.254.1.1:443", refused: "link-local"},
		"the metadata service mapped":              {address: "[::ffff:169.254.169.254]:80", refused: "link-local"},
		"the metadata service through NAT64":       {address: "[64:ff9b::a9fe:a9fe]:80", refused: "link-local"},
		"the metadata service through 6to4":        {address: "[2002:a9fe:a9fe::1]:80", refused: "link-local"},
		"the metadata service in the old form":     {address: "[::169.254.169.254]:80", refused: "link-local"},
		"the metadata service of AWS with IPv6":    {address: "[fd00:ec2::254]:80", refused: "metadata service"},
		"the metadata service of Google with IPv6": {address: "[fd20:ce::254]:80", refused: "metadata service"},
		"the metadata service of Alibaba":          {address: "100.100.100.200:80", refused: "metadata service"},
		"link-local IPv6":                          {address: "[fe80::1%eth0]:443", refused: "link-local"},
		"loopback":                                 {address: "127.0.0.1:2379", refused: "loopback"},
		"all of loopback":                          {address: "127.8.9.10:443", refused: "loopback"},
		"loopback with IPv6":                       {address: "[::1]:443", refused: "loopback"},
		"loopback mapped":                          {address: "[::ffff:127.0.0.1]:443", refused: "loopback"},
		"unspecified, which is loopback":           {address: "0.0.0.0:443", refused: "unspecified"},
		"another one of this network":              {address: "0.1.2.3:443", refused: "unspecified"},
		"unspecified with IPv6":                    {address: "[::]:443", refused: "unspecified"},
		"multicast":                                {address: "224.0.0.1:443", refused: "multicast"},
		"multicast with IPv6":                      {address: "[ff02::1]:443", refused: "multicast"},
		"broadcast":                                {address: "255.255.255.255:443", refused: "broadcast"},
		"the management API server":                {address: "192.0.2.7:6443", refused: "management cluster's API server"},
		"the management API server mapped":         {address: "[::ffff:192.0.2.7]:6443", refused: "management cluster's API server"},
		"the management API server through NAT64":  {address: "[64:ff9b::192.0.2.7]:6443", refused: "management cluster's API server"},
		"another port of the same address":         {address: "192.0.2.7:31234"},
		"the same port of another address":         {address: "192.0.2.8:6443"},
		"no address":                               {address: "somewhere", refused: "not one of TCP"},
		"an exception":                             {address: "127.0.0.1:6444", allowed: own},
		"an exception mapped":                      {address: "[::ffff:127.0.0.1]:6444", allowed: own},
		"an exception for something else":          {address: "169.254.169.254:80", allowed: own, refused: "link-local"},
	})
}

func TestEndpointsAndNamesOfTheManagementAPIServerAreJudged(t *testing.T) {
	own := []net.IPNet{loopback()}
	judgeAddresses(t, map[string]judgedAddress{
		"an endpoint of it":                    {address: "192.0.2.20:6443", refused: "management cluster's API server"},
		"an endpoint of it mapped":             {address: "[::ffff:192.0.2.20]:6443", refused: "management cluster's API server"},
		"an endpoint of it through NAT64":      {address: "[64:ff9b::192.0.2.20]:6443", refused: "management cluster's API server"},
		"an endpoint of it with IPv6":          {address: "[2001:db8::20]:6443", refused: "management cluster's API server"},
		"another port of an endpoint":          {address: "192.0.2.20:31234"},
		"an endpoint, allowed as an exception": {address: "127.0.0.20:6443", allowed: own, refused: "management cluster's API server"},
		"another port of it, an exception":     {address: "127.0.0.20:6444", allowed: own},
		"a load balancer before it":            {address: "192.0.2.30:443", refused: "management cluster's API server"},
		"another port of that load balancer":   {address: "192.0.2.30:6443"},
	})
}

// judgedAddress is one that is dialed, unless something is refused.
type judgedAddress struct {
	address string
	allowed []net.IPNet
	refused string
}

func judgeAddresses(t *testing.T, addresses map[string]judgedAddress) {
	t.Helper()
	for name, tc := range addresses {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			guard := &addressGuard{allowed: tc.allowed, management: seed(),
				resolve: func(_ context.Context, _, host string) ([]netip.Addr, error) {
					meant := map[string]string{"seed.example": "192.0.2.7", "lb.seed.example": "::ffff:192.0.2.30"}
					g.Expect(meant).To(HaveKey(host))
					return []netip.Addr{netip.MustParseAddr(meant[host])}, nil
				}}
			err := guard.control(t.Context(), "tcp", tc.address, nil)
			if tc.refused == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.refused)))
		})
	}
}

// seed is an API server with two names and endpoints behind the first.
func seed() *ManagementServer {
	server := NewManagementServer("https://seed.example:6443", "lb.seed.example:443")
	server.SetEndpoints([]netip.AddrPort{
		netip.MustParseAddrPort("[::ffff:192.0.2.20]:6443"),
		netip.MustParseAddrPort("[2001:db8::20]:6443"),
		netip.MustParseAddrPort("127.0.0.20:6443"),
	})
	return server
}

func TestEndpointsOfTheManagementAPIServerAreBounded(t *testing.T) {
	g := NewWithT(t)
	server := &ManagementServer{}
	g.Expect(server.Endpoints()).To(BeEmpty())
	one := netip.MustParseAddrPort("192.0.2.20:6443")
	g.Expect(server.SetEndpoints([]netip.AddrPort{one, one})).To(BeZero())
	g.Expect(server.Endpoints()).To(Equal([]netip.AddrPort{one}))

	var many []netip.AddrPort
	for port := range uint16(MaxManagementEndpoints + 7) {
		many = append(many, netip.AddrPortFrom(one.Addr(), port+1), netip.AddrPortFrom(one.Addr(), port+1))
	}
	g.Expect(server.SetEndpoints(many)).To(Equal(7), "one that is named twice counts once")
	g.Expect(server.Endpoints()).To(HaveLen(MaxManagementEndpoints))
	g.Expect(server.SetEndpoints(nil)).To(BeZero())
	g.Expect(server.Endpoints()).To(BeEmpty(), "what is gone is not kept")
}

func TestTheManagementAPIServerIsNeverDialed(t *testing.T) {
	g := NewWithT(t)
	a := newAPIServer(t)
	options := testOptions()
	options.ManagementServer = NewManagementServer(a.URL)
	s := sessionTo(t, a.Server, options)
	err := s.probe(t.Context())
	g.Expect(secretSource{}.failed(err)).To(And(haveReason(ucv1.KubeconfigRefusedReason), HaveField("Refused", BeTrue()),
		HaveField("Message", ContainSubstring("that of the management cluster's API server"))))

	for name, tc := range map[string]struct{ host, port string }{
		"https without a port": {"https://192.0.2.7", "443"}, "a host and a port": {"https://192.0.2.7:8443/prefix", "8443"},
		"http without a port": {"http://192.0.2.7", "80"}, "no scheme": {"192.0.2.7:6443", "6443"},
	} {
		guard := &addressGuard{management: NewManagementServer(tc.host), resolve: net.DefaultResolver.LookupNetIP}
		g.Expect(guard.control(t.Context(), "tcp", "192.0.2.7:"+tc.port, nil)).To(HaveOccurred(), name)
	}
	unknown := &addressGuard{
		management: NewManagementServer("https://seed.example"),
		resolve: func(context.Context, string, string) ([]netip.Addr, error) {
			return nil, errors.New("no such host")
		},
	}
	g.Expect(unknown.control(t.Context(), "tcp", "192.0.2.7:443", nil)).To(MatchError(ContainSubstring("cannot be looked up")),
		"what could not be looked up is not another one")
}

func TestLoopbackIsRefusedByDefault(t *testing.T) {
	g := NewWithT(t)
	a := newAPIServer(t)
	options := testOptions()
	options.Allow = Allow{}
	s := sessionTo(t, a.Server, options)
	g.Expect(secretSource{}.failed(s.probe(t.Context()))).To(
		And(HaveField("Refused", BeTrue()), haveReason(ucv1.KubeconfigRefusedReason),
			HaveField("Message", ContainSubstring("the manager's own loopback"))),
	)

	named := []byte(kubeconfigWith(`server: "`+"https://localhost:"+must(url.Parse(a.URL)).Port()+`"`, token))
	s, err := open(named, types.NamespacedName{Namespace: "tenant", Name: "alpha"}, options, knownKinds(), func() {})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(s.close)
	g.Expect(secretSource{}.failed(s.probe(t.Context()))).To(HaveField("Refused", BeTrue()), "a name is judged by what it means")
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestTheProxyOfTheProcessIsNotUsed(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("HTTPS_PROXY", "http://192.0.2.10") // Read once by net/http, and by nothing that is tested here.
	config, err := ParseKubeconfig([]byte(kubeconfigWith(server, token)), Allow{})
	g.Expect(err).NotTo(HaveOccurred())
	request := must(http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host, nil))
	ofProcess, err := http.ProxyFromEnvironment(request)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(ofProcess).NotTo(BeNil())
	for name, tc := range map[string]struct {
		proxy func(*http.Request) (*url.URL, error)
		want  *url.URL
	}{
		"none":                   {},
		"that of the kubeconfig": {proxy: http.ProxyURL(&url.URL{Host: "192.0.2.9"}), want: &url.URL{Host: "192.0.2.9"}},
	} {
		config.Proxy = tc.proxy
		transport, _, err := newTransport(config, testOptions())
		g.Expect(err).NotTo(HaveOccurred(), name)
		g.Expect(innermost(transport).Proxy(request)).To(Equal(tc.want), name)
	}
}

func innermost(transport http.RoundTripper) *http.Transport {
	for {
		wrapper, wraps := transport.(interface{ WrappedRoundTripper() http.RoundTripper })
		if !wraps {
			return transport.(*http.Transport)
		}
		transport = wrapper.WrappedRoundTripper()
	}
}
