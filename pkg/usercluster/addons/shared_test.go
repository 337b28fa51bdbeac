package addons

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// renderSnapshots is a CSI driver with snapshots, and what a cluster has once for them.
func renderSnapshots(t *testing.T) (set manifest.Set, shared []*unstructured.Unstructured) {
	t.Helper()
	g := NewWithT(t)
	profile, _ := provider.New().Lookup("openstack")
	addons, err := profile.Render(manifest.RenderInput{
		Version: "1.30.14", Inherited: ucv1.InheritedConfiguration{ClusterName: "a"}, ClusterUID: "a", CloudConfig: profile.Example(),
	})
	g.Expect(err).NotTo(HaveOccurred())
	for _, object := range addons.CSI.Objects {
		if manifest.Shared(object) {
			shared = append(shared, object)
		}
	}
	g.Expect(shared).To(HaveLen(10))
	return addons.CSI, shared
}

func controllerElsewhere(image string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "snapshots", Name: "it"}, Spec: appsv1.DeploymentSpec{
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: image}}}},
	}}
}

func TestWhatAClusterHasOnce(t *testing.T) {
	set, shared := renderSnapshots(t)
	all := len(shared)
	labelled := func(by string, wanted ...string) []client.Object {
		var objects []client.Object
		for _, object := range shared {
			if len(wanted) == 0 || slices.Contains(wanted, object.GetKind()) {
				object = object.DeepCopy()
				object.SetLabels(map[string]string{manifest.ManagedByLabel: by})
				objects = append(objects, object)
			}
		}
		return objects
	}
	for name, tc := range map[string]struct {
		objects   []client.Object
		inventory []InventoryEntry
		// want is how many of the shared objects are ours or may become it.
		want int
	}{
		"is wanted where there is nothing of it":                        {want: all},
		"is ours where we applied it":                                   {labelled(manifest.ManagedBy), InventoryOf(shared), all},
		"is someone else's where we did not":                            {labelled(manifest.ManagedBy), nil, 0},
		"is someone else's who labelled it as theirs":                   {labelled("Helm"), InventoryOf(shared), 0},
		"gets no controller of ours beside definitions of someone else": {labelled("Helm", "CustomResourceDefinition"), nil, 0},
		"has no controller of ours beside another ServiceAccount":       {labelled("Helm", "ServiceAccount"), nil, 3},
		"has no controller of ours beside another one":                  {[]client.Object{controllerElsewhere("registry.example.com:5000/snapshot-controller:v8.4.0@sha256:" + strings.Repeat("0", 64))}, nil, 3},
		"has no controller of ours beside one from a mirror":            {[]client.Object{controllerElsewhere("mirror/mirrored-sig-storage-snapshot-controller:v6")}, nil, 3},
		"has a controller beside programs with other names":             {[]client.Object{controllerElsewhere("registry.example.com/snapshot-controller/proxy:v1")}, nil, all},
		"keeps what is ours beside what is someone else's":              {labelled(manifest.ManagedBy, "Deployment"), InventoryOf(shared), all},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, _ := installerWith(interceptor.Funcs{}, tc.objects...)
			mine, err := s.WithoutForeign(t.Context(), tc.inventory, set)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(set.Objects).To(HaveLen(len(mine.Objects)+all-tc.want), "what is no shared object stays")
			workload := observation.Ref{Kind: "Deployment", Namespace: "kube-system", Name: "snapshot-controller"}
			g.Expect(slices.Contains(mine.Workloads, workload)).To(Equal(tc.want == all))
		})
	}
}

// What is someone else's does not stand in the way, is not compared, and its health is not ours.
func TestWhatAClusterHasFromSomeoneElseIsNotObserved(t *testing.T) {
	g := NewWithT(t)
	set, shared := renderSnapshots(t)
	var objects []client.Object
	for _, object := range shared {
		object = object.DeepCopy()
		object.SetLabels(nil)
		objects = append(objects, object)
	}
	s, _ := installerWith(interceptor.Funcs{}, append(objects, node("a")...)...)
	observed, err := s.observeSet(t.Context(), outcome.CSISet, nil, set)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(observed.Foreign).To(BeEmpty())
	g.Expect(observed.Unhealthy).To(BeEmpty())
	g.Expect(observed.Drifted).To(HaveLen(len(set.Objects) - len(shared)))
}

func TestWhatAClusterHasOnceIsNeverDeleted(t *testing.T) {
	g := NewWithT(t)
	set, shared := renderSnapshots(t)
	set.Withdrawn = true
	for _, object := range shared {
		g.Expect(set.Wanted()).To(ContainElement(object))
	}
	var objects []client.Object
	for _, object := range shared {
		objects = append(objects, object.DeepCopy())
	}
	s, _ := installerWith(interceptor.Funcs{}, objects...)
	g.Expect(s.Prune(t.Context(), InventoryOf(shared))).To(Succeed())
	for _, object := range shared {
		_, err := s.get(t.Context(), object)
		g.Expect(err).NotTo(HaveOccurred(), object.GetKind())
	}
}
