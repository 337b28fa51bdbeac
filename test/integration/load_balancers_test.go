package integration_test

import (
	"maps"
	"net"
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/loadbalancers"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/simcloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/openstack"
)

// renames is a provider whose CCM gives load balancers other names, as that of OpenStack does.
type renames struct{ simcloud.Profile }

func (renames) Facts(version string) observation.Provider {
	facts := simcloud.Profile{}.Facts(version)
	facts.SharesLoadBalancerNames, facts.LoadBalancerNames = false, "kube_service_%s_%s_%s"
	return facts
}

// The names are changed in a cloud that speaks the API of OpenStack, whose configuration stands in the same Secret.
func TestOldLoadBalancersGetTheNamesOfTheCCM(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	cloud := openstack.Start(false)
	t.Cleanup(cloud.Close)
	w := newWorld(t)
	w.loadBalancers = &loadbalancers.Cloud{Dial: (&net.Dialer{}).DialContext}
	w.observeBy(suite.catalogue.With("simcloud", renames{}))
	w.deployControlPlane(loopsOn()...)
	service := w.loadBalancer("front")
	old := observation.InTreeLoadBalancerName(string(service.UID))
	wanted := "kube_service_alpha-1_default_front"
	cloud.Set(openstack.LoadBalancer{ID: "id-1", Name: old, ProvisioningStatus: "ACTIVE", ProjectID: openstack.Project},
		openstack.LoadBalancer{ID: "id-2", Name: wanted, ProvisioningStatus: "ACTIVE", ProjectID: openstack.Project})
	w.playKCM(kcm + "-r1-0")
	w.clock.Step(max(0, time.Since(w.clock.Now())) + 2*time.Second)
	w.flip()
	config := maps.Clone(simcloudConfig())
	config["cloud.conf"] = []byte("[Global]\nauth-url=" + cloud.URL + "\nregion=one\nusername=" + openstack.User + "\npassword=" +
		openstack.Password + "\ntenant-name=alpha\ndomain-name=Default\n")
	w.secret("cloud-config", config)
	w.edit(func(c *ucv1.Cluster) { c.Spec.Cloud.LoadBalancers = ucv1.RenameLoadBalancers })

	cloud.Answer("GET /octavia/v2.0/lbaas/loadbalancers", http.StatusServiceUnavailable)
	w.until("step Finalize", func(c *ucv1.Cluster) bool {
		return c.Status.CompletedAt != nil && w.condition("InTreeConfigurationRemoved").Reason == ucv1.CouldNotLookReason
	}, w.playEverybody)
	g.Expect(w.condition("InTreeConfigurationRemoved").Message).To(And(
		ContainSubstring("the answer is 503"), ContainSubstring("spec.cloud.loadBalancers: Keep"), Not(ContainSubstring(openstack.Password)),
	))

	cloud.Answer("GET /octavia/v2.0/lbaas/loadbalancers", 0)
	w.until("a call for a person", func(*ucv1.Cluster) bool {
		return w.condition("Stalled").Reason == ucv1.LoadBalancersNotRenamedReason
	}, w.playEverybody)
	g.Expect(w.condition("Stalled").Message).To(ContainSubstring("id-2 has that name"))
	g.Expect(cloud.Names()).To(Equal(map[string]string{"id-1": old, "id-2": wanted}))

	cloud.Set(openstack.LoadBalancer{ID: "id-1", Name: old, ProvisioningStatus: "ACTIVE", ProjectID: openstack.Project})
	w.until("the end", at(ucv1.StepFinished), w.playEverybody, func() {
		cloud.Set(openstack.LoadBalancer{
			ID: "id-1", Name: cloud.Names()["id-1"], ProvisioningStatus: "ACTIVE", ProjectID: openstack.Project,
		})
	})
	g.Expect(cloud.Names()).To(Equal(map[string]string{"id-1": wanted}))
	g.Expect(w.status().RenamedLoadBalancers.Count).To(BeEquivalentTo(1))
	cloud.Calls()
	w.expectIdle()
	g.Expect(cloud.Calls()).To(BeEmpty(), "what is done is not asked for again")
}

// loadBalancer is a Service that has an address.
func (w *world) loadBalancer(name string) *corev1.Service {
	w.t.Helper()
	g := NewWithT(w.t)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	g.Expect(w.user.client.Create(w.t.Context(), service)).To(Succeed())
	w.t.Cleanup(func() { _ = w.user.client.Delete(w.t.Context(), service) })
	service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
	g.Expect(w.user.client.Status().Update(w.t.Context(), service)).To(Succeed())
	return service
}
