package baseline

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func TestProofsThatCannotBeReadProveNothing(t *testing.T) {
	g := NewWithT(t)
	proofs := map[string]observation.Proof{"a": observation.TaintSeen, "b": observation.SyncedSeen}
	packed, err := EncodeProofs(proofs)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(DecodeProofs(packed)).To(Equal(proofs))
	g.Expect(DecodeProofs(packed[:len(packed)/2])).To(BeEmpty())
	for _, other := range [][]byte{nil, []byte("{}"), []byte("password")} {
		g.Expect(DecodeProofs(other)).To(BeEmpty())
	}
	foreign, err := EncodeProofs(map[string]observation.Proof{"a": "Other", "b": observation.ProviderIDOwned})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(DecodeProofs(foreign)).To(BeEmpty())
}

// TestProofsOfALargeClusterFitBesideItsInventory: UIDs are random, so they hardly get smaller.
func TestProofsOfALargeClusterFitBesideItsInventory(t *testing.T) {
	g := NewWithT(t)
	var nodes []observation.Node
	for i := range mostProofs + 1000 {
		id := observation.Inventory{Routes: i + 1}.Digest() // As good as random.
		uid := fmt.Sprintf("%s-%s-%s-%s-%s", id[:8], id[8:12], id[12:16], id[16:20], id[20:32])
		nodes = append(nodes, observation.Node{UID: uid, Kubelet: observation.Kubelet{External: observation.TaintSeen}})
	}
	kept := Passing(nodes)
	g.Expect(kept).To(HaveLen(mostProofs))
	packed, err := EncodeProofs(kept)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(packed)).To(BeNumerically("<", mostProofBytes))
	g.Expect(DecodeProofs(packed)).To(HaveLen(mostProofs))
}
