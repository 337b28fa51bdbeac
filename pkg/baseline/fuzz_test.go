package baseline

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// FuzzBaseline: what someone put into the Secret does not panic, and what is read is packed and read again as it was.
func FuzzBaseline(f *testing.F) {
	packed, err := Encode(observation.Inventory{Volumes: []observation.Volume{{Name: "a"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(true, packed)
	f.Add(false, []byte(`{"nodes":[{}]}`))
	f.Add(true, []byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, isPacked bool, data []byte) {
		g := NewWithT(t)
		key := OldKey
		if isPacked {
			key = Key
		}
		inventory, err := Decode(map[string][]byte{key: data})
		if err != nil {
			g.Expect(inventory).To(BeZero())
			return
		}
		packed, err := Encode(inventory)
		g.Expect(err).NotTo(HaveOccurred())
		again, err := Decode(map[string][]byte{Key: packed})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(Encode(again)).To(Equal(packed))
	})
}
