//go:build realprovider

package provider_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/openstack"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

const (
	cluster, oldCluster = "alpha", "beta"
	program             = "openstack-cloud-controller-manager"
	// busy is how long the cloud takes for a change of a load balancer.
	busy = time.Second
	// internal is how both providers are asked for a load balancer without a floating IP.
	internal = "service.beta.kubernetes.io/openstack-internal-load-balancer"
)

var _ = Describe("OpenStack with its own KCM and CCM", Ordered, Label("openstack"), func() {
	testbed := suite.NewTestbed()
	cloud, old := openstack.Start(false), openstack.Start(false)

	BeforeAll(func(ctx SpecContext) {
		old.WithoutTags()
		for name, one := range map[string]*openstack.Cloud{cluster: cloud, oldCluster: old} {
			DeferCleanup(one.Close)
			one.SettleAfter(busy)
			one.ServeFrom(func() []openstack.Server { return servers(testbed.Bed, name) })
		}
		programs, _ := suite.BedOptions("provider/openstack")
		programs.ManagementBinDir = filepath.Join(programs.BinDir, bed.ManagementName)
		testbed.Start(ctx, programs)
	}, NodeTimeout(suite.StartTime))

	testbed.Stories.It("is migrated, and goes on with the load balancers that there are", func(ctx context.Context, s *suite.Scene) {
		expectProgram(s, programs(testbed))
		w, remove := begin(s, testbed, cloud, cluster)
		defer remove()
		w.furnish(ctx, s)
		before := w.balancers(ctx, s)
		testbed.Installed(ctx, s)
		w.mirror(ctx, s)
		w.migrate(ctx, s, func(c *ucv1.Cluster) { c.Spec.Cloud.LoadBalancers = ucv1.RenameLoadBalancers })
		w.awaitRenamed(ctx, s)
		w.expectKept(ctx, s, before, ccmNames)
		w.expectInitialized(ctx, s)
		w.expectOneAtATime(s)
		w.expectNewAndDeleted(ctx, s)
		testbed.ExpectNothingForbidden(s)
		testbed.ExpectGoodVerdicts(s)
	})

	testbed.Stories.It("is migrated without tags of Octavia, and its CCM refuses load balancers until they are renamed",
		func(ctx context.Context, s *suite.Scene) {
			w, remove := begin(s, testbed, old, oldCluster)
			defer remove()
			w.furnish(ctx, s)
			before := w.balancers(ctx, s)
			testbed.Installed(ctx, s)
			w.mirror(ctx, s)
			w.migrate(ctx, s, func(c *ucv1.Cluster) {
				c.Spec.Preflight.Accept = []ucv1.AcceptedFinding{{ID: "LoadBalancerRefused", Reason: "they are renamed later"}}
			})
			for name := range before {
				s.Expect(w.said(ctx, s, name, "SyncLoadBalancerFailed")).To(ContainElement(
					ContainSubstring("shared load balancer is only supported with the tag feature")), "of %s", name)
			}
			w.expectKept(ctx, s, before, func(was balancer, _ string) string { return was.name })

			w.testbed.Patch(ctx, s, w.cluster, `{"spec":{"cloud":{"loadBalancers":"Rename"}}}`)
			w.awaitRenamed(ctx, s)
			w.expectKept(ctx, s, before, ccmNames)
			w.expectAccepted(ctx, s, "web")
			w.expectNewAndDeleted(ctx, s)
		})
})

// ccmNames are those that the CCM gives.
func ccmNames(_ balancer, service string) string { return "kube_service_prod_default_" + service }

// begin a user cluster of that cloud.
func begin(s *suite.Scene, testbed *suite.Testbed, cloud *openstack.Cloud, name string) (w *world, remove func()) {
	GinkgoHelper()
	u, err := testbed.AddUserCluster(bed.UserClusterOptions{Name: name, KCMFlags: []string{"--cluster-name=prod"}, Cloud: &bed.OtherCloud{
		Provider: "openstack", Conf: conf(cloud), ProviderID: func(i simcloud.Instance) string { return "openstack:///" + serverID(i) },
	}})
	s.Expect(err).NotTo(HaveOccurred())
	return &world{testbed: testbed, cloud: cloud, cluster: u}, func() { _ = testbed.RemoveUserCluster(u) }
}

