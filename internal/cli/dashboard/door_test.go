package dashboard

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// served is a dashboard of the fixtures that listens, and its door.
func served(t *testing.T) (*door, string) {
	t.Helper()
	g, read := NewWithT(t), everything(t)
	p := pagesOf(t, read)
	server := httptest.NewUnstartedServer(nil)
	entrance, err := newDoor(server.Listener.Addr(), p.refuse)
	g.Expect(err).NotTo(HaveOccurred())
	server.Config.Handler = entrance.guard(p.handler(newBell()))
	server.Start()
	t.Cleanup(server.Close)
	return entrance, server.URL
}

// answer of a server.
type answer struct {
	code    int
	header  http.Header
	cookies []*http.Cookie
	body    io.Reader
}

// ask the server, with changes to the request, and follow nothing.
func ask(t *testing.T, method, url string, changes ...func(*http.Request)) answer {
	t.Helper()
	g := NewWithT(t)
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	g.Expect(err).NotTo(HaveOccurred())
	for _, change := range changes {
		change(request)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	got, err := client.Do(request)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = got.Body.Close() })
	return answer{got.StatusCode, got.Header, got.Cookies(), got.Body}
}

// visit is a request, and how it ends.
type visit struct {
	method, path string
	change       func(*door, *http.Request)
	want         int
}

func visits() map[string]visit {
	with := func(cookie string) func(*door, *http.Request) {
		return func(d *door, r *http.Request) { r.AddCookie(&http.Cookie{Name: d.cookie, Value: cookie}) }
	}
	in := func(d *door, r *http.Request) { with(d.session)(d, r) }
	host := func(name string) func(*door, *http.Request) {
		return func(d *door, r *http.Request) {
			in(d, r)
			r.Host = name
		}
	}
	return map[string]visit{
		"a session comes in":                         {"GET", "/", in, http.StatusOK},
		"a session may look ahead":                   {"HEAD", "/", in, http.StatusOK},
		"no cookie stays out":                        {"GET", "/", nil, http.StatusUnauthorized},
		"no cookie stays out of a Cluster":           {"GET", "/clusters/user-gamma/gamma", nil, http.StatusUnauthorized},
		"no cookie hears no events":                  {"GET", "/events", nil, http.StatusUnauthorized},
		"another cookie stays out":                   {"GET", "/", with("x"), http.StatusUnauthorized},
		"an empty cookie stays out":                  {"GET", "/", with(""), http.StatusUnauthorized},
		"the token is no session":                    {"GET", "/", func(d *door, r *http.Request) { with(d.token)(d, r) }, 401},
		"the style is for everyone":                  {"GET", "/style.css", nil, http.StatusOK},
		"a foreign Host is refused":                  {"GET", "/", host("evil.example"), http.StatusForbidden},
		"a foreign Host with our port is refused":    {"GET", "/", foreignHost, http.StatusForbidden},
		"the Host of another port is refused":        {"GET", "/", host("127.0.0.1:1"), http.StatusForbidden},
		"a foreign Host gets no style":               {"GET", "/style.css", host("evil.example"), http.StatusForbidden},
		"localhost with our port is ours":            {"GET", "/", localHost, http.StatusOK},
		"a POST is refused":                          {"POST", "/", in, http.StatusMethodNotAllowed},
		"a POST lets no one in":                      {"POST", "/enter", nil, http.StatusMethodNotAllowed},
		"a DELETE is refused":                        {"DELETE", "/clusters/user-gamma/gamma", in, http.StatusMethodNotAllowed},
		"a wrong token is refused":                   {"GET", "/enter?token=x", nil, http.StatusForbidden},
		"no token is refused":                        {"GET", "/enter", nil, http.StatusForbidden},
		"a page that is not there is not found":      {"GET", "/metrics", in, http.StatusNotFound},
		"the folder of the pages is not there":       {"GET", "/pages/", in, http.StatusNotFound},
		"a Cluster that is not there is not found":   {"GET", "/clusters/x/x", in, http.StatusNotFound},
		"what leads out of the pages is not found":   {"GET", "/pages/%2e%2e/door.go", in, http.StatusNotFound},
		"an address with a scheme is no other page":  {"GET", "/clusters/http:%2f%2fx/x", in, http.StatusNotFound},
		"a request to trace is refused":              {"TRACE", "/", in, http.StatusMethodNotAllowed},
		"what a page may ask before it asks is none": {"OPTIONS", "/", in, http.StatusMethodNotAllowed},
	}
}

