package migration

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Proof that the kubelet of a Node was registered with an external cloud provider.
type Proof string

// The proofs, strongest first.
const (
	// TaintSeen: its Node was seen with the taint that only such a kubelet registers with. The taint goes within seconds.
	TaintSeen Proof = "Taint"
	// SyncedSeen: the loop cloud-node said that it initialized the Node. Events go after an hour.
	SyncedSeen Proof = "Synced"
	// ProviderIDOwned: the CCM set the providerID of the Node, which managedFields go on saying.
	ProviderIDOwned Proof = "ProviderID"
)

// passes says that the world does not go on showing it.
func (proof Proof) passes() bool { return proof == TaintSeen || proof == SyncedSeen }

// ProofsKey is the key of the proofs in the Secret of the baseline.
const ProofsKey = "kubelets.json.gz"

const (
	// mostProofs bounds what is kept: 26 bytes a Node of what UIDs leave to be packed.
	mostProofs = 8000
	// mostProofBytes is what the inventory leaves for them in the Secret.
	mostProofBytes    = 1 << 18
	mostProofUnpacked = 4 << 20
)

// KeptProofs are the proofs that pass, by the UID of the Node: a Node of the same name has another one. They are in the Secret of the
// baseline, because a status is too small for thousands of them.
type KeptProofs struct {
	// Secret, and the resourceVersion that it had.
	Secret  Ref
	Version string
	ByNode  map[string]Proof
}

// EncodeProofs packs them; the same proofs give the same bytes.
func EncodeProofs(proofs map[string]Proof) ([]byte, error) {
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
func DecodeProofs(packed []byte) map[string]Proof {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	var proofs map[string]Proof
	if json.NewDecoder(io.LimitReader(r, mostProofUnpacked)).Decode(&proofs) != nil {
		return nil
	}
	maps.DeleteFunc(proofs, func(_ string, proof Proof) bool { return !proof.passes() })
	return proofs
}

// WithProofs adds what was kept to what Nodes show now. A kubelet that shows itself to be in-tree is, whatever was kept.
func WithProofs(nodes Observed[[]Node], kept Observed[KeptProofs]) Observed[[]Node] {
	seen, known := nodes.Get()
	if !known || len(kept.Value().ByNode) == 0 {
		return nodes
	}
	seen = slices.Clone(seen)
	for i := range seen {
		if proof := kept.Value().ByNode[seen[i].UID]; seen[i].Kubelet == (Kubelet{}) && proof.passes() {
			seen[i].Kubelet = Kubelet{External: proof}
		}
	}
	return Known(seen)
}

// proofsToKeep in this pass; nil: they are kept already. They are written before the verb that rests on them is done, and hold up no
// other one.
func (p *pass) proofsToKeep(decision Decision) *KeptProofs {
	kept, known := p.o.Proofs.Get()
	nodes, seen := p.o.Nodes.Get()
	rests := decision.Verb == nil || decision.Step == ucv1.StepRoll || decision.Step == ucv1.StepVerify
	if !known || !seen || !rests || p.undoing() || p.o.Cluster.Status.CompletedAt != nil {
		return nil
	}
	now := passing(nodes)
	if maps.Equal(now, kept.ByNode) {
		return nil
	}
	kept.ByNode = now
	return &kept
}

func passing(nodes []Node) map[string]Proof {
	proofs := map[string]Proof{}
	for _, node := range nodes {
		if node.Kubelet.External.passes() && len(proofs) < mostProofs {
			proofs[node.UID] = node.Kubelet.External
		}
	}
	return proofs
}

// countProven counts the Nodes of Machines whose kubelets are proven, for the status.
func (v fleetView) countProven() *ucv1.ProvenCount {
	count := &ucv1.ProvenCount{}
	for _, machine := range v.machines.Machines {
		node, found := v.nodes[machine.NodeName]
		if machine.NodeName == "" || !found || node.CreatedAt.Before(machine.CreatedAt) {
			continue
		}
		switch node.Kubelet.External {
		case TaintSeen:
			count.Taint++
		case SyncedSeen:
			count.Synced++
		case ProviderIDOwned:
			count.ProviderID++
		}
	}
	count.Total = count.Taint + count.Synced + count.ProviderID
	return count
}
