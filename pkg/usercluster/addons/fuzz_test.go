package addons

import (
	"testing"

	. "github.com/onsi/gomega"
)

// FuzzInventory: what is read is written and read again as it was.
func FuzzInventory(f *testing.F) {
	f.Add([]byte(""))
	f.Add(
		[]byte(`[{"group":"apps","version":"v1","kind":"Deployment","namespace":"kube-system","name":"a","besideControlPlane":true}]`),
	)
	f.Add([]byte(`[{"version":"v1","kind":"Secret","name":"a"},{"version":"v2","kind":"Secret","name":"a"}]`))
	f.Add([]byte(`[{}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		g := NewWithT(t)
		entries, err := DecodeInventory(data)
		if err != nil {
			return
		}
		encoded, err := EncodeInventory(entries)
		g.Expect(err).NotTo(HaveOccurred())
		again, err := DecodeInventory(encoded)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(again).To(Equal(Merge(entries)))
	})
}
