package baseline

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// The keys of the Secret with the baseline. The first releases wrote JSON under the second one.
const (
	Key    = "inventory.json.gz"
	OldKey = "inventory"
)

const (
	// mostBaseline is what a Secret may hold, with room for its metadata and for the proofs of kubelets:
	// https://kubernetes.io/docs/concepts/configuration/secret/#restriction-data-limit
	mostBaseline = 1<<20 - 1<<15 - mostProofBytes
	// mostUnpacked bounds what a Secret that someone changed can make of our memory.
	mostUnpacked = 64 << 20
)

// Encode packs an inventory. The same inventory gives the same bytes.
func Encode(inventory observation.Inventory) ([]byte, error) {
	packed := &bytes.Buffer{}
	w := gzip.NewWriter(packed)
	if err := json.NewEncoder(w).Encode(inventory); err != nil {
		return nil, fmt.Errorf("pack the inventory: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack the inventory: %w", err)
	}
	if packed.Len() > mostBaseline {
		return nil, fmt.Errorf("the inventory of %d Nodes, %d load balancers and %d volumes has %d bytes, and a Secret holds %d; "+
			"delete what is not used any more",
			len(inventory.Nodes), len(inventory.LoadBalancers), len(inventory.Volumes), packed.Len(), mostBaseline)
	}
	return packed.Bytes(), nil
}

// Decode reads both forms from the data of the Secret. Its errors quote nothing of it.
func Decode(data map[string][]byte) (observation.Inventory, error) {
	inventory := observation.Inventory{}
	packed, there := data[Key]
	if !there {
		if json.Unmarshal(data[OldKey], &inventory) != nil {
			return observation.Inventory{}, fmt.Errorf("key %s is not an inventory", OldKey)
		}
		return inventory, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return observation.Inventory{}, fmt.Errorf("key %s is not packed: %w", Key, err)
	}
	limited := io.LimitReader(r, mostUnpacked)
	if json.NewDecoder(limited).Decode(&inventory) != nil {
		return observation.Inventory{}, fmt.Errorf("key %s is not an inventory", Key)
	}
	return inventory, nil
}
