//go:build realprovider

package provider_test

import (
	"os"
	"path"
	"path/filepath"
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

// These providers have no stand-in of their cloud: what runs without one is shown, which is how the CCM reads its arguments and
// its configuration, and how it elects. Those of gcp (its zones) and hetzner (its locations) ask their cloud before that, and end.
var _ = DescribeTable("The CCM that others wrote starts with what is rendered for it, and waits behind the fence",
	func(ctx SpecContext, name string) {
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
		apply(ctx, u.Client, startable(options.BinDir, rendered(profile)))
		awaitFenced(ctx, b, u.Client)

		apply(ctx, u.Client, render.FenceObjects(profile.Identity()))
		lease := &coordinationv1.Lease{}
		identity := profile.Identity()
		Eventually(func(g Gomega) {
			key := client.ObjectKey{Namespace: identity.LeaseNamespace, Name: identity.LeaseName}
			g.Expect(u.Client.Get(ctx, key, lease)).To(Succeed())
			// It shares the network of its Node, and so the name.
			g.Expect(ptr.Deref(lease.Spec.HolderIdentity, "")).To(HavePrefix("node-"))
		}).WithContext(ctx).WithTimeout(suite.Patience).WithPolling(suite.PollTime).Should(Succeed())
		GinkgoWriter.Println("leads:", *lease.Spec.HolderIdentity)
	},
	Entry("vsphere", "vsphere", Label("vsphere"), NodeTimeout(suite.StoryTime)),
	Entry("azure", "azure", Label("azure"), NodeTimeout(suite.StoryTime)),
)

// rendered is the CCM with the configuration that the catalogue has as its example.
func rendered(profile provider.Profile) manifest.Set {
	GinkgoHelper()
	addons, err := profile.Render(manifest.RenderInput{
		Version: bed.KubernetesVersion,
		Inherited: ucv1.InheritedConfiguration{
			ClusterName: "kubernetes", ClusterCIDR: "10.244.0.0/16", AllocateNodeCIDRs: true,
			Loops: []string{observation.CloudNodeLifecycleLoop, observation.ServiceLoop},
		},
		CloudConfig: profile.Example(), ClusterUID: "6f4cbf1e-0a2f-4b7e-9d0c-1c0d2f3a4b5c",
	})
	Expect(err).NotTo(HaveOccurred())
	return addons.CCM
}

// startable are the objects with the one change that they need to run here: the kubelet of the testbed starts what an image of its
// own registry names. Arguments, environment and files stay as they are.
func startable(programs string, set manifest.Set) []*unstructured.Unstructured {
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
			container.Image = "registry.example/" + name + ":" + tag
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
		pods := &corev1.PodList{}
		g.Expect(user.List(ctx, pods, client.InNamespace(metav1.NamespaceSystem))).To(Succeed())
		var ours []corev1.Pod
		for _, pod := range pods.Items {
			if !strings.HasPrefix(pod.Spec.Containers[0].Image, "registry.example/") {
				continue
			}
			ours = append(ours, pod)
			log, _ := os.ReadFile(b.Kubelet(cluster).LogFile(pod.Namespace, pod.Name, pod.Spec.Containers[0].Name))
			g.Expect(pod.Status.ContainerStatuses).To(HaveEach(HaveField("RestartCount", BeZero())), "%s", log)
			g.Expect(strings.Count(string(log), "error retrieving resource lock")).To(BeNumerically(">=", 3), "%s", log)
		}
		g.Expect(ours).To(HaveLen(2))
	}).WithContext(ctx).WithTimeout(suite.Patience).WithPolling(suite.PollTime).Should(Succeed())
}