func programs(testbed *suite.Testbed) string { return testbed.Options().BinDir }

// expectProgram: the CCM is the one that the catalogue has for the minor.
func expectProgram(s *suite.Scene, programs string) {
	GinkgoHelper()
	profile, known := provider.New().Lookup("openstack")
	s.Expect(known).To(BeTrue())
	release, err := profile.Release(bed.KubernetesVersion)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(filepath.Join(programs, release.CCM, program)).To(BeAnExistingFile(),
		"SOURCE has to be a checkout of the tag that the catalogue has for %s", bed.KubernetesVersion)
}

// conf is what people have, in a project with one network for Nodes and one outside.
func conf(cloud *openstack.Cloud) []byte {
	return fmt.Appendf(nil, `[Global]
auth-url=%s
region=one
username=%s
password=%s
tenant-name=alpha
domain-name=Default

[LoadBalancer]
use-octavia=true
lb-version=v2
subnet-id=%s
floating-network-id=%s
`, cloud.URL, openstack.User, openstack.Password, openstack.Subnet, openstack.ExternalNetwork)
}

// serverID has the form that Nova's have.
func serverID(instance simcloud.Instance) string {
	_, number, _ := strings.Cut(instance.ID, "-")
	return "5e2be200-0000-4000-8000-" + fmt.Sprintf("%012s", number)
}

func servers(b *bed.Bed, name string) []openstack.Server {
	var all []openstack.Server
	for _, instance := range b.Cloud.Snapshot(name).Instances {
		all = append(all, openstack.Server{
			ID: serverID(instance), Name: instance.Name, Address: instance.Addresses[0], Zone: instance.Zone,
			Stopped: instance.State != simcloud.Running,
		})
	}
	return all
}

// world is the user cluster and its cloud.
type world struct {
	testbed *suite.Testbed
	cloud   *openstack.Cloud
	cluster *bed.UserCluster
	// flipped is when the feature was set.
	flipped time.Time
}

// furnish it with two Nodes, a load balancer with a floating IP, and one without.
func (w *world) furnish(ctx context.Context, s *suite.Scene) {
	GinkgoHelper()
	inner := bed.LoadBalancer("inner")
	inner.Annotations = map[string]string{internal: "true"}
	for _, object := range []client.Object{bed.MachineDeployment("pool", 2), bed.LoadBalancer("web"), inner} {
		s.Expect(w.cluster.Client.Create(ctx, object)).To(Succeed())
	}
	w.testbed.NodesJoin(ctx, s, w.cluster, 2)
	for _, name := range []string{"web", "inner"} {
		w.awaitAddress(ctx, s, name)
	}
}

func (w *world) awaitAddress(ctx context.Context, s *suite.Scene, name string) (address string) {
	GinkgoHelper()
	s.Eventually(func(g Gomega) {
		service := &corev1.Service{}
		g.Expect(w.cluster.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}, service)).To(Succeed())
		g.Expect(service.Status.LoadBalancer.Ingress).To(HaveLen(1))
		address = service.Status.LoadBalancer.Ingress[0].IP
	}).WithContext(ctx).WithTimeout(suite.Patience).WithPolling(suite.PollTime).Should(Succeed())
	return address
}

// balancer is what a Service has in the cloud.
type balancer struct{ id, name, address string }

// balancers of the Services, with the address that their status has.
func (w *world) balancers(ctx context.Context, s *suite.Scene) map[string]balancer {
	GinkgoHelper()
	found, floating := map[string]balancer{}, w.cloud.FloatingIPs()
	for _, service := range []string{"web", "inner"} {
		address := w.awaitAddress(ctx, s, service)
		for _, lb := range w.cloud.LoadBalancers() {
			if address == lb.Address || address == floating[lb.Port] {
				found[service] = balancer{id: lb.ID, name: lb.Name, address: address}
			}
		}
	}
	s.Logf("load balancers: %v", found)
	return found
}

