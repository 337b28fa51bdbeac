package aws_test

import (
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/apiserver"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/awscloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bystanders"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/kubelet"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

const (
	// patience bounds each wait; nothing here measures speed.
	patience = 90 * time.Second
	interval = 100 * time.Millisecond

	cluster, region, zone = "alpha", "eu-central-1", "eu-central-1a"
	// The Node old was made under the in-tree provider, and new has joined since and waits for the CCM. The instances
	// of stopped and gone were stopped and terminated.
	oldNode, oldInstance         = "ip-10-0-1-10.eu-central-1.compute.internal", "i-0123456789abcdef0"
	newNode, newInstance         = "ip-10-0-1-20.eu-central-1.compute.internal", "i-0123456789abcdef1"
	stoppedNode, stoppedInstance = "ip-10-0-1-30.eu-central-1.compute.internal", "i-0123456789abcdef2"
	goneNode, goneInstance       = "ip-10-0-1-40.eu-central-1.compute.internal", "i-0123456789abcdef3"
	oldCIDR, newCIDR             = "10.244.0.0/24", "10.244.1.0/24"
	uninitialized                = "node.cloudprovider.kubernetes.io/uninitialized"
)

// world is a user cluster in AWS: a real control plane, kubelets that run processes, and the cloud.
type world struct {
	// ctx is that of the spec, which is the end of the world.
	ctx      context.Context
	cloud    *awscloud.Cloud
	cloudURL string
	client   client.Client
	kubelet  *kubelet.Kubelet
	dir      string
	binaries string
}

func newWorld(ctx SpecContext, name string) *world {
	GinkgoHelper()
	w := &world{ctx: ctx, dir: suite.OutputDir("aws/" + name), binaries: suite.Binaries()}
	Expect(os.RemoveAll(w.dir)).To(Succeed())
	Expect(os.MkdirAll(w.dir, 0o755)).To(Succeed())
	GinkgoWriter.Println("raw records:", w.dir)
	w.cloud = awscloud.New(awscloud.World{
		Region: region, Zone: zone, ZoneID: "euc1-az2", VPC: "vpc-0123456789abcdef0", SubnetID: "subnet-0123456789abcdef0",
		RouteTableID: "rtb-0123456789abcdef0", ClusterID: cluster, NodeGroup: "sg-0123456789abcdef0",
		AccessKeyID: "AKIAEXAMPLE", SecretAccessKey: "example-only",
		Instances: []awscloud.Instance{
			{ID: oldInstance, Type: "m5.large", PrivateDNSName: oldNode, PrivateIP: "10.0.1.10", PodCIDR: oldCIDR},
			{ID: newInstance, Type: "m5.large", PrivateDNSName: newNode, PrivateIP: "10.0.1.20"},
			{ID: stoppedInstance, Type: "m5.large", PrivateDNSName: stoppedNode, PrivateIP: "10.0.1.30", Stopped: true},
		},
	})
	server := httptest.NewServer(w.cloud)
	DeferCleanup(server.Close)
	w.cloudURL = server.URL
	w.startCluster()
	w.makeNodes()
	others := bystanders.New(suite.Seed(), name)
	Eventually(
		func() error { return bystanders.Create(w.ctx, w.client, others) },
	).WithContext(ctx).WithTimeout(patience).Should(Succeed())
	return w
}

// startCluster starts a control plane and the kubelet of its Nodes.
func (w *world) startCluster() {
	GinkgoHelper()
	supervisor := process.NewSupervisor()
	DeferCleanup(supervisor.Close)
	control, err := apiserver.Start(w.ctx, apiserver.Options{
		Name: cluster, Index: 1, Dir: w.dir, BinDir: w.binaries, Supervisor: supervisor,
		WithScheduler: true, WithControllerManager: true, APIServerArgs: w.auditArguments(),
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(control.Stop)
	w.client, err = client.New(control.AdminConfig(), client.Options{})
	Expect(err).NotTo(HaveOccurred())

	// The kubelet may say something after the test's end, which a test's own log does not like.
	trouble, err := os.Create(filepath.Join(w.dir, "kubelet.log"))
	Expect(err).NotTo(HaveOccurred())
	w.kubelet, err = kubelet.New(kubelet.Options{
		Cluster: cluster, Index: 1, Config: control.AdminConfig(), RunDir: w.dir, BinDir: w.binaries, Supervisor: supervisor,
		Log: funcr.New(func(prefix, args string) { _, _ = fmt.Fprintln(trouble, prefix, args) }, funcr.Options{}),
	})
	Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(w.ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.kubelet.Run(ctx) }()
	DeferCleanup(func() {
		cancel()
		Eventually(ended).WithTimeout(patience).Should(Receive(BeNil()))
	})
}

// makeNodes makes them as their kubelets and the in-tree provider do.
func (w *world) makeNodes() {
	GinkgoHelper()
	node := func(name, providerID, cidr string, taints ...corev1.Taint) *corev1.Node {
		labels := map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux"}
		made := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
		made.Spec = corev1.NodeSpec{ProviderID: providerID, PodCIDR: cidr, Taints: taints}
		if cidr != "" {
			made.Spec.PodCIDRs = []string{cidr}
		}
		return made
	}
	stopped := node(stoppedNode, "aws:///"+zone+"/"+stoppedInstance, "")
	gone := node(goneNode, "aws:///"+zone+"/"+goneInstance, "")
	for _, silent := range []*corev1.Node{stopped, gone} {
		silent.Labels[kubelet.ModeLabel] = kubelet.ModeNone
		silent.Spec.Unschedulable = true
	}
	for _, made := range []*corev1.Node{
		node(oldNode, "aws:///"+zone+"/"+oldInstance, oldCIDR),
		node(newNode, "", newCIDR, corev1.Taint{Key: uninitialized, Value: "true", Effect: corev1.TaintEffectNoSchedule}),
		stopped, gone,
	} {
		Expect(w.client.Create(w.ctx, made)).To(Succeed())
	}
}

// makeLoadBalancer makes a Service, and the load balancer that the in-tree provider has made for it: with its name,
// and the Nodes that there were.
func (w *world) makeLoadBalancer() *corev1.Service {
	GinkgoHelper()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "web"},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, Selector: map[string]string{"app": "web"},
			Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080), NodePort: 30080}},
		},
	}
	Expect(w.client.Create(w.ctx, service)).To(Succeed())
	name := ("a" + strings.ReplaceAll(string(service.UID), "-", ""))[:32]
	w.cloud.AddLoadBalancer(awscloud.LoadBalancer{
		Name: name, DNSName: name + ".elb.example", Group: "sg-0123456789abcdef1", Port: 80, NodePort: 30080,
		Instances: []string{oldInstance, stoppedInstance},
	})
	return service
}

