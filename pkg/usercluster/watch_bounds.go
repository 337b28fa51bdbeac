package usercluster

import (
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/util/flowcontrol"
)

const (
	// maxEvent is what one event of a watch has at most: watches are of metadata, and of Leases. maxEvents is what the events have
	// together that the watches of a cluster are in the middle of: the decoders hold each of them several times.
	maxEvent  = 1 << 20
	maxEvents = 2 << 20
	// A watch is read in pieces; the watches of one cluster get so many a second together, 512 KiB, and at first 4 MiB.
	pieceOfWatch  = 4 << 10
	piecesASecond = 128
	piecesAtOnce  = 1024
)

// pace is shared by the watches of one user cluster.
type pace struct {
	limiter flowcontrol.RateLimiter
	held    atomic.Int64
}

func newPace() *pace {
	return &pace{limiter: flowcontrol.NewTokenBucketRateLimiter(piecesASecond, piecesAtOnce)}
}

func (p *pace) body(ctx context.Context, response *http.Response) io.ReadCloser {
	body := &watchBody{ReadCloser: response.Body, pace: p, frame: &jsonFrame{}, wait: func() error { return p.limiter.Wait(ctx) }}
	if strings.Contains(response.Header.Get("Content-Type"), "protobuf") {
		body.frame = &sizedFrame{}
	}
	return body
}

// frame follows the events of a stream.
type frame interface {
	// next takes a byte, and says whether it ends an event.
	next(b byte) (ended bool)
	// announced is how large the event says that it is.
	announced() int64
}

// watchBody reads no faster than the pace, and ends at an event that is too large. What floods is slowed down by the connection.
type watchBody struct {
	io.ReadCloser
	wait  func() error
	pace  *pace
	frame frame

	// The mutex is for the size of the event that has begun: a watch is closed while it is read.
	mu     sync.Mutex
	size   int64
	closed bool
}

// Read implements io.Reader.
func (w *watchBody) Read(p []byte) (int, error) {
	if err := w.wait(); err != nil {
		return 0, err
	}
	n, err := w.ReadCloser.Read(p[:min(len(p), pieceOfWatch)])
	if !w.fits(p[:n]) {
		return 0, errTooLarge
	}
	return n, err
}

func (w *watchBody) fits(piece []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return true
	}
	before := w.size
	for _, b := range piece {
		w.size++
		if w.frame.next(b) {
			w.size = 0
		}
	}
	return w.pace.held.Add(w.size-before) <= maxEvents && max(w.size, w.frame.announced()) <= maxEvent
}

// Close implements io.Closer.
func (w *watchBody) Close() error {
	w.mu.Lock()
	w.closed = true
	w.pace.held.Add(-w.size)
	w.size = 0
	w.mu.Unlock()
	return w.ReadCloser.Close()
}

// jsonFrame is an event as a JSON object. Whether the JSON is right is for the decoder to say.
type jsonFrame struct {
	depth            int
	inText, escaping bool
}

func (f *jsonFrame) next(b byte) bool {
	switch {
	case f.inText && f.escaping:
		f.escaping = false
	case f.inText:
		f.escaping, f.inText = b == '\\', b != '"'
	case b == '"':
		f.inText = true
	case b == '{' || b == '[':
		f.depth++
	case b == '}' || b == ']':
		f.depth = max(f.depth-1, 0)
		return f.depth == 0
	}
	return false
}

func (f *jsonFrame) announced() int64 { return 0 }

// sizedFrame is an event as protobuf, whose size comes first.
// https://github.com/kubernetes/apimachinery/blob/v0.36.4/pkg/util/framer/framer.go
type sizedFrame struct {
	prefix [4]byte
	seen   int
	left   int64
}

func (f *sizedFrame) next(b byte) bool {
	if f.seen < len(f.prefix) {
		f.prefix[f.seen] = b
		f.seen++
		f.left = f.announced()
	} else {
		f.left--
	}
	if f.seen == len(f.prefix) && f.left <= 0 {
		f.seen = 0
		return true
	}
	return false
}

func (f *sizedFrame) announced() int64 {
	if f.seen < len(f.prefix) {
		return 0
	}
	return int64(binary.BigEndian.Uint32(f.prefix[:]))
}
