package usercluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// The bounds of one answer, after decompression.
const (
	// maxAnswer is more than an object of Kubernetes has: etcd takes 1.5 MiB. Lists are read page by page.
	maxAnswer = 4 << 20
	// maxReadyz is more than /readyz says with all of its checks.
	maxReadyz = 64 << 10
	// streamBuffer is what one stream may send before it is read; the default of HTTP/2 is 4 MiB for each of many streams.
	streamBuffer = 256 << 10
	maxHeaders   = 256 << 10
)

// errTooLarge is an answer, or an event of a watch, above its bound.
var errTooLarge = errors.New("answers with more than is read")

type redirectError struct{ status int }

// Error does not hold where to.
func (e *redirectError) Error() string { return fmt.Sprintf("redirects with status %d", e.status) }

// newTransport is the only way to a user cluster: nothing of it goes by the manager's own proxy, follows a redirect, dials an address
// that was not judged, or is read without bound.
func newTransport(config *rest.Config, options Options) (http.RoundTripper, error) {
	config = rest.CopyConfig(config)
	guard := &addressGuard{allowed: options.Allow.Addresses, management: options.ManagementHost, resolve: net.DefaultResolver.LookupNetIP}
	config.Dial = guard.dial
	if config.Proxy == nil {
		config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil } // Without one, that of the environment is used.
	}
	settings, err := config.TransportConfig()
	if err != nil {
		return nil, err
	}
	tlsConfig, err := transport.TLSConfigFor(settings)
	if err != nil {
		return nil, err
	}
	network := utilnet.SetTransportDefaults(&http.Transport{
		Proxy: settings.Proxy, DialContext: settings.DialHolder.Dial, TLSClientConfig: tlsConfig,
		TLSHandshakeTimeout: requestTimeout, IdleConnTimeout: 90 * time.Second, MaxIdleConnsPerHost: 4, MaxResponseHeaderBytes: maxHeaders,
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: streamBuffer},
	})
	return transport.HTTPWrappersForConfig(settings, &bounded{next: network, pace: newPace()})
}

// bounded reads an answer whole, within its bound of bytes and time. Only a watch is a stream, which is bounded event by event.
type bounded struct {
	next http.RoundTripper
	pace *pace
}

// WrappedRoundTripper lets others find the connections.
func (b *bounded) WrappedRoundTripper() http.RoundTripper { return b.next }

// RoundTrip implements http.RoundTripper.
func (b *bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Query().Has("watch") {
		response, err := b.follow(request)
		if err == nil {
			response.Body = b.pace.body(request.Context(), response)
		}
		return response, err
	}
	ctx, cancel := context.WithTimeout(request.Context(), requestTimeout)
	defer cancel()
	response, err := b.follow(request.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	most := int64(maxAnswer)
	if request.URL.Path == readyz {
		most = maxReadyz
	}
	body, err := readAtMost(response.Body, most)
	if err != nil {
		return nil, err
	}
	answer := *response
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return &answer, nil
}

// follow follows nothing: an API server does not redirect, and to wherever it points the client would send the tenant's token.
func (b *bounded) follow(request *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if status := response.StatusCode; status >= 300 && (status < 400 || response.Header.Get("Location") != "") {
		_ = response.Body.Close()
		return nil, &redirectError{status}
	}
	return response, nil
}

func readAtMost(from io.Reader, most int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(body)) > most {
		return nil, errTooLarge
	}
	return body, err
}
