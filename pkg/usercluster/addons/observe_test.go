package addons

import (
	"context"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/simcloud"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

func renderSimcloud(t *testing.T) manifest.Addons {
	addons, err := simcloud.Profile{}.Render(manifest.RenderInput{
		Version: "1.30.14", Inherited: ucv1.InheritedConfiguration{ClusterName: "a"}, ClusterUID: "a",
		CloudConfig: map[string][]byte{"endpoint": []byte("http://192.0.2.1"), "cluster": []byte("a"), "token": []byte(secretToken)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return addons
}

// dryRuns gives the fake client what it lacks, server-side apply as a dry run, and counts them.
func dryRuns(count *atomic.Int32) interceptor.Funcs {
	return interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			options := (&client.PatchOptions{}).ApplyOptions(opts)
			if len(options.DryRun) == 0 {
				return c.Patch(ctx, obj, patch, opts...)
			}
			count.Add(1)
			builder := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithReturnManagedFields()
			live := &unstructured.Unstructured{}
			live.SetGroupVersionKind(obj.GetObjectKind().GroupVersionKind())
			if err := c.Get(ctx, client.ObjectKeyFromObject(obj), live); err == nil {
				builder = builder.WithObjects(live)
			}
			return builder.Build().Patch(ctx, obj, patch, client.ForceOwnership, client.FieldOwner(options.FieldManager))
		},
	}
}

func refs(objects []*unstructured.Unstructured) []observation.Ref {
	var result []observation.Ref
	for _, object := range objects {
		result = append(result, reads.RefOf(object))
	}
	return result
}

// applied is an installer with a user cluster to which both sets are applied, and the inventory of that.
func applied(
	t *testing.T,
	count *atomic.Int32,
	objects ...client.Object,
) (*Installer, *clocktesting.FakeClock, manifest.Addons, []InventoryEntry) {
	g := NewWithT(t)
	s, clk := installerWith(dryRuns(count), objects...)
	addons := renderSimcloud(t)
	g.Expect(s.Apply(t.Context(), addons.CCM)).To(Succeed())
	g.Expect(s.Apply(t.Context(), addons.CSI)).To(Succeed())
	return s, clk, addons, Merge(InventoryOf(addons.CCM.Objects), InventoryOf(addons.CSI.Objects))
}

func TestAddonsOfAnEmptyClusterAreMissing(t *testing.T) {
	g := NewWithT(t)
	s, _ := installerWith(interceptor.Funcs{})
	addons := renderSimcloud(t)
	observed, known := s.Observe(t.Context(), nil, addons).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(observed.CCM).To(Equal(observation.AddonSet{Version: addons.CCM.Version, Drifted: refs(addons.CCM.Objects)}))
	g.Expect(observed.CSI).To(Equal(observation.AddonSet{Version: addons.CSI.Version, Drifted: refs(addons.CSI.Objects)}))
}

func TestAddonsThatWereAppliedAreComparedRarely(t *testing.T) {
	g := NewWithT(t)
	var count atomic.Int32
	s, clk, addons, inventory := applied(t, &count)
	look := func() (observation.Addons, int32) {
		before := count.Load()
		observed, known := s.Observe(t.Context(), inventory, addons).Get()
		g.Expect(known).To(BeTrue())
		return observed, count.Load() - before
	}
	all := int32(len(inventory))

	observed, runs := look()
	g.Expect(runs).To(Equal(all))
	g.Expect(observed.CCM.Drifted).To(BeEmpty())
	g.Expect(observed.CSI.Foreign).To(BeEmpty())
	g.Expect(observed.InventoryObjects).To(Equal(len(inventory)))

	_, runs = look()
	g.Expect(runs).To(BeZero(), "nothing changed")

	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cloud-controller-manager"}}
	g.Expect(s.client.Delete(t.Context(), account)).To(Succeed())
	clk.Step(2 * compareInterval)
	observed, _ = look()
	g.Expect(observed.CCM.Drifted).To(ConsistOf(HaveField("Kind", "ServiceAccount")))
	_, runs = look()
	g.Expect(runs).To(BeNumerically(">", 0), "what was found is looked at again")

	g.Expect(s.Apply(t.Context(), addons.CCM)).To(Succeed())
	observed, runs = look()
	g.Expect(observed.CCM.Drifted).To(BeEmpty())
	g.Expect(runs).To(BeEquivalentTo(len(addons.CCM.Objects)), "the other set is as it was")

	addons.CCM.Objects[0].SetAnnotations(map[string]string{"new": "version"})
	observed, _ = look()
	g.Expect(observed.CCM.Drifted).To(Equal(refs(addons.CCM.Objects[:1])), "another digest")
}

func TestAddonsThatSomeoneChangesAreDrifted(t *testing.T) {
	g := NewWithT(t)
	var count atomic.Int32
	s, _, addons, inventory := applied(t, &count)
	g.Expect(s.Observe(t.Context(), inventory, addons).Value().CCM.Drifted).To(BeEmpty())

	store := &watches.SpecStore{Changed: s.memory.changed, Wake: func() {}, AtRest: func() bool { return false }}
	g.Expect(store.Replace(nil, "1")).To(Succeed())
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: "kube-system", Name: "cloud-controller-manager"}
	g.Expect(s.client.Get(t.Context(), key, deployment)).To(Succeed())
	deployment.Spec.Template.Spec.Containers[0].Image = "someone/else"
	deployment.Generation = 2
	g.Expect(s.client.Update(t.Context(), deployment, client.FieldOwner("kubectl"))).To(Succeed())
	g.Expect(store.Update(deployment)).To(Succeed())

	observed := s.Observe(t.Context(), inventory, addons).Value()
	g.Expect(observed.CCM.Drifted).To(Equal([]observation.Ref{{Kind: "Deployment", Namespace: key.Namespace, Name: key.Name}}))
}

// The probe's Lease is an addon, and its holder renews it: also between the two looks of which a comparison is made.
func TestRenewalOfALeaseIsNoDrift(t *testing.T) {
	for name, change := range map[string]struct {
		apply func(*coordinationv1.Lease)
		want  bool
	}{
		"a renewal":                {func(lease *coordinationv1.Lease) { lease.Spec.RenewTime = new(metav1.NowMicro()) }, false},
		"a label that was removed": {func(lease *coordinationv1.Lease) { lease.Labels = nil }, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var count atomic.Int32
			dry := dryRuns(&count).Patch
			s, _ := installerWith(interceptor.Funcs{Patch: func(
				ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption,
			) error {
				lease := &coordinationv1.Lease{}
				if len((&client.PatchOptions{}).ApplyOptions(options).DryRun) > 0 {
					g.Expect(c.Get(ctx, client.ObjectKeyFromObject(object), lease)).To(Succeed())
					change.apply(lease)
					g.Expect(c.Update(ctx, lease, client.FieldOwner("holder"))).To(Succeed())
				}
				return dry(ctx, c, object, patch, options...)
			}})
			want := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}}
			want.SetNamespace("kube-system")
			want.SetName("probe")
			want.SetLabels(map[string]string{"app": "probe"})
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "probe"}}
			if !change.want {
				lease.Labels = want.GetLabels()
			}
			g.Expect(s.client.Create(t.Context(), lease)).To(Succeed())
			found, err := s.compareObject(t.Context(), want, true)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(count.Load()).To(Equal(int32(1)))
			g.Expect(found.drifted).To(Equal(change.want))
		})
	}
}

