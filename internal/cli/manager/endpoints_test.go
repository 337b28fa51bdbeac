package manager

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
)

func sliceOf(namespace, service string, port int32, addresses ...string) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace,
			Name:      service,
			Labels:    map[string]string{discoveryv1.LabelServiceName: service},
		},
		Endpoints: []discoveryv1.Endpoint{{Addresses: addresses, Conditions: discoveryv1.EndpointConditions{Ready: new(false)}}},
		Ports:     []discoveryv1.EndpointPort{{Port: new(port)}, {}},
	}
}

func endpointsAt(endpoints ...string) []netip.AddrPort {
	var found []netip.AddrPort
	for _, endpoint := range endpoints {
		found = append(found, netip.MustParseAddrPort(endpoint))
	}
	return found
}

func TestEndpointsOfTheAPIServerAreKeptCurrent(t *testing.T) {
	g := NewWithT(t)
	client := fake.NewClientset(sliceOf("default", "kubernetes", 6443, "192.0.2.1", "2001:db8::1", "no address"),
		sliceOf("default", "other", 6443, "192.0.2.50"), sliceOf("tenant", "kubernetes", 6443, "192.0.2.60"))
	server := &usercluster.ManagementServer{}
	endpoints := &managementEndpoints{client: client, server: server, log: logr.Discard()}
	g.Expect(endpoints.read(t.Context())).To(BeTrue())
	g.Expect(server.Endpoints()).To(Equal(endpointsAt("192.0.2.1:6443", "[2001:db8::1]:6443")), "those that are not ready, too, "+
		"and no other Service's")
	g.Expect(endpoints.NeedLeaderElection()).To(BeFalse())

	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- endpoints.Start(ctx) }()
	slices := client.DiscoveryV1().EndpointSlices("default")
	eventually := func(what string, want []netip.AddrPort) {
		t.Helper()
		g.Eventually(server.Endpoints, 10*time.Second, 10*time.Millisecond).Should(Equal(want), what)
	}
	_, err := slices.Update(t.Context(), sliceOf("default", "kubernetes", 6443, "192.0.2.2"), metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	eventually("another node", endpointsAt("192.0.2.2:6443"))
	second := sliceOf("default", "kubernetes", 443, "192.0.2.3")
	second.Name = "kubernetes-ipv6"
	_, err = slices.Create(t.Context(), second, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	eventually("a second slice", endpointsAt("192.0.2.2:6443", "192.0.2.3:443"))
	g.Expect(slices.Delete(t.Context(), "kubernetes", metav1.DeleteOptions{})).To(Succeed())
	eventually("the first is gone", endpointsAt("192.0.2.3:443"))
	cancel()
	g.Eventually(stopped, 10*time.Second).Should(Receive(BeNil()))
}

func TestEndpointsThatMayNotBeReadAreSaidOnce(t *testing.T) {
	resource := discoveryv1.Resource("endpointslices")
	for name, tc := range map[string]struct {
		answer error
		said   int
		want   string
	}{
		"no right to them":    {answer: apierrors.NewForbidden(resource, "", errors.New("no rights")), said: 1},
		"an API without them": {answer: apierrors.NewNotFound(resource, ""), said: 1},
		"an API server in need": {answer: apierrors.NewInternalError(errors.New("etcd")), want: "read the EndpointSlices of Service " +
			"default/kubernetes"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			client := fake.NewClientset()
			client.PrependReactor(
				"list",
				"endpointslices",
				func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tc.answer },
			)
			var lines []string
			log := funcr.New(func(_, arguments string) { lines = append(lines, arguments) }, funcr.Options{})
			readable, err := (&managementEndpoints{client: client, server: &usercluster.ManagementServer{}, log: log}).read(t.Context())
			g.Expect(readable).To(BeFalse())
			g.Expect(lines).To(HaveLen(tc.said))
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(lines[0]).To(
					And(ContainSubstring("config/api-server-endpoints"), ContainSubstring("--management-api-server-addresses")),
				)
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)), "what could not be looked at is not absent")
		})
	}
}

func TestMoreEndpointsThanAreKeptAreSaid(t *testing.T) {
	g := NewWithT(t)
	many := sliceOf("default", "kubernetes", 6443)
	for i := range usercluster.MaxManagementEndpoints + 1 {
		many.Endpoints[0].Addresses = append(many.Endpoints[0].Addresses, fmt.Sprintf("192.0.2.%d", i))
	}
	var lines []string
	log := funcr.New(func(_, arguments string) { lines = append(lines, arguments) }, funcr.Options{})
	server := &usercluster.ManagementServer{}
	g.Expect((&managementEndpoints{client: fake.NewClientset(many), server: server, log: log}).read(t.Context())).To(BeTrue())
	g.Expect(server.Endpoints()).To(HaveLen(usercluster.MaxManagementEndpoints))
	g.Expect(lines).To(ConsistOf(ContainSubstring("more endpoints than are kept")))
}
