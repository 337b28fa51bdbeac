//go:build realprovider

package provider_test

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// How the CCM reads its arguments and its configuration, waits, and elects. Where a stand-in plays what it asks of its cloud, it
// initializes a Node, too.
var _ = DescribeTable("The CCM that others wrote starts with what is rendered for it, and waits behind the fence",
	func(ctx SpecContext, name string, play func(provider.Profile) standIn) {
		options, _ := suite.BedOptions("provider/" + name)
		b, err := bed.Start(ctx, options)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(SpecContext) { suite.ExpectStopped(b, b.Stop) }, NodeTimeout(suite.StartTime))
		u, err := b.AddUserCluster(bed.UserClusterOptions{Name: cluster, External: true, WithoutMachineController: true})
		Expect(err).NotTo(HaveOccurred())
		for _, node := range []string{"node-1", "node-2"} {
			Expect(u.AddNode(ctx, node, false)).To(Succeed())
		}
		profile, known := provider.New().Lookup(name)
		Expect(known).To(BeTrue())
		cloud := play(profile)
		Expect(u.Client.Create(ctx, uninitialized())).To(Succeed())
		apply(ctx, u.Client, startable(options.BinDir, rendered(profile, cloud.config), cloud.env))
		awaitFenced(ctx, b, u.Client)

		apply(ctx, u.Client, render.FenceObjects(profile.Identity()))
		awaitLeader(ctx, u.Client, profile.Identity())
		if cloud.providerID != "" {
			awaitInitialized(ctx, u.Client, profile, cloud)
		}
		for _, pod := range started(ctx, u.Client) {
			Expect(refusals(b, pod)).To(HaveEach(ContainSubstring("leases.coordination.k8s.io")), "what is rendered lacks no other right")
		}
	},
	Entry("vsphere", "vsphere", without, Label("vsphere"), NodeTimeout(suite.StoryTime)),
	Entry("azure", "azure", without, Label("azure"), NodeTimeout(suite.StoryTime)),
	Entry("hetzner", "hetzner", hetzner, Label("hetzner"), NodeTimeout(suite.StoryTime)),
	Entry("gcp", "gcp", gcp, Label("gcp"), NodeTimeout(suite.StoryTime)),
)

// taint of a Node that no CCM has looked at.
const taint = "node.cloudprovider.kubernetes.io/uninitialized"

func uninitialized() *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: joining}}
	node.Spec.Taints = []corev1.Taint{{Key: taint, Value: "true", Effect: corev1.TaintEffectNoSchedule}}
	return node
}

func awaitLeader(ctx SpecContext, user client.Client, identity manifest.Identity) {
	GinkgoHelper()
	lease := &coordinationv1.Lease{}
	Eventually(func(g Gomega) {
		key := client.ObjectKey{Namespace: identity.LeaseNamespace, Name: identity.LeaseName}
		g.Expect(user.Get(ctx, key, lease)).To(Succeed())
		// It shares the network of its Node, and so the name.
		g.Expect(ptr.Deref(lease.Spec.HolderIdentity, "")).To(HavePrefix("node-"))
	}).WithContext(ctx).WithTimeout(suite.Patience).WithPolling(suite.PollTime).Should(Succeed())
	GinkgoWriter.Println("leads:", *lease.Spec.HolderIdentity)
}

// awaitInitialized waits for what the catalogue says of Nodes of the provider.
func awaitInitialized(ctx SpecContext, user client.Client, profile provider.Profile, cloud standIn) {
	GinkgoHelper()
	Expect(cloud.providerID).To(MatchRegexp(profile.Describe().ProviderID))
	Eventually(func(g Gomega) {
		node := &corev1.Node{}
		g.Expect(user.Get(ctx, client.ObjectKey{Name: joining}, node)).To(Succeed())
		g.Expect(node.Spec.Taints).NotTo(ContainElement(HaveField("Key", taint)))
		g.Expect(node.Spec.ProviderID).To(Equal(cloud.providerID))
		g.Expect(node.Labels).To(And(HaveKeyWithValue(corev1.LabelTopologyZone, cloud.zone),
			HaveKeyWithValue(corev1.LabelTopologyRegion, cloud.region)))
		g.Expect(node.Status.Addresses).To(ContainElement(HaveField("Address", address)))
	}).WithContext(ctx).WithTimeout(suite.Patience).WithPolling(suite.PollTime).Should(Succeed())
}

