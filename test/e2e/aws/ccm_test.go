package aws_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/kubelet"
)

const program = "aws-cloud-controller-manager"

// The real CCM of AWS is taken through what the controller does with it, in the two ways in which it comes to its
// credentials and its VPC. What AWS is asked for by a CCM that does not lead is the last argument of their stories.
var _ = Describe("The CCM that others wrote is handed over", Label("aws"), func() {
	It("when the configuration has the VPC, and the Secret the access key", func(ctx SpecContext) {
		w := newWorld(ctx, "secret")
		w.story(profile(NewGomega(Fail)).Example(), nil)
	}, NodeTimeout(suite.SpecTime))

	It("when both are those of the instance", func(ctx SpecContext) {
		w := newWorld(ctx, "instance")
		w.startMetadata()
		w.story(map[string][]byte{
			"cloud.conf": []byte("[Global]\nZone = " + zone + "\nKubernetesClusterID = " + cluster + "\n"),
		}, []string{"DescribeInstances"})
	}, NodeTimeout(suite.SpecTime))
})

// story is that of a migration: the CCM is rendered and applied, waits behind the fence, is let through, and goes on
// with what the in-tree provider left.
func (w *world) story(cloudConfig map[string][]byte, asked []string) {
	GinkgoHelper()
	service := w.makeLoadBalancer()
	rendered := w.render(cloudConfig)
	w.apply(w.startable(rendered))
	pods := w.awaitReady()
	w.expectExactlyAsRendered(pods, rendered)
	w.expectFenced(pods, asked)

	opened := time.Now()
	w.apply(render.FenceObjects(w.identity()))
	w.step(opened, "leads", func(g Gomega) { g.Expect(w.holder(g)).To(HavePrefix("ip-10-0-1-")) })
	w.step(opened, "initialized the new Node", w.expectInitialized)
	w.step(opened, "tainted the Node whose instance is stopped", func(g Gomega) {
		isShutDown := HaveField("Key", "node.cloudprovider.kubernetes.io/shutdown")
		g.Expect(w.node(g, stoppedNode).Spec.Taints).To(ContainElement(isShutDown))
	})
	w.step(opened, "deleted the Node whose instance is gone", func(g Gomega) {
		err := w.client.Get(w.ctx, client.ObjectKey{Name: goneNode}, &corev1.Node{})
		g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
	})
	w.step(opened, "routes to both Nodes", w.expectRoutes)
	w.step(opened, "serves the load balancer", func(g Gomega) { w.expectLoadBalancer(g, service) })
	w.step(opened, "changed nothing else", w.expectChanges)
	w.awaitReady()
	w.expectTheRightsItNeeds(rendered)
	w.countCalls()
}

// step waits for what happens after the fence was opened.
func (w *world) step(opened time.Time, what string, happens func(g Gomega)) {
	GinkgoHelper()
	Eventually(happens).WithContext(w.ctx).WithTimeout(patience).WithPolling(interval).
		Should(Succeed(), func() string { return what + "\n" + w.explain() })
	GinkgoWriter.Printf("%s after opening the fence the CCM: %s\n", time.Since(opened).Round(interval), what)
}

// startable are the objects with the one change that they need to run here: the kubelet of the testbed starts what an
// image of its own registry names. Arguments, environment, files and ports stay as they are, because its processes
// have the file system and the hostname of their pod.
func (w *world) startable(rendered manifest.Set) []*unstructured.Unstructured {
	GinkgoHelper()
	var objects []*unstructured.Unstructured
	for _, object := range rendered.Objects {
		objects = append(objects, object.DeepCopy())
	}
	Expect(manifest.ChangePods(objects, func(pod *corev1.PodTemplateSpec) {
		_, tag, _ := strings.Cut(pod.Spec.Containers[0].Image, ":")
		Expect(filepath.Join(w.binaries, tag, program)).To(BeAnExistingFile(),
			"test/kubernetes/aws builds another release than the catalogue has for 1.%d", versions.LastMinor)
		pod.Spec.Containers[0].Image = "registry.example/" + program + ":" + tag
	})).To(Succeed())
	return objects
}