// mirror of the CCM, as the catalogue has its image.
func (w *world) mirror(ctx context.Context, s *suite.Scene) {
	GinkgoHelper()
	profile := &ucv1.ProviderProfile{ObjectMeta: metav1.ObjectMeta{Name: "openstack"}}
	profile.Spec = ucv1.ProviderProfileSpec{ProviderName: "openstack", Mirrors: []ucv1.ImageMirror{{
		Source: "registry.k8s.io/provider-os/" + program, Mirror: "registry.example/" + program,
	}}}
	if err := w.testbed.Client.Create(ctx, profile); !apierrors.IsAlreadyExists(err) {
		s.Expect(err).NotTo(HaveOccurred())
	}
}

// migrate the cluster.
func (w *world) migrate(ctx context.Context, s *suite.Scene, change func(*ucv1.Cluster)) {
	GinkgoHelper()
	made := w.cluster.NewCluster(false)
	change(made)
	s.Expect(w.testbed.Client.Create(ctx, made)).To(Succeed())
	go registerDrivers(ctx, w.cluster.Client)
	w.flipped = time.Now()
	w.testbed.Flip(ctx, s, w.cluster)
	w.testbed.WaitForCluster(ctx, s, w.cluster, "is migrated", suite.IsTrue(ucv1.CSIKubeletMigrationCompletedCondition))
	s.Logf("migrated after %s", time.Since(w.flipped).Round(time.Second))
}

func (w *world) awaitRenamed(ctx context.Context, s *suite.Scene) {
	GinkgoHelper()
	w.testbed.WaitForCluster(ctx, s, w.cluster, "has its load balancers renamed", func(c *ucv1.Cluster) string {
		if c.Status.RenamedLoadBalancers == nil || c.Status.Step != ucv1.StepFinished {
			return string(c.Status.Step)
		}
		return ""
	})
}

// said are the messages of a Service's events with that reason.
func (w *world) said(ctx context.Context, s *suite.Scene, service, reason string) []string {
	GinkgoHelper()
	list := &corev1.EventList{}
	s.Expect(w.cluster.Client.List(ctx, list, client.InNamespace(metav1.NamespaceDefault))).To(Succeed())
	var messages []string
	for _, event := range list.Items {
		if event.InvolvedObject.Name == service && event.Reason == reason {
			messages = append(messages, event.Message)
		}
	}
	return messages
}

// expectAccepted: a change of a Service is carried out.
func (w *world) expectAccepted(ctx context.Context, s *suite.Scene, name string) {
	GinkgoHelper()
	service := bed.LoadBalancer(name)
	s.Expect(w.cluster.Client.Get(ctx, client.ObjectKeyFromObject(service), service)).To(Succeed())
	before := service.DeepCopy()
	service.Spec.Ports[0].Port = 81
	s.Expect(w.cluster.Client.Patch(ctx, service, client.MergeFrom(before))).To(Succeed())
	s.Eventually(func() []int { return w.cloud.ListenerPorts() }).
		WithContext(ctx).WithTimeout(suite.Patience).WithPolling(suite.PollTime).Should(ConsistOf(80, 81))
}

// expectKept: the same load balancers under these names, in front of the new Nodes.
func (w *world) expectKept(
	ctx context.Context, s *suite.Scene, before map[string]balancer, named func(was balancer, service string) string,
) {
	GinkgoHelper()
	after := w.balancers(ctx, s)
	s.Expect(before).To(HaveLen(2))
	for name, was := range before {
		s.Expect(after[name]).To(Equal(balancer{id: was.id, name: named(was, name), address: was.address}))
	}
	s.Expect(w.cloud.LoadBalancers()).To(HaveLen(2))
	s.Eventually(func(g Gomega) {
		addresses := w.nodeAddresses(ctx, g)
		for _, lb := range w.cloud.LoadBalancers() {
			g.Expect(lb.Members).To(Equal(addresses), "of %s", lb.Name)
		}
	}).WithContext(ctx).WithTimeout(suite.Patience).WithPolling(suite.PollTime).Should(Succeed())
}