func TestAddonsOutsideTheInventoryAreForeign(t *testing.T) {
	g := NewWithT(t)
	s, _ := installerWith(interceptor.Funcs{}, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: "kube-system", Name: "cloud-controller-manager", Annotations: map[string]string{"meta.helm.sh/release-name": "occm"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "helm", Operation: metav1.ManagedFieldsOperationUpdate,
			APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:secrets":{}}`)}},
	}})
	addons := renderSimcloud(t)
	observed := s.Observe(t.Context(), nil, addons).Value()
	g.Expect(observation.Words(observed.CCM.Foreign)).To(Equal([]string{
		"ServiceAccount kube-system/cloud-controller-manager (Helm release occm; managed by helm)"}))
	g.Expect(observed.CCM.Drifted).NotTo(ContainElement(HaveField("Kind", "ServiceAccount")))
}

func TestAddonsThatAreNotWantedAnyMoreAreObsolete(t *testing.T) {
	g := NewWithT(t)
	s, _ := installerWith(interceptor.Funcs{})
	addons := renderSimcloud(t)
	gone := InventoryEntry{Version: "v1", Kind: "ConfigMap", Namespace: "kube-system", Name: "gone"}
	observed := s.Observe(t.Context(), []InventoryEntry{gone}, addons).Value()
	g.Expect(observed.Obsolete).To(Equal([]observation.Ref{gone.Ref()}))
}

func TestPruneAddons(t *testing.T) {
	g := NewWithT(t)
	var count atomic.Int32
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "theirs"}}
	s, _, addons, inventory := applied(t, &count, theirs)
	inventory = Merge(inventory, []InventoryEntry{
		{Version: "v1", Kind: "ConfigMap", Namespace: "kube-system", Name: "theirs"},
		{Version: "v1", Kind: "ConfigMap", Namespace: "kube-system", Name: "gone"},
	})
	g.Expect(s.Prune(t.Context(), inventory)).To(Succeed())
	var left []string
	for _, object := range append(addons.CCM.Objects, addons.CSI.Objects...) {
		if _, err := s.get(t.Context(), object); err == nil {
			left = append(left, object.GetKind())
		}
	}
	g.Expect(left).To(ConsistOf("CSIDriver", "StorageClass"))
	g.Expect(s.client.Get(t.Context(), client.ObjectKeyFromObject(theirs), theirs)).To(Succeed(), "it does not carry our label")
}

func TestWhatIsWithdrawnIsObsoleteButForWhatLasts(t *testing.T) {
	g := NewWithT(t)
	addons := renderSimcloud(t)
	inventory := Merge(InventoryOf(addons.CCM.Objects), InventoryOf(addons.CSI.Objects))
	addons.CCM.Withdrawn, addons.CSI.Withdrawn = true, true
	s, _ := installerWith(interceptor.Funcs{})
	seen, known := s.Observe(t.Context(), inventory, addons).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(seen.CCM.Withdrawn && seen.CSI.Withdrawn).To(BeTrue())
	g.Expect(seen.Obsolete).NotTo(BeEmpty())
	for _, ref := range seen.Obsolete {
		g.Expect(ref.Kind).NotTo(BeElementOf("CSIDriver", "StorageClass"), "volumes hang on to it")
	}
}