func TestTheDoorKeepsItsRules(t *testing.T) {
	for name, tc := range visits() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			entrance, url := served(t)
			answer := ask(t, tc.method, url+tc.path, func(r *http.Request) {
				if tc.change != nil {
					tc.change(entrance, r)
				}
			})
			g.Expect(answer.code).To(Equal(tc.want))
			g.Expect(answer.header.Get("Content-Security-Policy")).To(And(HavePrefix("default-src 'none';"),
				ContainSubstring("frame-ancestors 'none'"), ContainSubstring("script-src 'self';"), Not(ContainSubstring("unsafe"))))
			for header, value := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
				"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			} {
				g.Expect(answer.header.Get(header)).To(Equal(value), header)
			}
			g.Expect(answer.header).NotTo(HaveKey("Access-Control-Allow-Origin"))
		})
	}
}

func foreignHost(d *door, r *http.Request) {
	r.AddCookie(&http.Cookie{Name: d.cookie, Value: d.session})
	_, port, _ := net.SplitHostPort(d.hosts[0])
	r.Host = "evil.example:" + port
}

func localHost(d *door, r *http.Request) {
	r.AddCookie(&http.Cookie{Name: d.cookie, Value: d.session})
	r.Host = d.hosts[1]
}

func TestATokenLetsOneBrowserIn(t *testing.T) {
	g := NewWithT(t)
	entrance, url := served(t)
	g.Expect(entrance.url()).To(HavePrefix(url + "/enter?token="))
	g.Expect(len(entrance.token)).To(BeNumerically(">=", 26), "128 bits")
	g.Expect(ask(t, http.MethodHead, entrance.url()).cookies).To(BeEmpty(), "a look ahead uses nothing up")

	answer := ask(t, http.MethodGet, entrance.url())
	g.Expect(answer.code).To(Equal(http.StatusSeeOther))
	g.Expect(answer.header.Get("Location")).To(Equal("/"), "without the token")
	g.Expect(answer.cookies).To(HaveLen(1))
	cookie := answer.cookies[0]
	g.Expect(cookie.HttpOnly && cookie.SameSite == http.SameSiteStrictMode && cookie.Domain == "").To(BeTrue(), cookie.String())
	g.Expect(ask(t, http.MethodGet, url, func(r *http.Request) { r.AddCookie(cookie) }).code).To(Equal(http.StatusOK))

	again := ask(t, http.MethodGet, entrance.url())
	g.Expect(again.code).To(Equal(http.StatusForbidden))
	g.Expect(again.cookies).To(BeEmpty())
}

func TestOnlyLoopbackIsListenedOn(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:0": "127.0.0.1:0", "127.8.0.1:80": "127.8.0.1:80", "[::1]:0": "[::1]:0", "[::ffff:127.0.0.1]:0": "127.0.0.1:0",
		"0.0.0.0:80": "", "[::]:80": "", ":80": "", "192.0.2.1:80": "", "[::ffff:192.0.2.1]:0": "", "example.com:80": "", "80": "",
		"localhost.example.com:80": "", "127.0.0.1.nip.io:80": "", "127.1:80": "",
	} {
		t.Run(address, func(t *testing.T) {
			g := NewWithT(t)
			got, err := loopback(t.Context(), address)
			g.Expect(got).To(Equal(want))
			if want == "" {
				g.Expect(err).To(MatchError(ContainSubstring("--address is")))
			}
		})
	}
	g := NewWithT(t)
	got, err := loopback(t.Context(), "localhost:0")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Or(Equal("127.0.0.1:0"), Equal("[::1]:0")))
	_, err = loopback(t.Context(), "0.0.0.0:80")
	g.Expect(err).To(MatchError(ContainSubstring("ssh -L")))
}

func TestOnlySoManyPagesHearOfChanges(t *testing.T) {
	g, rings := NewWithT(t), newBell()
	server := httptest.NewServer(rings)
	t.Cleanup(server.Close)
	for range mostStreams {
		g.Expect(ask(t, http.MethodGet, server.URL).code).To(Equal(http.StatusOK))
	}
	g.Expect(ask(t, http.MethodGet, server.URL).code).To(Equal(http.StatusServiceUnavailable))
}

func TestAPageHearsThatSomethingChanged(t *testing.T) {
	g, rings, changed := NewWithT(t), newBell(), make(chan struct{}, 1)
	server := httptest.NewServer(rings)
	t.Cleanup(server.Close)
	go rings.run(t.Context(), changed)
	answer := ask(t, http.MethodGet, server.URL)
	g.Expect(answer.header.Get("Content-Type")).To(Equal("text/event-stream"))
	heard, buffer := "", make([]byte, 100)
	for !strings.HasSuffix(heard, "begins\n\n") {
		n, err := answer.body.Read(buffer)
		g.Expect(err).NotTo(HaveOccurred())
		heard += string(buffer[:n])
	}
	changed <- struct{}{}
	n, err := answer.body.Read(buffer)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(buffer[:n])).To(Equal("event: changed\ndata:\n\n"))
}
