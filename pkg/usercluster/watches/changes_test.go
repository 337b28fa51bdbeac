package watches

import (
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
)

func TestAMarkOfOneObject(t *testing.T) {
	deployments := appsv1.SchemeGroupVersion.WithResource("deployments")
	daemonSets := appsv1.SchemeGroupVersion.WithResource("daemonsets")
	object := func(name string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name}}
	}
	for name, tc := range map[string]struct {
		happens func(*Watches, *countingStore) error
		changes bool
	}{
		"changes with the object":           {func(_ *Watches, s *countingStore) error { return s.Update(object("ccm")) }, true},
		"changes when it is made":           {func(_ *Watches, s *countingStore) error { return s.Add(object("ccm")) }, true},
		"changes when it is deleted":        {func(_ *Watches, s *countingStore) error { return s.Delete(object("ccm")) }, true},
		"changes when all are listed again": {func(_ *Watches, s *countingStore) error { return s.Replace(nil, "2") }, true},
		"changes when we wrote it":          {func(w *Watches, _ *countingStore) error { w.Wrote(deployments, "ccm"); return nil }, true},
		"changes when we wrote one without a name": {
			func(w *Watches, _ *countingStore) error { w.Wrote(deployments, ""); return nil }, true,
		},
		"is the same when another one changes": {func(_ *Watches, s *countingStore) error { return s.Update(object("a-ccm")) }, false},
		"is the same when we wrote another one": {
			func(w *Watches, _ *countingStore) error { w.Wrote(deployments, "a-ccm"); return nil }, false,
		},
		"is the same when we wrote something else of this name": {
			func(w *Watches, _ *countingStore) error { w.Wrote(daemonSets, "ccm"); return nil }, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := New(Clients{}, func() {}, logr.Discard())
			w.Keep(kept.NewTotal(1 << 20))
			w.lasting = make(chan struct{})
			store := &countingStore{ReflectorStore: &WakeStore{wake: func() {}}, watches: w, name: labeled(deployments), stop: w.lasting}
			mark := func() kept.Mark {
				return w.MarkOfLastingObject(deployments, types.NamespacedName{Namespace: "kube-system", Name: "ccm"})
			}
			g.Expect(mark().Watched).To(BeFalse(), "nothing was listed yet")
			g.Expect(store.Replace(nil, "1")).To(Succeed())
			before := mark()
			g.Expect(before.Watched).To(BeTrue())
			g.Expect(tc.happens(w, store)).To(Succeed())
			if tc.changes {
				g.Expect(mark()).NotTo(Equal(before))
			} else {
				g.Expect(mark()).To(Equal(before))
			}
		})
	}
}
