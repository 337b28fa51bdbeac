package provider_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
)

func place(cluster string) render.Place {
	return render.Place{Namespace: "user-a", Cluster: cluster, Kubeconfig: []byte("kubeconfig of " + cluster)}
}

// put is the CCM, with the lock, and its probe beside the control plane.
func put(g Gomega, profile provider.Profile, addons manifest.Addons, cluster string) (ccm, probe manifest.Set) {
	made, err := render.Probe(addons.CCM, profile.Identity())
	g.Expect(err).NotTo(HaveOccurred())
	lock, problems := handover.RenderLock(&ucv1.Cluster{Spec: ucv1.ClusterSpec{Version: "1.25.16"}}, "openstack")
	g.Expect(problems).To(BeEmpty())
	locked, err := render.WithLock(addons.CCM, profile.Identity(), lock)
	g.Expect(err).NotTo(HaveOccurred())
	ccm, err = place(cluster).Put(locked)
	g.Expect(err).NotTo(HaveOccurred())
	probe, err = place(cluster).Put(made)
	g.Expect(err).NotTo(HaveOccurred())
	return ccm, probe
}

// beside are the objects of a set in the management cluster, by kind and name.
func beside(set manifest.Set) map[string]*unstructured.Unstructured {
	found := map[string]*unstructured.Unstructured{}
	for _, object := range set.Objects {
		if manifest.BesideControlPlane(object) {
			found[object.GetKind()+" "+object.GetName()] = object
		}
	}
	return found
}

func TestEveryCCMCanBeBesideTheControlPlane(t *testing.T) {
	forEach(t, func(g Gomega, name string, profile provider.Profile, minor int) {
		ccm, probe := put(g, profile, rendered(g, name, profile, minor), "alpha")
		shared := beside(ccm)
		for _, set := range []manifest.Set{ccm, probe} {
			objects := beside(set)
			for _, object := range set.Objects {
				if !manifest.BesideControlPlane(object) {
					g.Expect(object.GetKind()).To(
						BeElementOf("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Lease"),
						"%s %s: credentials and pods stay out of the user cluster",
						object.GetKind(),
						object.GetName(),
					)
					continue
				}
				g.Expect(object.GetNamespace()).To(Equal("user-a"))
				g.Expect(object.GetName()).To(And(HavePrefix("alpha-"), Not(BeElementOf("alpha-cloud-config", "alpha-kubeconfig"))),
					"those names are the Cluster's own")
				g.Expect(object.GetLabels()).To(HaveKeyWithValue("app.kubernetes.io/managed-by", "ccm-migration-controller"))
			}
			expectPodBeside(g, set, func(kind, name string) bool {
				return objects[kind+" "+name] != nil || shared[kind+" "+name] != nil
			})
		}
		g.Expect(probe.Access.Account.Name).To(Equal(render.ProbeIdentity(profile.Identity()).ServiceAccountName))
		g.Expect(ccm.Access.Account.Name).To(Equal(profile.Identity().ServiceAccountName))
		g.Expect(probe.Access.Secret).NotTo(Equal(ccm.Access.Secret))
		g.Expect(slices.ContainsFunc(ccm.Objects, func(object *unstructured.Unstructured) bool {
			return object.GetKind() == "ServiceAccount" && object.GetNamespace() == ccm.Access.Account.Namespace &&
				object.GetName() == ccm.Access.Account.Name
		})).To(BeTrue(), "the token is one of its own ServiceAccount")
	})
}

func expectPodBeside(g Gomega, set manifest.Set, exists func(kind, name string) bool) {
	deployment := ccmOf(g, set.Objects)
	template := deployment.Spec.Template
	pod := template.Spec
	g.Expect(labels.SelectorFromSet(deployment.Spec.Selector.MatchLabels).Matches(labels.Set(template.Labels))).To(BeTrue())
	g.Expect(pod.HostNetwork).To(BeFalse())
	g.Expect(*pod.AutomountServiceAccountToken).To(BeFalse(), "a token of the management cluster is none of its business")
	g.Expect(pod.ServiceAccountName).To(BeEmpty())
	g.Expect(pod.PriorityClassName).To(BeEmpty())
	g.Expect(pod.Tolerations).To(BeEmpty())
	mounted := map[string]bool{}
	for _, volume := range pod.Volumes {
		mounted[volume.Name] = true
		switch {
		case volume.Secret != nil:
			g.Expect(exists("Secret", volume.Secret.SecretName)).To(BeTrue(), volume.Secret.SecretName)
		case volume.ConfigMap != nil:
			g.Expect(exists("ConfigMap", volume.ConfigMap.Name)).To(BeTrue(), volume.ConfigMap.Name)
		}
	}
	container := pod.Containers[len(pod.Containers)-1]
	for _, mount := range container.VolumeMounts {
		g.Expect(mounted).To(HaveKey(mount.Name))
	}
	for _, variable := range container.Env {
		if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil {
			g.Expect(exists("Secret", variable.ValueFrom.SecretKeyRef.Name)).To(BeTrue(), variable.Name)
		}
	}
	for _, flag := range []string{"--kubeconfig", "--authentication-kubeconfig", "--authorization-kubeconfig"} {
		g.Expect(container.Args).To(ContainElement(flag + "=/etc/user-cluster/kubeconfig"))
	}
	g.Expect(container.LivenessProbe.HTTPGet.Host).To(BeEmpty(), "it is asked at its own address")
}

