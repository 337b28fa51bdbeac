package observation

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// InventoryVersion is the form that is taken now. 0 is that of the first releases: load balancers and volumes, of one provider
// addresses of Nodes. What a form does not have is not compared.
const InventoryVersion = 2

// Inventory is what must be the same before and after.
type Inventory struct {
	Version       int            `json:"version,omitempty"`
	LoadBalancers []LoadBalancer `json:"loadBalancers"`
	Volumes       []Volume       `json:"volumes"`
	// Nodes of the first form are there only where their addresses are compared.
	Nodes          []NodeRecord  `json:"nodes,omitempty"`
	Attachments    []Attachment  `json:"attachments,omitempty"`
	StorageClasses []ClassRecord `json:"storageClasses,omitempty"`
	// Routes is the number of Nodes that the route loop reported a route to. What the cloud has, only the cloud knows.
	Routes int `json:"routes,omitempty"`
}

// Digest identifies an inventory whose lists are sorted: sha256 over its JSON form, in hex. What a form does not have is left out
// of it, so that the digest of an old one stays what it was.
func (i Inventory) Digest() string {
	data, err := json.Marshal(i)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// NodeRecord is a Node of the inventory. All but its addresses came with version 2.
type NodeRecord struct {
	Name       string            `json:"name"`
	UID        string            `json:"uid"`
	Addresses  []string          `json:"addresses"`
	ProviderID string            `json:"providerID,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	PodCIDRs   []string          `json:"podCIDRs,omitempty"`
	Routed     bool              `json:"routed,omitempty"`
	// Machine is the UID of its Machine.
	Machine string `json:"machine,omitempty"`
}

// ClassRecord is a StorageClass of the inventory.
type ClassRecord struct {
	Name        string `json:"name"`
	Provisioner string `json:"provisioner"`
	Default     bool   `json:"default,omitempty"`
}

// LoadBalancer is a Service of type LoadBalancer.
type LoadBalancer struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	UID       string   `json:"uid"`
	Ingress   []string `json:"ingress"`
	// Annotations; a long value is a digest.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Reference is how messages name it.
func (l LoadBalancer) Reference() Ref {
	return Ref{Kind: "Service", Namespace: l.Namespace, Name: l.Name}
}

// String is how messages name it.
func (l LoadBalancer) String() string { return l.Reference().String() }

// Volume is a PersistentVolume.
type Volume struct {
	Name  string `json:"name"`
	UID   string `json:"uid"`
	Phase string `json:"phase"`
	Claim string `json:"claim"`
	// Driver is the CSI driver, Plugin the in-tree plugin of a cloud, that it was made for.
	Driver string `json:"driver,omitempty"`
	Plugin string `json:"plugin,omitempty"`
	// Path of one that the CSI driver has to register before it can serve it, and when it was made: the baseline has neither.
	Path      string    `json:"-"`
	CreatedAt time.Time `json:"-"`
}

// Reference is how messages name it.
func (v Volume) Reference() Ref { return Ref{Kind: "PersistentVolume", Name: v.Name} }

// String is how messages name it.
func (v Volume) String() string { return v.Reference().String() }

// StorageClass is a StorageClass of the user cluster.
type StorageClass struct {
	Ref
	Provisioner string
	// Default says that claims which name no class get this one.
	Default bool
	// Retains says that its volumes outlive their claims.
	Retains bool
}

// Gone is what was found where something is missing.
type Gone struct {
	// Left says, as a difference does, that its Service or claim is still there. Empty: that is gone, too.
	Left string
	// Seen says when it was missed and, where that can be known, who deleted it when.
	Seen string
}
