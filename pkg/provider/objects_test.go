package provider_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func rendered(g Gomega, name string, profile provider.Profile, minor int) manifest.Addons {
	addons, err := profile.Render(input(name, minor))
	g.Expect(err).NotTo(HaveOccurred())
	return addons
}

func podOf(g Gomega, object *unstructured.Unstructured) *corev1.PodTemplateSpec {
	switch object.GetKind() {
	case "Deployment":
		workload := &appsv1.Deployment{}
		decode(g, object, workload)
		return &workload.Spec.Template
	case "DaemonSet":
		workload := &appsv1.DaemonSet{}
		decode(g, object, workload)
		return &workload.Spec.Template
	}
	return nil
}

func ccmOf(g Gomega, objects []*unstructured.Unstructured) *appsv1.Deployment {
	index := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Deployment" })
	g.Expect(index).To(BeNumerically(">=", 0))
	deployment := &appsv1.Deployment{}
	decode(g, objects[index], deployment)
	return deployment
}

func TestEveryObjectIsKnownToKubernetesAndLabelled(t *testing.T) {
	known := runtime.NewScheme()
	NewWithT(t).Expect(errors.Join(scheme.AddToScheme(known), apiextensionsv1.AddToScheme(known))).To(Succeed())
	forEach(t, func(g Gomega, name string, profile provider.Profile, minor int) {
		addons := rendered(g, name, profile, minor)
		seen := map[string]bool{}
		for part, set := range map[string]manifest.Set{"ccm": addons.CCM, "csi": addons.CSI} {
			// Not every project has versions that follow those of Kubernetes.
			// Nor has every one a single driver.
			g.Expect(set.Version).To(MatchRegexp(`^([a-z]+ )?v[0-9]+\.[0-9]+\.[0-9]+`))
			for _, object := range set.Objects {
				typed, err := known.New(object.GroupVersionKind())
				g.Expect(err).NotTo(HaveOccurred())
				decode(g, object, typed)
				g.Expect(object.GetLabels()).To(And(
					HaveKeyWithValue("app.kubernetes.io/managed-by", "ccm-migration-controller"),
					HaveKeyWithValue("app.kubernetes.io/part-of", name+"-"+part)))
				key := object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
				g.Expect(seen).NotTo(HaveKey(key), "an object is of one set only")
				seen[key] = true
			}
		}
	})
}

func TestWorkloadsAndDriver(t *testing.T) {
	g := NewWithT(t)
	openstack, _ := builtIn().Lookup("openstack")
	addons := rendered(g, "openstack", openstack, 36)
	g.Expect(addons.CCM.Driver).To(BeEmpty())
	g.Expect(addons.CCM.Workloads).To(Equal([]observation.Ref{
		{Kind: "Deployment", Namespace: "kube-system", Name: "openstack-cloud-controller-manager"},
	}))
	g.Expect(addons.CSI.Driver).To(Equal("cinder.csi.openstack.org"))
	g.Expect(addons.CSI.Workloads).To(Equal([]observation.Ref{
		{Kind: "Deployment", Namespace: "kube-system", Name: "openstack-cinder-csi-controller"},
		{Kind: "DaemonSet", Namespace: "kube-system", Name: "openstack-cinder-csi-node"},
		{Kind: "Deployment", Namespace: "kube-system", Name: "snapshot-controller"},
	}))
}

func TestTheDriverIsTheOneThatNodesHaveToRegister(t *testing.T) {
	forEach(t, func(g Gomega, name string, profile provider.Profile, minor int) {
		facts := profile.Facts(fmt.Sprintf("1.%d.0", minor))
		csi := rendered(g, name, profile, minor).CSI
		g.Expect(facts.CSIDrivers).To(Equal(append([]string{csi.Driver}, csi.MoreDrivers...)))
	})
}

func TestCCMRunsAsItsIdentityAndIsElected(t *testing.T) {
	forEach(t, func(g Gomega, name string, profile provider.Profile, minor int) {
		ccm := ccmOf(g, rendered(g, name, profile, minor).CCM.Objects)
		id := profile.Identity()
		g.Expect(ccm.Namespace).To(Equal(id.ServiceAccountNamespace))
		g.Expect(ccm.Spec.Template.Spec.ServiceAccountName).To(Equal(id.ServiceAccountName))
		g.Expect(ccm.Spec.Template.Spec.Containers).To(HaveLen(1))
		g.Expect(ccm.Spec.Template.Spec.Containers[0].Args).To(ContainElements(
			"--cloud-provider="+flagOf(name), "--leader-elect=true", "--use-service-account-credentials=false",
			"--leader-elect-resource-name="+id.LeaseName, "--leader-elect-resource-namespace="+id.LeaseNamespace,
		))
	})
}

