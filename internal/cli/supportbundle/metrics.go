package supportbundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

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

// metrics of a Pod of the manager, which asks who reads them. The API server's proxy takes a token away, so that they come
// through a forwarded port, with a token of the Pod's own ServiceAccount: whoever answers gets no right that the Pod has not.
// https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/
func (r *reader) metrics(ctx context.Context, pod *corev1.Pod) {
	name, port := "manager/metrics-"+pod.Name+".txt", metricsPort(pod)
	if port == 0 {
		r.without(name, "no port of the Pod is named metrics")
		return
	}
	fmt.Fprintf(r.progress, "Reading %s\n", name)
	token, err := r.core.ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(tokenSeconds)), BoundObjectRef: boundTo(pod)},
	}, metav1.CreateOptions{})
	if err != nil {
		r.couldNotRead(name, fmt.Errorf("ask for a token of ServiceAccount %s/%s: %w", pod.Namespace, pod.Spec.ServiceAccountName, err))
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

// boundTo has the token end with the Pod.
func boundTo(pod *corev1.Pod) *authenticationv1.BoundObjectReference {
	return &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}
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
	stop, ready, said := make(chan struct{}), make(chan struct{}), &bytes.Buffer{}
	local, ports := []string{"127.0.0.1"}, []string{"0:" + strconv.Itoa(port)}
	forwarder, err := portforward.NewOnAddressesForStreaming(dialer, local, ports, stop, ready, io.Discard, said)
	if err != nil {
		return "", fmt.Errorf("forward port %d: %w", port, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- forwarder.ForwardPorts() }()
	select {
	case err := <-ended:
		return "", fmt.Errorf("forward port %d: %w", port, err)
	case <-ctx.Done():
		close(stop)
		return "", ctx.Err()
	case <-ready:
	}
	defer func() {
		close(stop)
		if end := <-ended; err != nil { // What was said about a broken stream says more.
			err = errors.Join(err, end, errors.New(said.String()))
		}
	}()
	forwarded, err := forwarder.GetPorts()
	if err != nil {
		return "", err
	}
	return get(ctx, int(forwarded[0].Local), token)
}

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

// get the metrics at a port of this machine. The manager makes its certificate itself, by default.
func get(ctx context.Context, port int, token string) (text string, err error) {
	c, err := rest.HTTPClientFor(&rest.Config{BearerToken: token, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/metrics", port), nil)
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
		err = fmt.Errorf("the manager answered %s: its ServiceAccount needs the right to get /metrics", answer.Status)
	}
	return string(content), err
}