// render makes the CCM of the newest minor in the catalogue. The endpoints are overridden by the names that the
// in-tree provider has for the services, which are not those of this CCM.
func (w *world) render(cloudConfig map[string][]byte) manifest.Set {
	GinkgoHelper()
	for _, service := range []string{"ec2", "elasticloadbalancing"} {
		cloudConfig["cloud.conf"] = fmt.Appendf(cloudConfig["cloud.conf"], `[ServiceOverride "%[1]s"]
Service = %[1]s
Region = %[2]s
URL = %[3]s
SigningRegion = %[2]s
`, service, region, w.cloudURL)
	}
	addons, err := profile(NewGomega(Fail)).Render(manifest.RenderInput{
		Version: fmt.Sprintf("1.%d.0", versions.LastMinor),
		Inherited: ucv1.InheritedConfiguration{
			ClusterName: "kubernetes", ClusterCIDR: "10.244.0.0/16", AllocateNodeCIDRs: true, ConfigureCloudRoutes: true,
			Loops: []string{observation.CloudNodeLifecycleLoop, observation.RouteLoop, observation.ServiceLoop},
		},
		CloudConfig: cloudConfig,
		ClusterUID:  "6f4cbf1e-0a2f-4b7e-9d0c-1c0d2f3a4b5c",
	})
	Expect(err).NotTo(HaveOccurred())
	return addons.CCM
}

func profile(g Gomega) provider.Profile {
	found, known := provider.New().Lookup("aws")
	g.Expect(known).To(BeTrue())
	return found
}

func (w *world) apply(objects []*unstructured.Unstructured) {
	GinkgoHelper()
	for _, object := range objects {
		configuration := client.ApplyConfigurationFromUnstructured(object.DeepCopy())
		err := w.client.Apply(w.ctx, configuration, client.FieldOwner(ucv1.FieldManager))
		Expect(err).NotTo(HaveOccurred(), "%s %s", object.GetKind(), object.GetName())
	}
}

// startMetadata makes every process one of the old Node's instance.
func (w *world) startMetadata() {
	GinkgoHelper()
	listener, err := net.Listen("tcp", awscloud.MetadataAddress+":80")
	Expect(err).NotTo(HaveOccurred())
	server := httptest.NewUnstartedServer(w.cloud.Metadata(oldInstance))
	server.Listener = listener
	server.Start()
	DeferCleanup(server.Close)
}
