package addons

import (
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func TestAChangeEndsTheComparisonsOfItsSets(t *testing.T) {
	workload := func(name string) metav1.Object { return &metav1.ObjectMeta{Namespace: "kube-system", Name: name} }
	for name, tc := range map[string]struct {
		happens func(*testing.T, *Installer, manifest.Addons)
		ccm     bool
		csi     bool
	}{
		"a workload of the CCM changed": {
			func(_ *testing.T, s *Installer, _ manifest.Addons) {
				s.memory.changed(workload("cloud-controller-manager"))
			}, true, false,
		},
		"a workload of the CSI driver changed": {
			func(_ *testing.T, s *Installer, _ manifest.Addons) { s.memory.changed(workload("simcloud-csi-node")) }, false, true,
		},
		"a workload that no set has changed": {
			func(_ *testing.T, s *Installer, _ manifest.Addons) { s.memory.changed(workload("someone-elses")) }, true, true,
		},
		"all were listed again": {func(_ *testing.T, s *Installer, _ manifest.Addons) { s.memory.changed(nil) }, true, true},
		"the CCM was applied": {func(t *testing.T, s *Installer, addons manifest.Addons) {
			NewWithT(t).Expect(s.Apply(t.Context(), addons.CCM)).To(Succeed())
		}, true, false},
		"an object of the CSI driver was pruned": {func(t *testing.T, s *Installer, addons manifest.Addons) {
			account := InventoryEntry{Version: "v1", Kind: "ServiceAccount", Namespace: "kube-system", Name: "simcloud-csi-node"}
			NewWithT(t).Expect(s.Prune(t.Context(), []InventoryEntry{account})).To(Succeed())
		}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var count atomic.Int32
			s, _, addons, inventory := applied(t, &count)
			g.Expect(s.Observe(t.Context(), inventory, addons).Value().CCM.Drifted).To(BeEmpty())
			clean := func(set outcome.AddonSetName) bool { return s.memory.sets[set].clean != nil }
			g.Expect([]bool{clean(outcome.CCMSet), clean(outcome.CSISet)}).To(Equal([]bool{true, true}))
			tc.happens(t, s, addons)
			g.Expect([]bool{clean(outcome.CCMSet), clean(outcome.CSISet)}).To(Equal([]bool{!tc.ccm, !tc.csi}))
		})
	}
}

func TestAComparisonThatBeganBeforeAChangeIsNotKept(t *testing.T) {
	g, m := NewWithT(t), addonMemory{}
	ccm := []InventoryEntry{{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "kube-system", Name: "ccm"}}
	_, change := m.recall(outcome.CCMSet, ccm, "a", start)
	m.changed(&metav1.ObjectMeta{Namespace: "kube-system", Name: "ccm"})
	m.keep(outcome.CCMSet, cleanComparison{digest: "a", expires: start.Add(compareInterval)}, change)
	found, _ := m.recall(outcome.CCMSet, ccm, "a", start)
	g.Expect(found).To(BeNil())
}

func TestWhatAnotherSetAddsToTheInventoryEndsNoComparison(t *testing.T) {
	g := NewWithT(t)
	var count atomic.Int32
	s, _, addons, inventory := applied(t, &count)
	g.Expect(s.Observe(t.Context(), inventory, addons).IsKnown()).To(BeTrue())
	before := count.Load()
	more := Merge(inventory, []InventoryEntry{{Version: "v1", Kind: "ConfigMap", Namespace: "kube-system", Name: "probe"}})
	g.Expect(s.Observe(t.Context(), more, addons).IsKnown()).To(BeTrue())
	g.Expect(count.Load()).To(Equal(before))
	less := Subtract(inventory, InventoryOf(addons.CCM.Objects))
	g.Expect(s.Observe(t.Context(), less, addons).Value().CCM.Foreign).NotTo(BeEmpty(), "but what is not ours any more does")
}