// awaitReady waits for the Deployment: every flag was understood, and the health of both replicas is good.
func (w *world) awaitReady() []corev1.Pod {
	GinkgoHelper()
	pods := &corev1.PodList{}
	Eventually(func(g Gomega) {
		g.Expect(w.client.List(w.ctx, pods, client.InNamespace(metav1.NamespaceSystem))).To(Succeed())
		for _, pod := range pods.Items {
			g.Expect(pod.Status.ContainerStatuses).To(HaveEach(HaveField("RestartCount", BeZero())),
				func() string { return w.log(pod) })
		}
		deployment := &appsv1.Deployment{}
		key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: program}
		g.Expect(w.client.Get(w.ctx, key, deployment)).To(Succeed())
		g.Expect(deployment.Status.ReadyReplicas).To(Equal(ptr.Deref(deployment.Spec.Replicas, 1)))
		g.Expect(pods.Items).To(HaveLen(int(deployment.Status.ReadyReplicas)))
	}).WithContext(w.ctx).WithTimeout(patience).WithPolling(interval).Should(Succeed())
	return pods.Items
}

func (w *world) log(pod corev1.Pod) string {
	content, _ := os.ReadFile(w.kubelet.LogFile(pod.Namespace, pod.Name, program))
	return string(content)
}

// explain is what a person looks at first when something does not happen.
func (w *world) explain() string {
	var lines []string
	for _, call := range w.cloud.Calls() {
		lines = append(lines, strings.TrimSpace(call.Service+" "+call.Action+" "+call.Refusal))
	}
	logs, _ := filepath.Glob(filepath.Join(w.dir, "logs", cluster, "*"+program+".log"))
	for _, file := range logs {
		content, _ := os.ReadFile(filepath.Clean(file))
		lines = append(lines, file, string(content))
	}
	return strings.Join(lines, "\n")
}

// expectExactlyAsRendered asks the kernel what runs.
func (w *world) expectExactlyAsRendered(pods []corev1.Pod, rendered manifest.Set) {
	GinkgoHelper()
	var wanted []string
	Expect(manifest.ChangePods(rendered.Objects, func(pod *corev1.PodTemplateSpec) {
		wanted = pod.Spec.Containers[0].Args
	})).To(Succeed())
	Expect(wanted).To(ContainElement(HavePrefix("--cloud-config=/etc/kubernetes/")))
	for _, pod := range pods {
		content, err := os.ReadFile(filepath.Join(w.dir, "processes", cluster, pod.Name+"_"+program+".json"))
		Expect(err).NotTo(HaveOccurred())
		entry := kubelet.Entry{}
		Expect(json.Unmarshal(content, &entry)).To(Succeed())
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", entry.PID))
		Expect(err).NotTo(HaveOccurred())
		running := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		Expect(filepath.Base(running[0])).To(Equal(program))
		Expect(running[1:]).To(Equal(wanted))
		Expect(pod.Spec.ServiceAccountName).To(Equal(w.identity().ServiceAccountName))
	}
	GinkgoWriter.Printf("%d processes run with the %d arguments that were rendered: %s\n",
		len(pods), len(wanted), strings.Join(wanted, " "))
}

// expectFenced waits until each replica was refused its Lease more than once, and looks at what did not happen.
func (w *world) expectFenced(pods []corev1.Pod, asked []string) {
	GinkgoHelper()
	for _, pod := range pods {
		Eventually(func() int { return w.refusedLease(pod) }).WithContext(w.ctx).WithTimeout(patience).WithPolling(interval).
			Should(BeNumerically(">=", 5), func() string { return w.log(pod) })
	}
	w.awaitReady()
	err := w.client.Get(w.ctx, w.lease(), &coordinationv1.Lease{})
	Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
	node := w.node(NewGomega(Fail), newNode)
	Expect(node.Spec.ProviderID).To(BeEmpty())
	Expect(node.Spec.Taints).To(ContainElement(HaveField("Key", uninitialized)))
	var actions []string
	for _, call := range w.cloud.Calls() {
		actions = append(actions, call.Action)
	}
	slices.Sort(actions)
	Expect(slices.Compact(actions)).To(Equal(asked), "what AWS is asked for by those that do not lead")
}

func (w *world) node(g Gomega, name string) *corev1.Node {
	node := &corev1.Node{}
	g.Expect(w.client.Get(w.ctx, client.ObjectKey{Name: name}, node)).To(Succeed())
	return node
}