func rendered(profile provider.Profile, config map[string][]byte) manifest.Set {
	GinkgoHelper()
	addons, err := profile.Render(manifest.RenderInput{
		Version: bed.KubernetesVersion,
		Inherited: ucv1.InheritedConfiguration{
			ClusterName: "kubernetes", ClusterCIDR: "10.244.0.0/16", AllocateNodeCIDRs: true,
			Loops: []string{observation.CloudNodeLifecycleLoop, observation.ServiceLoop},
		},
		CloudConfig: config, ClusterUID: "6f4cbf1e-0a2f-4b7e-9d0c-1c0d2f3a4b5c",
	})
	Expect(err).NotTo(HaveOccurred())
	return addons.CCM
}

// startable are the objects with the changes that they need to run here: the kubelet of the testbed starts what an image of its
// own registry names, and the cloud is on this machine. Arguments and files stay as they are.
func startable(programs string, set manifest.Set, env []corev1.EnvVar) []*unstructured.Unstructured {
	GinkgoHelper()
	var objects []*unstructured.Unstructured
	for _, object := range set.Objects {
		objects = append(objects, object.DeepCopy())
	}
	Expect(manifest.ChangePods(objects, func(pod *corev1.PodTemplateSpec) {
		container := &pod.Spec.Containers[0]
		image, tag, _ := strings.Cut(container.Image, ":")
		name := path.Base(image)
		if len(container.Command) > 0 {
			name = path.Base(container.Command[0])
		}
		if _, err := os.Stat(filepath.Join(programs, tag, name)); err == nil {
			container.Image = ours + name + ":" + tag
			container.Env = append(container.Env, env...)
			GinkgoWriter.Println("starts:", name, tag, container.Args)
		}
	})).To(Succeed())
	return objects
}

func apply(ctx SpecContext, user client.Client, objects []*unstructured.Unstructured) {
	GinkgoHelper()
	for _, object := range objects {
		configuration := client.ApplyConfigurationFromUnstructured(object.DeepCopy())
		Expect(user.Apply(ctx, configuration, client.FieldOwner(ucv1.FieldManager))).To(Succeed(), "%s %s", object.GetKind(), object.GetName())
	}
}

// awaitFenced waits until each replica was refused its Lease more than once, and has not ended.
func awaitFenced(ctx SpecContext, b *bed.Bed, user client.Client) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		pods := started(ctx, user)
		g.Expect(pods).To(HaveLen(2))
		for _, pod := range pods {
			g.Expect(pod.Status.ContainerStatuses).To(HaveEach(HaveField("RestartCount", BeZero())), logOf(b, pod))
			g.Expect(len(refusals(b, pod))).To(BeNumerically(">=", 3), logOf(b, pod))
		}
	}).WithContext(ctx).WithTimeout(suite.Patience).WithPolling(suite.PollTime).Should(Succeed())
}

// ours is the registry whose images the testbed's kubelet starts.
const ours = "registry.example/"

func started(ctx SpecContext, user client.Client) []corev1.Pod {
	GinkgoHelper()
	pods := &corev1.PodList{}
	Expect(user.List(ctx, pods, client.InNamespace(metav1.NamespaceSystem))).To(Succeed())
	return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !strings.HasPrefix(pod.Spec.Containers[0].Image, ours) })
}

func logOf(b *bed.Bed, pod corev1.Pod) string {
	log, _ := os.ReadFile(b.Kubelet(cluster).LogFile(pod.Namespace, pod.Name, pod.Spec.Containers[0].Name))
	return string(log)
}

// refusals are the lines of a log with what the API server did not allow.
func refusals(b *bed.Bed, pod corev1.Pod) []string {
	return slices.DeleteFunc(strings.Split(logOf(b, pod), "\n"), func(line string) bool { return !strings.Contains(line, "forbidden") })
}
