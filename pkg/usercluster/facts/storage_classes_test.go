package facts

import (
	"errors"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
)

func classOf(name string, annotations map[string]string) *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: name, Annotations: annotations},
		Provisioner: "kubernetes.io/cinder",
	}
}

func classRef(name string) observation.Ref { return observation.Ref{Kind: "StorageClass", Name: name} }

func TestStorageClasses(t *testing.T) {
	g := NewWithT(t)
	s, _ := readerWith(interceptor.Funcs{},
		classOf("new", map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}),
		classOf("no", map[string]string{"storageclass.kubernetes.io/is-default-class": "false"}), classOf("none", nil),
		classOf("old", map[string]string{"storageclass.beta.kubernetes.io/is-default-class": "true"}))
	of := func(name string, isDefault bool) observation.StorageClass {
		return observation.StorageClass{Ref: classRef(name), Provisioner: "kubernetes.io/cinder", Default: isDefault}
	}
	g.Expect(s.StorageClasses(t.Context()).Value()).To(
		ConsistOf(of("new", true), of("no", false), of("none", false), of("old", true)),
	)

	s, _ = readerWith(failing(errors.New("timeout")))
	g.Expect(s.StorageClasses(t.Context()).IsUnknown()).To(BeTrue())
}

func TestSwitchDefaultClass(t *testing.T) {
	const current, old = "storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"
	g := NewWithT(t)
	var count atomic.Int32
	s, installer := applied(
		t,
		&count,
		classOf("standard", map[string]string{current: "true", "owner": "kept"}),
		classOf("ancient", map[string]string{old: "true"}),
	)
	annotations := func(name string) map[string]string {
		class := &storagev1.StorageClass{}
		g.Expect(s.client.Get(t.Context(), client.ObjectKey{Name: name}, class)).To(Succeed())
		return class.Annotations
	}
	g.Expect(s.SwitchDefaultClass(t.Context(), []observation.Ref{classRef("standard"), classRef("simcloud-csi")}, "simcloud-csi")).
		To(MatchError(ContainSubstring("StorageClass ancient became the default a moment ago")))
	g.Expect(annotations("standard")).To(HaveKeyWithValue(current, "true"), "nothing was changed")

	g.Expect(
		s.SwitchDefaultClass(
			t.Context(),
			[]observation.Ref{classRef("ancient"), classRef("standard"), classRef("simcloud-csi")},
			"simcloud-csi",
		),
	).To(Succeed())
	g.Expect(annotations("standard")).To(Equal(map[string]string{current: "false", "owner": "kept"}))
	g.Expect(annotations("ancient")).To(Equal(map[string]string{current: "false", old: "false"}))
	g.Expect(annotations("simcloud-csi")).To(Equal(map[string]string{current: "true"}))

	sets := renderSimcloud(t)
	inventory := addons.Merge(addons.InventoryOf(sets.CCM.Objects), addons.InventoryOf(sets.CSI.Objects))
	g.Expect(installer.Observe(t.Context(), inventory, sets).Value().CSI.Drifted).To(BeEmpty(), "that it is the default is no drift")
	g.Expect(installer.Apply(t.Context(), sets.CSI)).To(Succeed())
	g.Expect(annotations("simcloud-csi")).To(HaveKeyWithValue(current, "true"), "and an apply does not take it away")
}
