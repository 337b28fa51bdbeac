package simcloud

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
)

const token = "secret"

// buffer is a log that may be read while it is written.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) calls(g *WithT) []Call {
	b.mu.Lock()
	defer b.mu.Unlock()
	var calls []Call
	for line := range strings.Lines(b.text.String()) {
		var call Call
		g.Expect(json.Unmarshal([]byte(line), &call)).To(Succeed())
		calls = append(calls, call)
	}
	return calls
}

// step is one request of a test, sent as the KCM of pod kcm-0.
type step struct {
	verb, path, body, method, token string
	wantStatus                      int
	wantBody                        string
}

func newServer() (*Server, *buffer) {
	log := &buffer{}
	s := New(Options{Log: log})
	s.AddCluster("alpha", token)
	s.AddCluster("beta", token)
	return s, log
}

func (st step) request(ctx context.Context) *http.Request {
	r := httptest.NewRequestWithContext(ctx, st.verb, st.path, strings.NewReader(st.body))
	r.Header.Set("Authorization", "Bearer "+orDefault(st.token, token))
	r.Header.Set(HeaderComponent, "kube-controller-manager")
	r.Header.Set(HeaderInstance, "kcm-0")
	r.Header.Set(HeaderLoop, "service")
	r.Header.Set(HeaderMethod, st.method)
	return r
}

func (st step) run(t *testing.T, g *WithT, s *Server) {
	t.Helper()
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, st.request(t.Context()))
	body, err := io.ReadAll(w.Result().Body)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(w.Code).To(Equal(st.wantStatus), "%s %s: %s", st.verb, st.path, body)
	g.Expect(string(body)).To(ContainSubstring(st.wantBody), "%s %s", st.verb, st.path)
}
