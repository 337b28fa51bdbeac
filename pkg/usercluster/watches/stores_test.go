package watches

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAStatusIsNoChange(t *testing.T) {
	g := NewWithT(t)
	changed, woken, atRest := 0, 0, false
	store := &SpecStore{Changed: func(metav1.Object) { changed++ }, Wake: func() { woken++ }, AtRest: func() bool { return atRest }}
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: "1", Generation: 1}}
	g.Expect(store.Replace([]any{object}, "1")).To(Succeed())
	g.Expect(store.Update(object)).To(Succeed())
	g.Expect([]int{changed, woken}).To(Equal([]int{1, 2}))
	object.Generation = 2
	g.Expect(store.Update(object)).To(Succeed())
	g.Expect(store.Delete(object)).To(Succeed())
	g.Expect([]int{changed, woken}).To(Equal([]int{3, 4}))

	atRest = true
	g.Expect(store.Add(object)).To(Succeed())
	g.Expect(store.Update(object)).To(Succeed())
	g.Expect([]int{changed, woken}).To(Equal([]int{4, 5}), "at rest a status does not wake either")
	g.Expect(store.Delete(object)).To(Succeed())
	g.Expect([]int{changed, woken}).To(Equal([]int{5, 6}))
}
