package kubelet

import (
	"net/http"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// reconnects is how long a reader waits until it tries to reach the API server again.
const reconnects = 200 * time.Millisecond

// patient has readers wait while there is no API server to connect to. A Kubelet stands for those of all Nodes, and that of a
// new Node is a new process, which reads at once; the watches of a Kubelet have seen the API server go before, and would wait
// for up to 30 seconds with client-go's reflector:
// https://github.com/kubernetes/client-go/blob/v0.36.4/tools/cache/reflector.go#L60
type patient struct{ next http.RoundTripper }

// RoundTrip of requests that change nothing; others fail at once, and are tried again by whoever made them.
func (p patient) RoundTrip(request *http.Request) (*http.Response, error) {
	for {
		response, err := p.next.RoundTrip(request)
		if err == nil || request.Method != http.MethodGet || !isAway(err) {
			return response, err
		}
		select {
		case <-request.Context().Done():
			return nil, err
		case <-time.After(reconnects):
		}
	}
}

func isAway(err error) bool {
	return utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) ||
		utilnet.IsHTTP2ConnectionLost(err)
}
