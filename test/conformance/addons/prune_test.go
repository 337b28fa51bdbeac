package addons_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// lastingKinds are never deleted: others hang on to such objects. It is said here again, so that both have to agree.
func lastingKinds() []string {
	return []string{"CSIDriver", "CustomResourceDefinition", "Namespace", "StorageClass", "VolumeSnapshotClass"}
}

// world is the version of every object of the cluster.
type world map[string]string

// look reads everything that can be listed and deleted, but Events and the API server's own Leases, which it renews.
func look(t *testing.T) world {
	t.Helper()
	g := NewWithT(t)
	api, err := discovery.NewDiscoveryClientForConfig(suite.environment.Config)
	g.Expect(err).NotTo(HaveOccurred())
	lists, err := api.ServerPreferredResources()
	g.Expect(err).NotTo(HaveOccurred())
	seen := world{}
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, lists) {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		g.Expect(err).NotTo(HaveOccurred())
		for _, resource := range list.APIResources {
			if resource.Kind != "Event" {
				seen.add(t, version.WithKind(resource.Kind))
			}
		}
	}
	return seen
}

func (w world) add(t *testing.T, kind schema.GroupVersionKind) {
	t.Helper()
	objects := &metav1.PartialObjectMetadataList{}
	objects.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	NewWithT(t).Expect(suite.admin.List(t.Context(), objects)).To(Succeed())
	for i := range objects.Items {
		object := &objects.Items[i]
		if kind.Kind == "Lease" && strings.HasPrefix(object.Name, "apiserver-") {
			continue
		}
		w[kind.Kind+" "+object.Namespace+"/"+object.Name] = string(object.UID) + " " + object.ResourceVersion
	}
}

// key is what the world calls an object.
func key(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
}

// objections against a deletion: exactly the doomed are to be gone, and nothing else is to be different.
func (w world) objections(after world, doomed []string) []string {
	var all []string
	for name, version := range w {
		now, there := after[name]
		switch {
		case slices.Contains(doomed, name) && there:
			all = append(all, name+" is still there")
		case slices.Contains(doomed, name):
		case !there:
			all = append(all, name+" is gone")
		case now != version:
			all = append(all, name+" was changed")
		}
	}
	for name := range after {
		if _, known := w[name]; !known {
			all = append(all, name+" is new")
		}
	}
	for _, name := range doomed {
		if _, known := w[name]; !known {
			all = append(all, name+" was not there")
		}
	}
	slices.Sort(all)
	return all
}

// missing are the objects of one rendering that are not in another one.
func missing(from, to rendering) (objects []*unstructured.Unstructured) {
	for _, object := range from.objects() {
		if !slices.ContainsFunc(to.objects(), func(other *unstructured.Unstructured) bool { return key(other) == key(object) }) {
			objects = append(objects, object)
		}
	}
	return objects
}

// lasts says that an object is never deleted.
func lasts(object *unstructured.Unstructured) bool {
	return slices.Contains(lastingKinds(), object.GetKind()) || object.GetAnnotations()["ccm-migration.k8c.io/shared"] == "true"
}

// gone are those of them that are deleted, and do not last.
func gone(from, to rendering) (doomed []string) {
	for _, object := range missing(from, to) {
		if !lasts(object) {
			doomed = append(doomed, key(object))
		}
	}
	return doomed
}

// pruned takes what the former rendering had and this one has not out of a cluster that both were applied to; the
// comparison names what is obsolete.
func pruned(t *testing.T, c *cluster, from, to rendering, obsolete []string) {
	t.Helper()
	g := NewWithT(t)
	doomed, unwanted := gone(from, to), []string{}
	for _, object := range missing(from, to) {
		unwanted = append(unwanted, nameOf(object))
	}
	g.Expect(obsolete).To(ConsistOf(unwanted))
	if len(doomed) == 0 {
		g.Expect(c.prune(t, to)).To(BeEmpty())
		return
	}
	before := look(t)
	g.Expect(c.prune(t, to)).To(HaveLen(len(doomed)))
	g.Expect(before.objections(look(t), doomed)).To(BeEmpty())
	drifted, obsolete := c.observe(t, to)
	g.Expect(drifted).To(BeEmpty())
	g.Expect(obsolete).To(BeEmpty())
}

// differ says that one of two renders has objects that the other one has not.
func differ(one, other rendering) bool {
	return len(gone(one, other))+len(gone(other, one)) > 0
}

// withdrawn takes all of a provider out of a cluster that is at the first of its renders. What lasts is left of all of them, and
// is deleted for the next provider.
func withdrawn(t *testing.T, c *cluster, all []rendering) {
	t.Helper()
	g := NewWithT(t)
	before := look(t)
	g.Expect(c.prune(t, rendering{})).NotTo(BeEmpty())
	g.Expect(before.objections(look(t), gone(all[0], rendering{}))).To(BeEmpty())
	left := map[string]*unstructured.Unstructured{}
	for _, r := range all {
		for _, object := range r.objects() {
			if lasts(object) {
				left[key(object)] = object
			}
		}
	}
	for name, object := range left {
		g.Expect(suite.admin.Delete(t.Context(), object.DeepCopy())).To(Succeed(), "%s is still there", name)
	}
}

func TestObjectionsAgainstADeletion(t *testing.T) {
	before := world{"Role a/b": "1", "Role a/c": "1"}
	for name, tc := range map[string]struct {
		after  world
		doomed []string
		want   []string
	}{
		"nothing was to go":           {world{"Role a/b": "1", "Role a/c": "1"}, nil, nil},
		"the doomed is gone":          {world{"Role a/b": "1"}, []string{"Role a/c"}, nil},
		"the doomed is still there":   {before, []string{"Role a/c"}, []string{"Role a/c is still there"}},
		"something else is gone, too": {world{}, []string{"Role a/c"}, []string{"Role a/b is gone"}},
		"something else was changed":  {world{"Role a/b": "2"}, []string{"Role a/c"}, []string{"Role a/b was changed"}},
		"something is new":            {world{"Role a/b": "1", "Role a/d": "1"}, []string{"Role a/c"}, []string{"Role a/d is new"}},
		"the doomed never was there":  {world{"Role a/b": "1", "Role a/c": "1"}, []string{"Role a/e"}, []string{"Role a/e was not there"}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(before.objections(tc.after, tc.doomed)).To(Equal(tc.want))
		})
	}
}
