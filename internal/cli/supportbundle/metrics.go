package supportbundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
)

// tokenSeconds is the shortest that an API server gives.
const tokenSeconds = 600

// metricsReader is the ServiceAccount of config/rbac that may read the metrics, and nothing else.
const metricsReader = "ccm-migration-controller-metrics-reader"

// metrics of a Pod of the manager, which asks who reads them. The API server's proxy takes a token away, so that they come
// through a forwarded port, with a token that is good for nothing else: whoever answers there gets no right by it.
// https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/
func (r *reader) metrics(ctx context.Context, pod *corev1.Pod) {
	name, port := "manager/metrics-"+pod.Name+".txt", metricsPort(pod)
	switch {
	case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		r.without(name, "the Pod is "+string(pod.Status.Phase))
		return
	case port == 0:
		r.without(name, "no port of the Pod is named metrics")
		return
	}
	fmt.Fprintf(r.progress, "Reading %s\n", name)
	token, err := r.core.ServiceAccounts(pod.Namespace).CreateToken(ctx, metricsReader, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(tokenSeconds))},
	}, metav1.CreateOptions{})
	if err != nil {
		r.couldNotRead(name, fmt.Errorf("ask for a token of ServiceAccount %s/%s: %w", pod.Namespace, metricsReader, err))
		return
	}
	text, err := r.scrape(ctx, pod, port, token.Status.Token)
	if err != nil {
		r.couldNotRead(name, err)
		return
	}
	r.add(name, "metrics", kindAndName("Pod", client.ObjectKeyFromObject(pod))+", port "+strconv.Itoa(port), text)
}

func metricsPort(pod *corev1.Pod) int {
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if port.Name == "metrics" {
				return int(port.ContainerPort)
			}
		}
	}
	return 0
}

// scrape a port of a Pod.
func (r *reader) scrape(ctx context.Context, pod *corev1.Pod, port int, token string) (text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, management.Timeout)
	defer cancel()
	to := r.core.RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("portforward").URL()
	dialer, err := dialerOf(r.config, to)
	if err != nil {
		return "", err
	}
	tunnel, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
	if err != nil {
		return "", fmt.Errorf("forward port %d: %w", port, err)
	}
	defer func() { err = errors.Join(err, tunnel.Close()) }()
	headers := http.Header{}
	headers.Set(corev1.PortHeader, strconv.Itoa(port))
	headers.Set(corev1.PortForwardRequestIDHeader, "0")
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	faults, err := tunnel.CreateStream(headers)
	if err != nil {
		return "", fmt.Errorf("forward port %d: %w", port, err)
	}
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := tunnel.CreateStream(headers)
	if err != nil {
		return "", fmt.Errorf("forward port %d: %w", port, err)
	}
	defer context.AfterFunc(ctx, func() { _ = data.Reset() })()
	if text, err = get(ctx, wire{data}, token); err != nil {
		_ = data.Reset()
		if why, _ := io.ReadAll(faults); len(why) > 0 { // What the kubelet says tells more than a stream that ended.
			err = fmt.Errorf("forward port %d: %s", port, why)
		}
	}
	return text, err
}

// wire is a stream in place of a connection.
type wire struct{ httpstream.Stream }

// LocalAddr of a connection, which a stream has not.
func (wire) LocalAddr() net.Addr { return &net.TCPAddr{} }

// RemoteAddr of a connection, which a stream has not.
func (wire) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// SetDeadline is for the context, which resets the stream.
func (wire) SetDeadline(time.Time) error { return nil }

// SetReadDeadline is for the context, which resets the stream.
func (wire) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline is for the context, which resets the stream.
func (wire) SetWriteDeadline(time.Time) error { return nil }

// dialerOf forwards as kubectl does: by WebSocket, and by SPDY where the API server is older than 1.30.
func dialerOf(config *rest.Config, to *url.URL) (httpstream.Dialer, error) {
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, fmt.Errorf("forward ports: %w", err)
	}
	webSocket, err := portforward.NewSPDYOverWebsocketDialerForStreaming(to, config)
	if err != nil {
		return nil, fmt.Errorf("forward ports: %w", err)
	}
	older := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, to)
	return portforward.NewFallbackDialerForStreaming(webSocket, older, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}

// get the metrics over a connection. The manager makes its certificate itself, by default.
func get(ctx context.Context, over net.Conn, token string) (text string, err error) {
	c, err := rest.HTTPClientFor(&rest.Config{
		BearerToken: token, TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		Dial: func(context.Context, string, string) (net.Conn, error) { return over, nil },
	})
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://localhost/metrics", nil)
	if err != nil {
		return "", err
	}
	answer, err := c.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	content, err := io.ReadAll(io.LimitReader(answer.Body, logLimit))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the manager answered %s", answer.Status)
	}
	return string(content), err
}
