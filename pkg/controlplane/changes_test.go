package controlplane

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestAMarkOfANamespace(t *testing.T) {
	for name, tc := range map[string]struct {
		happens func(*Changes)
		changes bool
	}{
		"is the same while nothing changes":   {func(*Changes) {}, false},
		"is the same when another one does":   {func(c *Changes) { c.Mark("another"); c.Seen("another") }, false},
		"changes with it":                     {func(c *Changes) { c.Seen(testNamespace) }, true},
		"never comes again when it is forgot": {func(c *Changes) { c.forget(testNamespace) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			g, changes := NewWithT(t), NewChanges()
			before := changes.Mark(testNamespace)
			g.Expect(before.Watched).To(BeTrue())
			tc.happens(changes)
			if tc.changes {
				g.Expect(changes.Mark(testNamespace)).NotTo(Equal(before))
			} else {
				g.Expect(changes.Mark(testNamespace)).To(Equal(before))
			}
		})
	}
}

// A management cluster has more namespaces than Clusters, and they come and go.
func TestWhatIsRememberedOfNamespacesIsBounded(t *testing.T) {
	for name, tc := range map[string]struct {
		happens func(*Reader)
		kept    bool
	}{
		"one that nothing is read of is not counted": {func(r *Reader) { r.Changes.Seen("another") }, true},
		"it goes with its only Cluster":              {func(r *Reader) { r.Gone(clusterNamed("alpha")) }, false},
		"it stays for another Cluster that is read": {func(r *Reader) {
			other := testCluster()
			other.Name = "beta"
			r.memoryOf(other)
			r.Gone(clusterNamed("alpha"))
		}, true},
		"it goes with the last of two": {func(r *Reader) {
			other := testCluster()
			other.Name = "beta"
			r.memoryOf(other)
			r.Gone(clusterNamed("alpha"))
			r.Gone(clusterNamed("beta"))
		}, false},
		"it stays at rest": {func(r *Reader) { r.Forget(clusterNamed("alpha")) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			reader, _ := testReader(testClient(interceptor.Funcs{}))
			reader.Changes = NewChanges()
			reader.Ledger.Track(testNamespace)
			lookAt(t.Context(), reader, testCluster())
			tc.happens(reader)
			if tc.kept {
				g.Expect(reader.Changes.newest).To(And(HaveLen(1), HaveKey(testNamespace)))
				g.Expect(reader.Ledger.namespaces).To(HaveLen(1))
			} else {
				g.Expect(reader.Changes.newest).To(BeEmpty())
				g.Expect(reader.Ledger.namespaces).To(BeEmpty())
			}
		})
	}
}

func clusterNamed(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: testNamespace, Name: name}
}
