package integration_test

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// A pod knows the API server by a Service. A tenant who names what stands behind it gets no further, with the rights that the
// overlay for some namespaces grants.
func TestTheEndpointsOfTheManagementAPIServerAreNeverDialed(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	published := &discoveryv1.EndpointSliceList{}
	g.Expect(suite.client.List(t.Context(), published, client.InNamespace(metav1.NamespaceDefault),
		client.MatchingLabels{discoveryv1.LabelServiceName: "kubernetes"})).To(Succeed())
	g.Expect(published.Items).NotTo(BeEmpty(), "the API server says where it is")
	address, port := published.Items[0].Endpoints[0].Addresses[0], *published.Items[0].Ports[0].Port
	names := func(port int32) func(*world) {
		return kubeconfig(func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			c.Server = fmt.Sprintf("https://%s:%d", address, port)
		})
	}
	w := newWorld(t)
	bindRights(t, w.namespace)
	w.deployControlPlane(loopsOn()...)
	w.create(feature(true))
	names(port)(w)
	startManager(t, "--namespaces="+w.namespace)
	reachable := func(is ...any) {
		t.Helper()
		g.Eventually(func() *metav1.Condition {
			return meta.FindStatusCondition(w.status().Conditions, ucv1.UserClusterReachableCondition)
		}, 2*deadline, interval).Should(And(Not(BeNil()), HaveField("Reason", is[0])), is[1:]...)
	}
	reachable(ucv1.KubeconfigRefusedReason, "address and port are its own")

	const another = 1
	names(another)(w)
	reachable(ucv1.UnreachableReason, "what else has that address is dialed")

	moved := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:    metav1.NamespaceDefault,
			GenerateName: "kubernetes-",
			Labels:       map[string]string{discoveryv1.LabelServiceName: "kubernetes"},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{address}}},
		Ports:       []discoveryv1.EndpointPort{{Port: new(int32(another))}},
	}
	g.Expect(suite.client.Create(t.Context(), moved)).To(Succeed())
	t.Cleanup(func() { _ = suite.client.Delete(t.Context(), moved) })
	reachable(ucv1.KubeconfigRefusedReason, "what it says later counts, too")
}
