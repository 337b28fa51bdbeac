package simcloud

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cloudprovider "k8s.io/cloud-provider"
)

// answer is what the cloud says to every request of a test.
type answer struct {
	status int
	body   string
}

// newTestCloud returns the provider of component, and what it last sent: verb,
// path, method, loop and body.
func newTestCloud(t *testing.T, component string, says answer) (cloudprovider.Interface, *string) {
	t.Helper()
	sent := new(string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*sent = fmt.Sprintf(
			"%s %s %s %s %s", r.Method, r.URL.Path, r.Header.Get("X-Simcloud-Method"), r.Header.Get("X-Simcloud-Loop"), body,
		)
		if r.Header.Get("Authorization") != "Bearer t" || r.Header.Get("X-Simcloud-Component") != component ||
			r.Header.Get("X-Simcloud-Instance") != "pod-0" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.WriteHeader(says.status)
		_, _ = io.WriteString(w, says.body)
	}))
	t.Cleanup(server.Close)
	return NewCloud(Config{Endpoint: server.URL, Cluster: "a", Token: "t"}, component, "pod-0"), sent
}

func node(providerID string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Spec: corev1.NodeSpec{ProviderID: providerID}}
}

func TestInstances(t *testing.T) {
	const running = `{"name":"n1","providerID":"simcloud://a/n1","addresses":["10.0.0.1"],` +
		`"zone":"z","region":"r","type":"small","state":"running"}`
	tests := map[string]struct {
		says       answer
		node       *corev1.Node
		component  string
		ask        func(context.Context, cloudprovider.InstancesV2, *corev1.Node) (any, error)
		want       any
		wantErr    string
		wantSent   string
		wantAbsent bool
	}{
		"a node with an instance exists": {
			says: answer{200, running}, node: node("simcloud://a/vm1"), ask: exists, want: true,
			wantSent: "GET /v1/clusters/a/instances/vm1 InstanceExists cloud-node-lifecycle ",
		},
		"a node without an instance does not exist":             {says: answer{404, ""}, node: node(""), ask: exists, want: false},
		"a cloud that fails does not say that a node is gone":   {says: answer{500, "broken"}, node: node(""), ask: exists, want: false, wantErr: "500 Internal Server Error: broken"},
		"a provider ID of another cloud is an error":            {says: answer{404, ""}, node: node("simcloud://b/n1"), ask: exists, want: false, wantErr: "does not begin with simcloud://a/"},
		"an instance that was stopped is shut down":             {says: answer{200, `{"state":"stopped"}`}, node: node(""), ask: shutdown, want: true},
		"an instance that runs is not":                          {says: answer{200, running}, node: node(""), ask: shutdown, want: false},
		"metadata of a missing instance is the library's error": {says: answer{404, ""}, node: node(""), ask: metadata, wantAbsent: true},
		"the CCM asks for metadata in its node loop": {
			says: answer{200, running}, node: node(""), component: componentCCM, ask: metadata,
			wantSent: "GET /v1/clusters/a/instances/n1 InstanceMetadata cloud-node ",
			want: &cloudprovider.InstanceMetadata{
				ProviderID: "simcloud://a/n1", InstanceType: "small", Zone: "z", Region: "r",
				NodeAddresses: []corev1.NodeAddress{
					{Type: corev1.NodeHostName, Address: "n1"}, {Type: corev1.NodeInternalIP, Address: "10.0.0.1"},
				},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			if tc.component == "" {
				tc.component = "kube-controller-manager"
			}
			cloud, sent := newTestCloud(t, tc.component, tc.says)
			instances, supported := cloud.InstancesV2()
			g.Expect(supported).To(BeTrue())
			got, err := tc.ask(t.Context(), instances, tc.node)
			switch {
			case tc.wantAbsent:
				g.Expect(err).To(MatchError(cloudprovider.InstanceNotFound))
				return
			case tc.wantErr != "":
				g.Expect(err).To(MatchError(ContainSubstring(tc.wantErr)))
			default:
				g.Expect(err).NotTo(HaveOccurred())
			}
			g.Expect(got).To(Equal(tc.want))
			g.Expect(*sent).To(HavePrefix(tc.wantSent))
		})
	}
}

func exists(ctx context.Context, i cloudprovider.InstancesV2, n *corev1.Node) (any, error) {
	return i.InstanceExists(ctx, n)
}

