package observation

import (
	"slices"
	"time"
)

// Node is a Node of the user cluster.
type Node struct {
	Name       string
	UID        string
	ProviderID string
	Ready      bool
	// ReadyChangedAt is when it became Ready, or ceased to be; zero: not known.
	ReadyChangedAt time.Time
	// Uninitialized says that it carries the taint node.cloudprovider.kubernetes.io/uninitialized.
	Uninitialized bool
	CreatedAt     time.Time
	// Kubelet shows whether it was registered with an external cloud provider.
	Kubelet Kubelet
	// CSIDrivers registered in its CSINode.
	CSIDrivers []string
	// Addresses with their types, such as "InternalIP 10.0.0.4", sorted.
	Addresses []string
	Labels    map[string]string
	PodCIDRs  []string
	// Routed says that the route loop reported a route to it.
	Routed bool
}

// Topology is which of the labels that only a cloud knows a Node has.
func (n Node) Topology() []string {
	return slices.DeleteFunc(
		[]string{"node.kubernetes.io/instance-type", "topology.kubernetes.io/region", "topology.kubernetes.io/zone"},
		func(label string) bool { return n.Labels[label] == "" },
	)
}

// Kubelet is what shows with which cloud provider a Node was registered. Both are empty when nothing that was seen does: that a
// Node has a providerID, is Ready and carries no taint is true of in-tree ones, too.
type Kubelet struct {
	// External proves an external cloud provider.
	External Proof
	// InTree says what proves the one that is built in.
	InTree string
}

// Proof that the kubelet of a Node was registered with an external cloud provider.
type Proof string

// Passes says that the world does not go on showing it.
func (proof Proof) Passes() bool { return proof == TaintSeen || proof == SyncedSeen }

// The proofs, strongest first.
const (
	// TaintSeen: its Node was seen with the taint that only such a kubelet registers with. The taint goes within seconds.
	TaintSeen Proof = "Taint"
	// SyncedSeen: the loop cloud-node said that it initialized the Node. Events go after an hour.
	SyncedSeen Proof = "Synced"
	// ProviderIDOwned: the CCM set the providerID of the Node, which managedFields go on saying.
	ProviderIDOwned Proof = "ProviderID"
)

// KeptProofs are the proofs that pass, by the UID of the Node: a Node of the same name has another one. They are in the Secret of
// the baseline, because a status is too small for thousands of them.
type KeptProofs struct {
	// Secret, and the resourceVersion that it had.
	Secret  Ref
	Version string
	ByNode  map[string]Proof
}

// Attachment is a VolumeAttachment.
type Attachment struct {
	Name     string `json:"-"` // a hash of the others
	Attacher string `json:"attacher"`
	Node     string `json:"node"`
	// Volume is the PersistentVolume; empty for one that stands in a pod.
	Volume string `json:"volume,omitempty"`
	// Problem is "attaching" or "detaching" when the last try of it failed.
	Problem string `json:"problem,omitempty"`
}

// Reference is how messages name it.
func (n Node) Reference() Ref { return NodeRef(n.Name) }

// String is how messages name it.
func (n Node) String() string { return n.Reference().String() }
