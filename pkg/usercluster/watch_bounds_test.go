package usercluster

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// endless repeats a text.
type endless string

// Read implements io.Reader.
func (e endless) Read(p []byte) (int, error) { return copy(p, e), nil }

func TestAWatchEndsAtAnEventWithoutEnd(t *testing.T) {
	g := NewWithT(t)
	pace := newPace()
	stream := func(text io.Reader) io.ReadCloser { return pace.body(t.Context(), io.NopCloser(text)) }

	small := stream(strings.NewReader(strings.Repeat(`{"a":"}\"{"}`+"\n", 100_000)))
	n, err := io.Copy(io.Discard, small)
	g.Expect(err).NotTo(HaveOccurred(), "small events have no end together")
	g.Expect(small.Close()).To(Succeed())
	g.Expect(n).To(BeNumerically(">", 1_000_000))

	long := stream(endless(strings.Repeat("a", pieceOfWatch)))
	n, err = io.CopyN(io.Discard, long, maxEventWeight*5/8)
	g.Expect(errors.Is(err, reads.ErrTooLarge)).To(BeTrue())
	g.Expect(n).To(BeNumerically("<", maxEventWeight))
	g.Expect(pace.held.Load()).To(BeNumerically(">", 0))
	g.Expect(long.Close()).To(Succeed())
	g.Expect(pace.held.Load()).To(BeZero(), "a watch that is closed holds nothing")
}

func TestReadyzHasLittleToSay(t *testing.T) {
	g := NewWithT(t)
	s := sessionTo(t, serverOf(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("a", maxReadyz+1))
	}), testOptions())
	g.Expect(errors.Is(s.probe(t.Context()), reads.ErrTooLarge)).To(BeTrue())
}

func TestWatchesAreReadAtTheirPace(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	pace := newPace()
	body := pace.body(ctx, io.NopCloser(strings.NewReader("\n")))
	g.Expect(io.ReadAll(body)).To(Equal([]byte("\n")))
	for pace.limiter.TryAccept() {
	}
	cancel()
	_, err := pace.body(ctx, io.NopCloser(strings.NewReader("\n"))).Read(make([]byte, 1))
	g.Expect(err).To(MatchError(context.Canceled), "it would have to wait")
}
