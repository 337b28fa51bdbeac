package usercluster

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"k8s.io/utils/clock"

	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// The bounds of one answer, after decompression.
const (
	// maxAnswer is more than an object of Kubernetes has: etcd takes 1.5 MiB. Lists are read page by page.
	maxAnswer = 2 << 20
	// maxReadyz is more than /readyz says with all of its checks.
	maxReadyz = 64 << 10
	// smallAnswer is what is read without waiting for a turn.
	smallAnswer   = 256 << 10
	pieceOfAnswer = 32 << 10
	// streamBuffer is what one stream may send before it is read; the default of HTTP/2 is 4 MiB for each of many streams.
	streamBuffer = 256 << 10
	maxHeaders   = 256 << 10
)

// newTransport is the only way to a user cluster: nothing of it goes by the manager's own proxy, follows a redirect, dials an
// address that was not judged, or is read without bound.
func newTransport(config *rest.Config, options Options) (http.RoundTripper, *bounded, error) {
	config = rest.CopyConfig(config)
	config.Dial = Dialer(options.Allow, options.ManagementServer)
	if config.Proxy == nil {
		config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil } // Without one, that of the environment is used.
	}
	settings, err := config.TransportConfig()
	if err != nil {
		return nil, nil, err
	}
	tlsConfig, err := transport.TLSConfigFor(settings)
	if err != nil {
		return nil, nil, err
	}
	network := utilnet.SetTransportDefaults(&http.Transport{
		Proxy:                  settings.Proxy,
		DialContext:            settings.DialHolder.Dial,
		TLSClientConfig:        tlsConfig,
		TLSHandshakeTimeout:    reads.RequestTimeout,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConnsPerHost:    4,
		MaxResponseHeaderBytes: maxHeaders,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: streamBuffer},
	})
	bounds := &bounded{next: network, large: make(reads.Turns, 1), pace: newPace(), clock: options.Clock}
	wrapped, err := transport.HTTPWrappersForConfig(settings, bounds)
	return wrapped, bounds, err
}

// bounded reads an answer whole, within its bound of bytes and time. Only a watch is a stream, which is bounded event by event.
type bounded struct {
	next  http.RoundTripper
	large reads.Turns
	pace  *pace
	clock clock.PassiveClock
	// requests is how many were sent, watches included.
	requests atomic.Int64
	// excess is the last answer that was too large and could not be asked for in smaller pieces.
	excess atomic.Pointer[excess]
}

type excess struct {
	path string
	at   time.Time
}

// WrappedRoundTripper lets others find the connections.
func (b *bounded) WrappedRoundTripper() http.RoundTripper { return b.next }

// RoundTrip implements http.RoundTripper.
func (b *bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	b.requests.Add(1)
	if request.URL.Query().Has("watch") {
		return b.watch(request)
	}
	ctx, cancel := context.WithTimeout(request.Context(), reads.RequestTimeout)
	defer cancel()
	response, err := b.follow(request.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if strings.Contains(response.Header.Get("Content-Type"), "yaml") {
		return nil, reads.ErrNoJSON
	}
	most := int64(maxAnswer)
	if request.URL.Path == readyz {
		most = maxReadyz
	}
	body, err := b.read(ctx, response.Body, most)
	if errors.Is(err, reads.ErrTooLarge) && isLastResort(request.URL.Query().Get("limit")) {
		b.excess.Store(&excess{request.URL.Path, b.clock.Now()})
	}
	if err != nil {
		return nil, err
	}
	answer := *response
	answer.Body, answer.ContentLength = body, body.size
	return &answer, nil
}

// isLastResort says that a request cannot be made smaller: it is for one object.
func isLastResort(limit string) bool {
	most, err := strconv.Atoi(limit)
	return err != nil || most <= 1
}

func (b *bounded) watch(request *http.Request) (*http.Response, error) {
	response, err := b.follow(watched(request))
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		_ = response.Body.Close()
		return nil, reads.ErrNoJSON
	}
	response.Body = b.pace.body(request.Context(), response.Body)
	return response, nil
}

// follow follows nothing: an API server does not redirect, and to wherever it points the client would send the tenant's token.
func (b *bounded) follow(request *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if status := response.StatusCode; status >= 300 && (status < 400 || response.Header.Get("Location") != "") {
		_ = response.Body.Close()
		return nil, &reads.RedirectError{Status: status}
	}
	return response, nil
}

// read waits for its turn before it reads a large answer: one at a time of each user cluster is in memory, and decoded.
func (b *bounded) read(ctx context.Context, from io.Reader, most int64) (*answer, error) {
	whole := &answer{of: b.large}
	for {
		piece := make([]byte, pieceOfAnswer)
		n, err := io.ReadFull(from, piece)
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !ended {
			return nil, whole.refused(err)
		}
		whole.add(piece[:n], ended)
		switch {
		case whole.size > most || whole.scale.weight > maxWeight:
			return nil, whole.refused(reads.ErrTooLarge)
		case whole.isLarge():
			if err := whole.takeTurn(ctx); err != nil {
				return nil, err
			}
		}
		if ended {
			return whole, nil
		}
	}
}

// answer is one that was read. It is in pieces: a buffer that grows takes several times of what it holds.
type answer struct {
	net.Buffers
	size  int64
	scale jsonScale
	of    reads.Turns
	turn  *reads.Turn
}

func (a *answer) add(piece []byte, ended bool) {
	a.Buffers, a.size = append(a.Buffers, piece), a.size+int64(len(piece))
	if !isProtobuf(a.Buffers[0]) {
		for _, b := range piece {
			a.scale.add(b)
		}
		return
	}
	if a.scale.weight = weightOfByte * a.size; ended {
		message := bytes.Join(a.Buffers, nil)
		a.Buffers, a.scale.weight = net.Buffers{message}, weighProtobuf(message[4:], 0)
	}
}

func (a *answer) isLarge() bool { return a.size > smallAnswer || a.scale.weight > smallWeight }

func (a *answer) takeTurn(ctx context.Context) (err error) {
	if a.turn == nil {
		a.turn, err = a.of.Take(ctx)
	}
	return err
}

func (a *answer) refused(err error) error {
	a.turn.End()
	return err
}

// Close implements io.Closer.
func (a *answer) Close() error {
	a.turn.End()
	return nil
}
