package usercluster

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// patience bounds every wait of the tests.
const patience = 20 * time.Second

// apiServer answers what a registry asks: whether it is ready, and lists and watches without objects.
type apiServer struct {
	*httptest.Server
	token    atomic.Value
	down     atomic.Bool
	machines atomic.Bool
	// anonymous says that credentials do not reach it.
	anonymous atomic.Bool
	watches   atomic.Int32
	requests  atomic.Int64
	listed    atomic.Int32
	changes   chan string
}

func newAPIServer(t testing.TB) *apiServer {
	a := &apiServer{changes: make(chan string)}
	a.token.Store("valid")
	a.Server = httptest.NewUnstartedServer(a)
	a.EnableHTTP2 = true
	a.Config.ErrorLog = log.New(io.Discard, "", 0)
	a.StartTLS()
	t.Cleanup(a.Close)
	return a
}

// ServeHTTP implements http.Handler.
func (a *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.requests.Add(1)
	switch {
	case r.Header.Get("Authorization") != "Bearer "+a.token.Load().(string):
		respond(w, http.StatusUnauthorized, metav1.StatusReasonUnauthorized)
	case a.down.Load():
		respond(w, http.StatusInternalServerError, metav1.StatusReasonInternalError)
	case r.URL.Path == "/readyz":
		w.WriteHeader(http.StatusOK)
	case a.anonymous.Load():
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write(
			[]byte(
				`{"kind":"Status","apiVersion":"v1","status":"Failure",` +
					`"message":"forbidden: User \"system:anonymous\" cannot get path \"/api\"",` +
					`"reason":"Forbidden","details":{},"code":403}`,
			),
		)
	case r.URL.Path == "/apis/cluster.k8s.io/v1alpha1/machines" && !a.machines.Load():
		respond(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	case r.URL.Query().Get("sendInitialEvents") == "true":
		respond(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid)
	case r.URL.Query().Get("watch") != "":
		a.stream(w, r)
	case !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") && strings.Contains(r.URL.Path, "nodes"):
		a.nodes(w, r)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(
			[]byte(`{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"1"},"items":[]}`),
		)
	}
}

// nodes lists none, and lets one be patched. Only lists are counted.
func (a *apiServer) nodes(w http.ResponseWriter, r *http.Request) {
	kind := `{"apiVersion":"v1","kind":"NodeList","metadata":{},"items":[]}`
	switch {
	case r.Method != http.MethodGet:
		kind = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}`
	case strings.HasSuffix(r.URL.Path, "csinodes"):
		kind = `{"apiVersion":"storage.k8s.io/v1","kind":"CSINodeList","metadata":{},"items":[]}`
	default:
		a.listed.Add(1)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(kind))
}

// stream sends an event for each resource that changes names.
func (a *apiServer) stream(w http.ResponseWriter, r *http.Request) {
	a.watches.Add(1)
	defer a.watches.Add(-1)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case resource := <-a.changes:
			if r.URL.Path != resource {
				go func() { // Not for this watch: hand it on.
					select {
					case a.changes <- resource:
					case <-r.Context().Done():
					}
				}()
				continue
			}
			_, _ = w.Write([]byte(`{"type":"MODIFIED","object":{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata",` +
				`"metadata":{"name":"a","resourceVersion":"2"}}}` + "\n"))
			w.(http.Flusher).Flush()
		}
	}
}

func respond(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status: metav1.StatusFailure, Code: int32(code), Reason: reason})
}

func (a *apiServer) kubeconfig(token string) []byte {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Certificate().Raw})
	return []byte(
		kubeconfigWith(`server: "`+a.URL+`", certificate-authority-data: `+base64.StdEncoding.EncodeToString(ca), "token: "+token),
	)
}

// loopback is where the servers of tests are.
func loopback() net.IPNet {
	return net.IPNet{IP: net.IPv4(127, 0, 0, 0), Mask: net.CIDRMask(8, 32)}
}

// newHangingServers accept connections and never answer.
func newHangingServers(t *testing.T, count int) (addresses []string) {
	for range count {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		addresses = append(addresses, listener.Addr().String())
		go func() {
			var kept []net.Conn // Dropped, they would be closed by the garbage collector.
			for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
				kept = append(kept, conn)
			}
			for _, conn := range kept {
				_ = conn.Close()
			}
		}()
	}
	return addresses
}

// running is a started registry, its management cluster and the events that it sent.
type running struct {
	*Registry
	management client.Client
	events     chan types.NamespacedName
	stop       func()
}

func startRegistry(t testing.TB, options Options) *running {
	r := &running{management: fake.NewClientBuilder().Build(), events: make(chan types.NamespacedName, 1000)}
	options.SecretReader, options.Scheme, options.Log = r.management, scheme.Scheme, logr.Discard()
	options.Allow.Addresses = append(options.Allow.Addresses, loopback())
	r.Registry = NewRegistry(options)
	stop, done := make(chan struct{}), make(chan error, 1)
	ctx := contextUntil(stop)
	go func() { done <- r.Start(ctx) }()
	go func() {
		for {
			select {
			case <-stop:
				return
			case e := <-r.Events():
				r.events <- client.ObjectKeyFromObject(e.Object)
			}
		}
	}()
	r.stop = sync.OnceFunc(func() {
		close(stop)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

// put writes the kubeconfig Secret and tells the registry, as the controller does.
func (r *running) put(t testing.TB, name string, kubeconfig []byte, changes ...func(*ucv1.Cluster)) types.NamespacedName {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: name + "-kubeconfig"},
		Data: map[string][]byte{"value": kubeconfig}}
	if err := r.management.Create(t.Context(), secret); err != nil {
		if err := r.management.Update(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	cluster := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: name}}
	for _, change := range changes {
		change(cluster)
	}
	r.Ensure(cluster)
	return client.ObjectKeyFromObject(cluster)
}