func TestCCMStartsWhereNothingElseDoes(t *testing.T) {
	taints := []corev1.Taint{
		{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: corev1.TaintEffectNoSchedule},
		{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule},
		{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoSchedule},
		{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoExecute},
		{Key: "node.kubernetes.io/network-unavailable", Effect: corev1.TaintEffectNoSchedule},
	}
	forEach(t, func(g Gomega, name string, profile provider.Profile, minor int) {
		spec := ccmOf(g, rendered(g, name, profile, minor).CCM.Objects).Spec
		pod := spec.Template.Spec
		for _, taint := range taints {
			g.Expect(slices.ContainsFunc(pod.Tolerations, func(t corev1.Toleration) bool {
				return t.Key == taint.Key && t.Operator == corev1.TolerationOpExists && t.TolerationSeconds == nil &&
					(t.Effect == "" || t.Effect == taint.Effect)
			})).To(BeTrue(), taint.ToString())
		}
		g.Expect(pod.NodeSelector).To(Equal(map[string]string{"kubernetes.io/os": "linux"}), "a hosted control plane has no Nodes "+
			"of its own")
		g.Expect(pod.Affinity.NodeAffinity).To(BeNil())
		g.Expect(pod.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution).To(BeEmpty())
		g.Expect(*spec.Strategy.RollingUpdate.MaxUnavailable).To(Equal(intstr.FromInt32(1)))
		g.Expect(*spec.Strategy.RollingUpdate.MaxSurge).To(Equal(intstr.FromInt32(0)))
		g.Expect(pod.PriorityClassName).To(Equal("system-cluster-critical"))
		if pod.HostNetwork {
			g.Expect(pod.DNSPolicy).To(Equal(corev1.DNSDefault))
			g.Expect(pod.Containers[0].Ports).To(BeEmpty(), "a port of the host keeps two replicas off one Node")
			g.Expect(pod.Containers[0].Args).To(ContainElement("--permit-port-sharing=true"))
			g.Expect(pod.Containers[0].Args).NotTo(ContainElement(ContainSubstring("POD_IP")))
		}
	})
}

func TestHostNetwork(t *testing.T) {
	tests := map[string]struct {
		minor int
		want  bool
	}{"hetzner": {36, true}, "openstack": {36, true}, "simcloud": {30, false}}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			profile, _ := builtIn().Lookup(name)
			ccm := ccmOf(g, rendered(g, name, profile, test.minor).CCM.Objects)
			g.Expect(ccm.Spec.Template.Spec.HostNetwork).To(Equal(test.want))
		})
	}
}

func TestPodsAreWellBehaved(t *testing.T) {
	forEach(t, func(g Gomega, name string, profile provider.Profile, minor int) {
		addons := rendered(g, name, profile, minor)
		for _, object := range append(slices.Clone(addons.CCM.Objects), addons.CSI.Objects...) {
			pod := podOf(g, object)
			if pod == nil {
				continue
			}
			g.Expect(pod.Spec.PriorityClassName).To(HavePrefix("system-"))
			g.Expect(pod.Spec.SecurityContext.SeccompProfile.Type).To(Equal(corev1.SeccompProfileTypeRuntimeDefault))
			for _, container := range pod.Spec.Containers {
				g.Expect(container.Resources.Requests).To(And(HaveKey(corev1.ResourceCPU), HaveKey(corev1.ResourceMemory)))
				g.Expect(container.SecurityContext).NotTo(BeNil())
				g.Expect(container.Image).To(MatchRegexp(`^[^:]+:v[0-9.]+$`))
			}
		}
		ccm := ccmOf(g, addons.CCM.Objects).Spec.Template.Spec
		g.Expect(*ccm.SecurityContext.RunAsNonRoot).To(BeTrue())
		g.Expect(*ccm.Containers[0].SecurityContext.ReadOnlyRootFilesystem).To(BeTrue())
		for _, probe := range []*corev1.Probe{ccm.Containers[0].ReadinessProbe, ccm.Containers[0].LivenessProbe} {
			g.Expect(probe.HTTPGet.Path).To(Equal("/healthz"))
			g.Expect(probe.HTTPGet.Port.IntValue()).To(Equal(10258))
		}
	})
}

func TestCloudConfigStaysInSecretsAndRollsThePods(t *testing.T) {
	forEach(t, func(g Gomega, name string, profile provider.Profile, minor int) {
		in := input(name, minor)
		before := rendered(g, name, profile, minor)
		for key, value := range in.CloudConfig {
			in.CloudConfig[key] = []byte(strings.ReplaceAll(string(value), secretValue, "another"))
		}
		after, err := profile.Render(in)
		g.Expect(err).NotTo(HaveOccurred())
		changed := map[string]bool{}
		for i, object := range before.CCM.Objects {
			text := fmt.Sprint(object.Object)
			if object.GetKind() != "Secret" {
				g.Expect(text).NotTo(ContainSubstring(secretValue))
			}
			if text != fmt.Sprint(after.CCM.Objects[i].Object) {
				changed[object.GetKind()] = true
			}
		}
		g.Expect(changed).To(Equal(map[string]bool{"Secret": true, "Deployment": true}))
	})
}

func TestRenderingTwiceGivesTheSame(t *testing.T) {
	forEach(t, func(g Gomega, name string, profile provider.Profile, minor int) {
		g.Expect(rendered(g, name, profile, minor)).To(Equal(rendered(g, name, profile, minor)))
	})
}