func shutdown(ctx context.Context, i cloudprovider.InstancesV2, n *corev1.Node) (any, error) {
	return i.InstanceShutdown(ctx, n)
}

func metadata(ctx context.Context, i cloudprovider.InstancesV2, n *corev1.Node) (any, error) {
	return i.InstanceMetadata(ctx, n)
}

func web() *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}
}

func TestLoadBalancers(t *testing.T) {
	service := web()
	tests := map[string]struct {
		says     answer
		do       func(context.Context, cloudprovider.LoadBalancer) (any, error)
		want     any
		wantErr  string
		wantSent string
	}{
		"ensuring sends sorted hosts and ports and returns the address": {
			says: answer{201, `{"ip":"198.18.0.2"}`},
			do: func(ctx context.Context, l cloudprovider.LoadBalancer) (any, error) {
				return l.EnsureLoadBalancer(ctx, "kubernetes", service, []*corev1.Node{node(""), {ObjectMeta: metav1.ObjectMeta{Name: "n0"}}})
			},
			want: (&loadBalancer{IP: "198.18.0.2"}).status(),
			wantSent: `PUT /v1/clusters/a/loadbalancers/kubernetes-ns-web EnsureLoadBalancer service ` +
				`{"name":"kubernetes-ns-web","hosts":["n0","n1"],"ports":[80]}`,
		},
		"another cluster name is another load balancer": {
			says: answer{404, ""},
			do: func(ctx context.Context, l cloudprovider.LoadBalancer) (any, error) {
				_, found, err := l.GetLoadBalancer(ctx, "other", service)
				return found, err
			},
			want:     false,
			wantSent: "GET /v1/clusters/a/loadbalancers/other-ns-web GetLoadBalancer service ",
		},
		"deleting one that is gone is no error": {
			says: answer{404, ""},
			do: func(ctx context.Context, l cloudprovider.LoadBalancer) (any, error) {
				return nil, l.EnsureLoadBalancerDeleted(ctx, "kubernetes", service)
			},
			wantSent: "DELETE /v1/clusters/a/loadbalancers/kubernetes-ns-web EnsureLoadBalancerDeleted service ",
		},
		"a cloud that refuses the token says so": {
			says: answer{401, "the token is not the cluster's"},
			do: func(ctx context.Context, l cloudprovider.LoadBalancer) (any, error) {
				return nil, l.UpdateLoadBalancer(ctx, "kubernetes", service, nil)
			},
			wantErr: "UpdateLoadBalancer loadbalancers/kubernetes-ns-web: the cloud answered 401 Unauthorized: the token",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			cloud, sent := newTestCloud(t, componentCCM, tc.says)
			balancers, supported := cloud.LoadBalancer()
			g.Expect(supported).To(BeTrue())
			got, err := tc.do(t.Context(), balancers)
			if tc.wantErr != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.wantErr)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			if tc.want != nil {
				g.Expect(got).To(Equal(tc.want))
			}
			g.Expect(*sent).To(HavePrefix(tc.wantSent))
		})
	}
}

func TestRoutes(t *testing.T) {
	g := NewWithT(t)
	cloud, sent := newTestCloud(
		t, componentCCM,
		answer{200, `[{"name":"kubernetes-10","targetNode":"n1","destinationCIDR":"10.0.0.0/24"},{"name":"other-10"}]`},
	)
	routes, supported := cloud.Routes()
	g.Expect(supported).To(BeTrue())
	listed, err := routes.ListRoutes(t.Context(), "kubernetes")
	g.Expect(err).NotTo(HaveOccurred())
	wanted := &cloudprovider.Route{Name: "kubernetes-10", TargetNode: "n1", DestinationCIDR: "10.0.0.0/24"}
	g.Expect(listed).To(ConsistOf(wanted), "routes of another cluster name are not ours")
	g.Expect(routes.CreateRoute(t.Context(), "kubernetes", "uid", wanted)).To(Succeed())
	g.Expect(*sent).To(Equal(`POST /v1/clusters/a/routes CreateRoute route ` +
		`{"name":"kubernetes-10-0-0-0-24","targetNode":"n1","destinationCIDR":"10.0.0.0/24"}`))
	g.Expect(routes.DeleteRoute(t.Context(), "kubernetes", wanted)).To(Succeed())
	g.Expect(*sent).To(Equal("DELETE /v1/clusters/a/routes/kubernetes-10 DeleteRoute route "))
}