func (w *world) identity() manifest.Identity { return profile(NewGomega(Fail)).Identity() }

func (w *world) lease() client.ObjectKey {
	id := w.identity()
	return client.ObjectKey{Namespace: id.LeaseNamespace, Name: id.LeaseName}
}

func (w *world) holder(g Gomega) string {
	lease := &coordinationv1.Lease{}
	g.Expect(w.client.Get(w.ctx, w.lease(), lease)).To(Succeed())
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// expectInitialized looks for all that the CCM writes to a Node that has joined.
func (w *world) expectInitialized(g Gomega) {
	node := w.node(g, newNode)
	g.Expect(node.Spec.Taints).NotTo(ContainElement(HaveField("Key", uninitialized)))
	g.Expect(node.Spec.ProviderID).To(Equal("aws:///" + zone + "/" + newInstance))
	known := regexp.MustCompile(profile(g).Describe().ProviderID)
	g.Expect(known.MatchString(node.Spec.ProviderID)).To(BeTrue(), "the catalogue knows its form")
	g.Expect(node.Status.Addresses).To(ConsistOf(
		corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: "10.0.1.20"},
		corev1.NodeAddress{Type: corev1.NodeInternalDNS, Address: newNode},
		corev1.NodeAddress{Type: corev1.NodeHostName, Address: newNode},
	))
	for label, value := range map[string]string{
		corev1.LabelTopologyZone: zone, corev1.LabelTopologyRegion: region, corev1.LabelInstanceTypeStable: "m5.large",
		"topology.k8s.aws/zone-id": "euc1-az2",
	} {
		g.Expect(node.Labels).To(HaveKeyWithValue(label, value))
	}
}

func (w *world) expectRoutes(g Gomega) {
	for _, name := range []string{oldNode, newNode} {
		g.Expect(w.node(g, name).Status.Conditions).To(ContainElement(And(
			HaveField("Type", corev1.NodeNetworkUnavailable), HaveField("Status", corev1.ConditionFalse),
			HaveField("Reason", "RouteCreated"),
		)))
	}
}

// expectLoadBalancer is the in-tree provider's one, whose address the Service has now.
func (w *world) expectLoadBalancer(g Gomega, service *corev1.Service) {
	found := &corev1.Service{}
	g.Expect(w.client.Get(w.ctx, client.ObjectKeyFromObject(service), found)).To(Succeed())
	g.Expect(found.Status.LoadBalancer.Ingress).To(ConsistOf(HaveField("Hostname", HaveSuffix(".elb.example"))))
	g.Expect(found.Finalizers).To(ContainElement("service.kubernetes.io/load-balancer-cleanup"))
}

// expectChanges is what a new Node needs, and nothing made, closed or deleted. The CCM looks at a Service for itself and for
// its Nodes side by side: with Nodes that it listed before the new one, the one takes away what the other has just added.
// https://github.com/kubernetes/cloud-provider/blob/v0.36.4/controllers/service/controller.go#L245-L250
func (w *world) expectChanges(g Gomega) {
	var changes []string
	for _, call := range w.cloud.Calls() {
		g.Expect(call.Refusal).To(Or(BeEmpty(), Equal("InvalidInstanceID.NotFound")), "%s %s", call.Service, call.Action)
		if call.Changes == nil || call.Action == "ModifyLoadBalancerAttributes" {
			continue // The cloud accepts that one only if it changes nothing.
		}
		if call.Action != "DeregisterInstancesFromLoadBalancer" {
			changes = append(changes, call.Action)
		}
		g.Expect(call.Changes.Encode()).To(ContainSubstring(newInstance), "%s", call.Action)
	}
	slices.Sort(changes)
	g.Expect(slices.Compact(changes)).To(Equal([]string{
		"CreateRoute", "ModifyInstanceAttribute", "RegisterInstancesWithLoadBalancer",
	}))
}

// countCalls is for people.
func (w *world) countCalls() {
	GinkgoHelper()
	counts := map[string]int{}
	for _, call := range w.cloud.Calls() {
		counts[call.Service+" "+call.Action]++
	}
	GinkgoWriter.Printf("calls that AWS got, each signed with the key of the Secret: %v\n", counts)
}
