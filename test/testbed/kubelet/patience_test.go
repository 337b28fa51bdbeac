package kubelet

import (
	"context"
	"errors"
	"io"
	"net/http"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

// away fails so many times with an error.
type away struct {
	err       error
	fails     int
	requested int
}

func (a *away) RoundTrip(*http.Request) (*http.Response, error) {
	if a.requested++; a.requested <= a.fails {
		return nil, a.err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func TestReadersWaitForTheAPIServer(t *testing.T) {
	for name, test := range map[string]struct {
		method string
		err    error
		works  bool
	}{
		"it is not there":           {http.MethodGet, syscall.ECONNREFUSED, true},
		"it goes in the middle":     {http.MethodGet, io.EOF, true},
		"a write is not sent twice": {http.MethodPost, syscall.ECONNREFUSED, false},
		"what is not about it":      {http.MethodGet, errors.New("x509: certificate signed by unknown authority"), false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			request, err := http.NewRequestWithContext(t.Context(), test.method, "https://example/api", nil)
			g.Expect(err).NotTo(HaveOccurred())
			response, err := patient{&away{err: test.err, fails: 2}}.RoundTrip(request)
			if !test.works {
				g.Expect(err).To(MatchError(test.err))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(response.Body.Close()).To(Succeed())
		})
	}
}

func TestAReaderThatIsStoppedWaitsNoMore(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example/api", nil)
	g.Expect(err).NotTo(HaveOccurred())
	response, err := patient{&away{err: syscall.ECONNREFUSED, fails: 1000}}.RoundTrip(request)
	if err == nil {
		err = response.Body.Close()
	}
	g.Expect(err).To(MatchError(syscall.ECONNREFUSED))
}
