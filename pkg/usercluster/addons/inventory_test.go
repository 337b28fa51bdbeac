package addons

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestInventoryRoundTrip(t *testing.T) {
	g := NewWithT(t)
	a := InventoryEntry{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "kube-system", Name: "a"}
	b := InventoryEntry{Version: "v1", Kind: "Secret", Namespace: "kube-system", Name: "b"}
	one, err := EncodeInventory([]InventoryEntry{a, b})
	g.Expect(err).NotTo(HaveOccurred())
	two, err := EncodeInventory([]InventoryEntry{b, a, b})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(one).To(Equal(two))
	decoded, err := DecodeInventory(one)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(decoded).To(ConsistOf(a, b))
}

func TestInventoryThatCannotBeRead(t *testing.T) {
	for name, tc := range map[string]struct {
		data string
		ok   bool
	}{
		"nothing is empty":                  {ok: true},
		"no list":                           {data: `{"a": 1}`},
		"not JSON":                          {data: `[`},
		"an entry without a name":           {data: `[{"version":"v1","kind":"Secret"}]`},
		"an entry that the core group owns": {data: `[{"version":"v1","kind":"Secret","name":"a"}]`, ok: true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := DecodeInventory([]byte(tc.data))
			NewWithT(t).Expect(err == nil).To(Equal(tc.ok))
		})
	}
}

func TestInventorySets(t *testing.T) {
	g := NewWithT(t)
	old := InventoryEntry{Group: "policy", Version: "v1beta1", Kind: "PodDisruptionBudget", Namespace: "a", Name: "a"}
	current := old
	current.Version = "v1"
	other := InventoryEntry{Version: "v1", Kind: "Secret", Namespace: "a", Name: "a"}
	g.Expect(Merge([]InventoryEntry{old, other}, []InventoryEntry{current})).To(Equal([]InventoryEntry{other, current}))
	g.Expect(Subtract([]InventoryEntry{old, other}, []InventoryEntry{current})).To(Equal([]InventoryEntry{other}))
	g.Expect(Subtract(nil, nil)).To(BeEmpty())
}