func (w *world) nodeAddresses(ctx context.Context, g Gomega) []string {
	nodes, addresses := &corev1.NodeList{}, []string{}
	g.Expect(w.cluster.Client.List(ctx, nodes)).To(Succeed())
	for _, node := range nodes.Items {
		addresses = append(addresses, node.Status.Addresses[slices.IndexFunc(node.Status.Addresses, isInternal)].Address)
	}
	slices.Sort(addresses)
	return addresses
}

func isInternal(address corev1.NodeAddress) bool { return address.Type == corev1.NodeInternalIP }

// expectInitialized by the CCM: what it writes to a Node.
func (w *world) expectInitialized(ctx context.Context, s *suite.Scene) {
	GinkgoHelper()
	nodes := &corev1.NodeList{}
	s.Expect(w.cluster.Client.List(ctx, nodes)).To(Succeed())
	s.Expect(nodes.Items).To(HaveLen(2))
	for _, node := range nodes.Items {
		s.Expect(node.Spec.ProviderID).To(MatchRegexp(`^openstack:///5e2be200-`))
		s.Expect(node.Spec.Taints).To(BeEmpty())
		s.Expect(node.Labels).To(HaveKeyWithValue(corev1.LabelInstanceTypeStable, "small"))
	}
}

// inTreeAgent is what KCM's provider calls itself; the manager's library writes v2.
// https://github.com/gophercloud/gophercloud/blob/v0.1.0/provider_client.go#L16
const inTreeAgent = "gophercloud/2"

// expectOneAtATime: what KCM changes in the cloud it has changed before the CCM's first call that changes something.
func (w *world) expectOneAtATime(s *suite.Scene) {
	GinkgoHelper()
	var last, first time.Time
	counts := map[string]int{}
	for _, call := range w.cloud.Log() {
		ccm := strings.HasPrefix(call.Agent, program)
		changes := call.Method != "GET" && !strings.HasPrefix(call.Path, "/v3/")
		switch {
		case !changes:
		case ccm && first.IsZero():
			first = call.Time
		case strings.HasPrefix(call.Agent, inTreeAgent):
			last = call.Time
		}
		if changes {
			counts[fmt.Sprintf("%.40s %s %d", call.Agent, call.Method, call.Status)]++
		}
	}
	s.Logf("changes in the cloud: %v", counts)
	s.Expect(last).NotTo(BeZero())
	s.Expect(first).To(BeTemporally(">", last))
	for _, call := range w.cloud.Log() {
		if call.Time.After(w.flipped) && call.Method == "POST" {
			s.Expect(call.Path).NotTo(HaveSuffix("/loadbalancers"), "a load balancer is made by %s", call.Agent)
		}
	}
}

// expectNewAndDeleted: the CCM makes a load balancer, and deletes those that KCM made. Of the floating IPs it deletes its own: those
// of KCM have no description by which it knows them.
func (w *world) expectNewAndDeleted(ctx context.Context, s *suite.Scene) {
	GinkgoHelper()
	stays := w.awaitAddress(ctx, s, "web")
	s.Expect(w.cluster.Client.Create(ctx, bed.LoadBalancer("later"))).To(Succeed())
	w.awaitAddress(ctx, s, "later")
	for _, name := range []string{"web", "inner", "later"} {
		s.Expect(w.cluster.Client.Delete(ctx, bed.LoadBalancer(name))).To(Succeed())
	}
	s.Eventually(func(g Gomega) {
		g.Expect(w.cloud.LoadBalancers()).To(BeEmpty())
		g.Expect(slices.Collect(maps.Values(w.cloud.FloatingIPs()))).To(Equal([]string{stays}))
	}).WithContext(ctx).WithTimeout(suite.Patience).WithPolling(suite.PollTime).Should(Succeed())
}