func TestClustersOfOneNamespaceAreKeptApart(t *testing.T) {
	g := NewWithT(t)
	openstack, _ := builtIn().Lookup("openstack")
	addons := rendered(g, "openstack", openstack, 30)
	one, _ := put(g, openstack, addons, "alpha")
	other, _ := put(g, openstack, addons, "beta")
	for name := range beside(one) {
		g.Expect(beside(other)).NotTo(HaveKey(name))
	}
	selects := func(set manifest.Set) labels.Selector {
		return labels.SelectorFromSet(ccmOf(g, set.Objects).Spec.Selector.MatchLabels)
	}
	pods := labels.Set(ccmOf(g, other.Objects).Spec.Template.Labels)
	g.Expect(selects(one).Matches(pods)).To(BeFalse())
	g.Expect(selects(other).Matches(pods)).To(BeTrue())
	budget := &policyv1.PodDisruptionBudget{}
	decode(g, beside(one)["PodDisruptionBudget alpha-openstack-cloud-controller-manager"], budget)
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(selector.Matches(pods)).To(BeFalse())
	g.Expect(selector.Matches(labels.Set(ccmOf(g, one.Objects).Spec.Template.Labels))).To(BeTrue())

	long, _ := put(g, openstack, addons, strings.Repeat("a.", 70)+"a")
	g.Expect(ccmOf(g, long.Objects).Spec.Selector.MatchLabels["ccm-migration.k8c.io/cluster"]).To(And(
		HaveLen(63), MatchRegexp(`^[a-z0-9.-]*[a-z0-9]$`)))
}

func TestPodsBesideFollowTheWayIntoTheUserCluster(t *testing.T) {
	g := NewWithT(t)
	openstack, _ := builtIn().Lookup("openstack")
	addons := rendered(g, "openstack", openstack, 30)
	moved := place("alpha")
	moved.Kubeconfig = []byte("another server")
	before, err := place("alpha").Put(addons.CCM)
	g.Expect(err).NotTo(HaveOccurred())
	after, err := moved.Put(addons.CCM)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(ccmOf(g, after.Objects).Spec.Template).NotTo(Equal(ccmOf(g, before.Objects).Spec.Template))
	again, err := place("alpha").Put(addons.CCM)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(before), "the same gives the same")
}

func TestAProfileIsKeptBesideTheControlPlane(t *testing.T) {
	g := NewWithT(t)
	catalogue := builtIn()
	openstack, _ := catalogue.Lookup("openstack")
	spec := profileWith(func(spec *ucv1.ProviderProfileSpec) {
		spec.Workloads = []ucv1.WorkloadOverride{{
			Name: "openstack-cloud-controller-manager", PriorityClassName: "control-plane",
			Tolerations: []ucv1.Toleration{{Key: "example.com/control-planes", Operator: ucv1.TolerationExists}},
		}}
	})
	addons, problems := catalogue.Overlay(rendered(g, "openstack", openstack, 30), spec, "1.30.0")
	g.Expect(problems).To(BeEmpty())
	set, err := place("alpha").Put(addons.CCM)
	g.Expect(err).NotTo(HaveOccurred())
	pod := ccmOf(g, set.Objects).Spec.Template.Spec
	g.Expect(pod.PriorityClassName).To(Equal("control-plane"))
	g.Expect(pod.Tolerations).To(
		ConsistOf(corev1.Toleration{Key: "example.com/control-planes", Operator: corev1.TolerationOpExists}),
	)
}
