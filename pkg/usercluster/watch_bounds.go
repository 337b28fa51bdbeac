package usercluster

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/util/flowcontrol"

	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// A watch is read in pieces; the watches of one cluster get so many a second together, 512 KiB, and at first 4 MiB.
const (
	pieceOfWatch  = 4 << 10
	piecesASecond = 128
	piecesAtOnce  = 1024
)

// pace is shared by the watches of one user cluster.
type pace struct {
	limiter flowcontrol.RateLimiter
	// held is the weight of the events that have begun: the decoders hold each of them several times.
	held atomic.Int64
}

func newPace() *pace {
	return &pace{limiter: flowcontrol.NewTokenBucketRateLimiter(piecesASecond, piecesAtOnce)}
}

func (p *pace) body(ctx context.Context, body io.ReadCloser) io.ReadCloser {
	return &watchBody{ReadCloser: body, pace: p, wait: func() error { return p.limiter.Wait(ctx) }}
}

// watched asks for JSON, whose events can be weighed while they arrive.
func watched(request *http.Request) *http.Request {
	request = request.Clone(request.Context())
	formats := strings.Split(request.Header.Get("Accept"), ",")
	formats = slices.DeleteFunc(formats, func(format string) bool { return strings.Contains(format, "protobuf") })
	request.Header.Set("Accept", strings.Join(formats, ","))
	return request
}

// watchBody reads no faster than the pace, and ends at an event that is too large. What floods is slowed down by the connection.
type watchBody struct {
	io.ReadCloser
	wait func() error
	pace *pace

	// The mutex is for the event that has begun: a watch is closed while it is read.
	mu     sync.Mutex
	event  jsonScale
	closed bool
}

// Read implements io.Reader.
func (w *watchBody) Read(p []byte) (int, error) {
	if err := w.wait(); err != nil {
		return 0, err
	}
	n, err := w.ReadCloser.Read(p[:min(len(p), pieceOfWatch)])
	if !w.fits(p[:n]) {
		return 0, reads.ErrTooLarge
	}
	return n, err
}

func (w *watchBody) fits(piece []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return true
	}
	before, most := w.event.weight, w.event.weight
	for _, b := range piece {
		ended := w.event.add(b)
		if most = max(most, w.event.weight); ended {
			w.event = jsonScale{}
		}
	}
	return w.pace.held.Add(w.event.weight-before) <= maxEventsWeight && most <= maxEventWeight
}

// Close implements io.Closer.
func (w *watchBody) Close() error {
	w.mu.Lock()
	w.closed = true
	w.pace.held.Add(-w.event.weight)
	w.event = jsonScale{}
	w.mu.Unlock()
	return w.ReadCloser.Close()
}
