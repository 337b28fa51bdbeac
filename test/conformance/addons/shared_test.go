package addons_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// sharedOf are the objects of a rendering that a cluster has once.
func sharedOf(r rendering) (objects []*unstructured.Unstructured) {
	for _, object := range r.addons.CSI.Objects {
		if manifest.Shared(object) {
			objects = append(objects, object)
		}
	}
	return objects
}

func kinds(objects []*unstructured.Unstructured) []string {
	var kinds []string
	for _, object := range objects {
		kinds = append(kinds, object.GetKind())
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// What someone else brought of it is as it was after the addons were applied, and does not stand in their way.
func TestWhatSomeoneElseBroughtIsLeftAlone(t *testing.T) {
	elsewhere := func(t *testing.T) []*unstructured.Unstructured {
		made := deployment("csi-snapshots", corev1.PodSpec{
			Containers: []corev1.Container{{Name: "a", Image: "mirror.example.com/sig-storage/snapshot-controller:v6.3.4"}},
		})
		made.Namespace = "default"
		return set(t, made).Objects
	}
	only := func(wanted ...string) func(*testing.T, rendering) []*unstructured.Unstructured {
		return func(_ *testing.T, r rendering) []*unstructured.Unstructured {
			return slices.DeleteFunc(
				sharedOf(r), func(o *unstructured.Unstructured) bool { return !slices.Contains(wanted, o.GetKind()+" "+o.GetName()) },
			)
		}
	}
	const classes, program = "CustomResourceDefinition volumesnapshotclasses.snapshot.storage.k8s.io",
		"Deployment snapshot-controller"
	for name, tc := range map[string]struct {
		theirs func(*testing.T, rendering) []*unstructured.Unstructured
		// want are the kinds of what is ours afterwards.
		want []string
	}{
		"nothing":            {only(), kinds(sharedOf(newest(t, "openstack")))},
		"all of it":          {func(_ *testing.T, r rendering) []*unstructured.Unstructured { return sharedOf(r) }, nil},
		"one definition":     {only(classes), []string{"CustomResourceDefinition"}},
		"the controller":     {only(program), []string{"CustomResourceDefinition"}},
		"another controller": {func(t *testing.T, _ rendering) []*unstructured.Unstructured { return elsewhere(t) }, []string{"CustomResourceDefinition"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c, r := connect(t, controller), newest(t, "openstack")
			theirs := tc.theirs(t, r)
			removed(t, append(r.objects(), theirs...)...)
			for _, object := range theirs {
				object = object.DeepCopy()
				object.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "someone"})
				object.SetAnnotations(map[string]string{"api-approved.kubernetes.io": "unapproved, theirs"})
				g.Expect(write(t.Context(), object)).To(Succeed())
			}
			before := look(t)
			c.observe(t, r)
			written := c.apply(t, r)
			g.Expect(written).NotTo(BeEmpty())
			g.Expect(c.apply(t, r)).To(BeEmpty(), "the second time nothing is written")
			drifted, _ := c.observe(t, r)
			g.Expect(drifted).To(BeEmpty())
			after := look(t)
			for _, object := range theirs {
				g.Expect(after).To(HaveKeyWithValue(key(object), before[key(object)]))
			}
			live := read(t, sharedOf(r))
			var ours []*unstructured.Unstructured
			for _, object := range sharedOf(r) {
				found := live[nameOf(object)]
				if found.GetUID() != "" && found.GetLabels()[manifest.ManagedByLabel] == manifest.ManagedBy {
					ours = append(ours, object)
				}
			}
			g.Expect(kinds(ours)).To(Equal(tc.want))
		})
	}
}

// snapshotObject is one of the API group of snapshots.
func snapshotObject(kind string, content map[string]any) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: content}
	made.SetGroupVersionKind(schema.GroupVersionKind{Group: "snapshot.storage.k8s.io", Version: "v1", Kind: kind})
	made.SetName("a")
	if kind == "VolumeSnapshot" {
		made.SetNamespace("default")
	}
	return made
}

func snapshotContent() *unstructured.Unstructured {
	return snapshotObject("VolumeSnapshotContent", map[string]any{"spec": map[string]any{
		"deletionPolicy": "Delete", "driver": "ebs.csi.aws.com", "source": map[string]any{"volumeHandle": "vol-1"},
		"sourceVolumeMode":        "Filesystem",
		"volumeSnapshotClassName": "a", "volumeSnapshotRef": map[string]any{
			"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot", "name": "a", "namespace": "default", "uid": "1",
			"resourceVersion": "1",
		},
	}})
}

func snapshot() *unstructured.Unstructured {
	return snapshotObject(
		"VolumeSnapshot", map[string]any{"spec": map[string]any{"source": map[string]any{"persistentVolumeClaimName": "a"}}},
	)
}

