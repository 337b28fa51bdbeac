package baseline

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// ProofsKey is the key of the proofs in the Secret of the baseline.
const ProofsKey = "kubelets.json.gz"

const (
	// mostProofs bounds what is kept: 26 bytes a Node of what UIDs leave to be packed.
	mostProofs = 8000
	// mostProofBytes is what the inventory leaves for them in the Secret.
	mostProofBytes    = 1 << 18
	mostProofUnpacked = 4 << 20
)

// EncodeProofs packs them; the same proofs give the same bytes.
func EncodeProofs(proofs map[string]observation.Proof) ([]byte, error) {
	packed := &bytes.Buffer{}
	w := gzip.NewWriter(packed)
	if err := json.NewEncoder(w).Encode(proofs); err != nil {
		return nil, fmt.Errorf("pack the proofs: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack the proofs: %w", err)
	}
	return packed.Bytes(), nil
}

// DecodeProofs reads what EncodeProofs wrote. What it cannot read, or does not know, proves nothing.
func DecodeProofs(packed []byte) map[string]observation.Proof {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	var proofs map[string]observation.Proof
	if json.NewDecoder(io.LimitReader(r, mostProofUnpacked)).Decode(&proofs) != nil {
		return nil
	}
	maps.DeleteFunc(proofs, func(_ string, proof observation.Proof) bool { return !proof.Passes() })
	return proofs
}

// WithProofs adds what was kept to what Nodes show now. A kubelet that shows itself to be in-tree is, whatever was kept.
func WithProofs(
	nodes observation.Observed[[]observation.Node],
	kept observation.Observed[observation.KeptProofs],
) observation.Observed[[]observation.Node] {
	seen, known := nodes.Get()
	if !known || len(kept.Value().ByNode) == 0 {
		return nodes
	}
	seen = slices.Clone(seen)
	for i := range seen {
		if proof := kept.Value().ByNode[seen[i].UID]; seen[i].Kubelet == (observation.Kubelet{}) && proof.Passes() {
			seen[i].Kubelet = observation.Kubelet{External: proof}
		}
	}
	return observation.Known(seen)
}

// Passing are the proofs of Nodes that the world does not go on showing, by UID, as many as are kept.
func Passing(nodes []observation.Node) map[string]observation.Proof {
	proofs := map[string]observation.Proof{}
	for _, node := range nodes {
		if node.Kubelet.External.Passes() && len(proofs) < mostProofs {
			proofs[node.UID] = node.Kubelet.External
		}
	}
	return proofs
}