// The definitions take what snapshot-controller and csi-snapshotter write, and refuse what would confuse them.
func TestSnapshotsAreTakenAndJudged(t *testing.T) {
	g := NewWithT(t)
	c, r := connect(t, owner), newest(t, "aws")
	removed(t, r.objects()...)
	c.apply(t, r)
	class := snapshotObject(
		"VolumeSnapshotClass",
		map[string]any{"driver": "ebs.csi.aws.com", "deletionPolicy": "Delete", "parameters": map[string]any{"a": "b"}},
	)
	made := []*unstructured.Unstructured{class, snapshotContent(), snapshot()}
	removed(t, made...)
	for _, one := range made {
		// The API server serves a new kind a moment after its definition.
		g.Eventually(func() error { return suite.admin.Create(t.Context(), one.DeepCopy()) }, deadline, interval).Should(
			Succeed(), one.GetKind(),
		)
	}
	status := map[string]any{
		"creationTime": int64(1767225600000000000), "readyToUse": true, "restoreSize": int64(1 << 30), "snapshotHandle": "snap-1",
		"volumeGroupSnapshotHandle": "later",
	}
	g.Expect(statusOf(t, snapshotContent(), status)).To(Equal(status))
	status = map[string]any{
		"boundVolumeSnapshotContentName": "a", "creationTime": "2026-01-01T00:00:00Z", "readyToUse": true, "restoreSize": "1Gi",
		"error": map[string]any{"message": "a", "time": "2026-01-01T00:00:00Z"}, "volumeGroupSnapshotName": "later",
	}
	g.Expect(statusOf(t, snapshot(), status)).To(Equal(status))
	for name, tc := range map[string]struct {
		change func(*unstructured.Unstructured) error
		want   string
	}{
		"two sources": {func(o *unstructured.Unstructured) error {
			return unstructured.SetNestedField(o.Object, "b", "spec", "source", "volumeSnapshotContentName")
		}, "spec.source"},
		"no source": {func(o *unstructured.Unstructured) error {
			return unstructured.SetNestedMap(o.Object, map[string]any{}, "spec", "source")
		}, "spec.source"},
		"another source": {func(o *unstructured.Unstructured) error {
			return unstructured.SetNestedField(o.Object, "b", "spec", "source", "persistentVolumeClaimName")
		}, "the source cannot be changed"},
		"a class without a name": {func(o *unstructured.Unstructured) error {
			return unstructured.SetNestedField(o.Object, "", "spec", "volumeSnapshotClassName")
		}, "spec.volumeSnapshotClassName"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			live := snapshot()
			g.Expect(suite.admin.Get(t.Context(), client.ObjectKeyFromObject(live), live)).To(Succeed())
			g.Expect(tc.change(live)).To(Succeed())
			err := suite.admin.Update(t.Context(), live)
			g.Expect(err).To(HaveOccurred())
			g.Expect(strings.Contains(err.Error(), tc.want)).To(BeTrue(), err.Error())
		})
	}
}

// statusOf an object after it was written.
func statusOf(t *testing.T, object *unstructured.Unstructured, status map[string]any) map[string]any {
	t.Helper()
	g := NewWithT(t)
	g.Expect(suite.admin.Get(t.Context(), client.ObjectKeyFromObject(object), object)).To(Succeed())
	object.Object["status"] = status
	g.Expect(suite.admin.Status().Update(t.Context(), object)).To(Succeed())
	return object.Object["status"].(map[string]any)
}

// The default StorageClass is switched with the generated rights, and no apply of the addons takes that back.
func TestTheDefaultStorageClassIsSwitched(t *testing.T) {
	g := NewWithT(t)
	const isDefault = "storageclass.kubernetes.io/is-default-class"
	c, r := connect(t, controller), newest(t, "openstack")
	inTree := set(t, &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: "standard", Annotations: map[string]string{isDefault: "true"}},
		Provisioner: "kubernetes.io/cinder",
	}).Objects
	removed(t, append(r.objects(), inTree...)...)
	g.Expect(write(t.Context(), inTree[0])).To(Succeed())
	c.observe(t, r)
	c.apply(t, r)
	var classes []observation.Ref
	for _, class := range c.session.Facts.StorageClasses(t.Context()).Value() {
		g.Expect(class.Default).To(Equal(class.Name == "standard"))
		classes = append(classes, class.Ref)
	}
	slices.SortFunc(classes, func(a, b observation.Ref) int { return -strings.Compare(a.Name, b.Name) })
	switched := writesOf(g, c.user, func() {
		g.Expect(c.session.Facts.SwitchDefaultClass(t.Context(), classes, "openstack-cinder-csi")).To(Succeed())
	})
	g.Expect(switched).To(Equal([]string{"patch storageclasses /openstack-cinder-csi", "patch storageclasses /standard"}))
	drifted, _ := c.observe(t, r)
	g.Expect(drifted).To(BeEmpty())
	g.Expect(c.apply(t, r)).To(BeEmpty())
	for _, class := range c.session.Facts.StorageClasses(t.Context()).Value() {
		g.Expect(class.Default).To(Equal(class.Name == "openstack-cinder-csi"))
	}
	classes[0].UID = "another"
	g.Expect(c.session.Facts.SwitchDefaultClass(t.Context(), classes, "standard")).To(MatchError(ContainSubstring("metadata.uid")))
}
