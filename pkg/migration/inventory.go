package migration

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
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

// Digest identifies an inventory whose lists are sorted: sha256 over its JSON form, in hex. What a form does not have is left out of
// it, so that the digest of an old one stays what it was.
func (i Inventory) Digest() string {
	data, err := json.Marshal(i)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// mostWhole is the number of Nodes, or of load balancers, up to which all their labels and annotations are kept: beyond it only
// those of the cloud, because the Secret of a baseline has a bound.
const mostWhole = 2000

// WithNodes completes an inventory by what is known of the Nodes and their Machines.
func WithNodes(inventory Observed[Inventory], nodes Observed[[]Node], machines Observed[Machines]) Observed[Inventory] {
	made, known := inventory.Get()
	if !known {
		return inventory
	}
	seen, known := nodes.Get()
	switch {
	case !known:
		return Unknown[Inventory](nodes.Why())
	case machines.IsUnknown():
		return Unknown[Inventory](machines.Why())
	}
	machineOf := map[string]string{}
	for _, machine := range machines.Value().Machines {
		machineOf[machine.NodeName] = machine.UID
	}
	made.Version, made.Nodes, made.Routes = InventoryVersion, make([]NodeRecord, 0, len(seen)), 0
	for _, node := range seen {
		record := NodeRecord{Name: node.Name, UID: node.UID, Addresses: node.Addresses, ProviderID: node.ProviderID,
			Labels: node.Labels, PodCIDRs: node.PodCIDRs, Routed: node.Routed, Machine: machineOf[node.Name]}
		if len(seen) > mostWhole {
			record.Labels = only(node.Labels, isCloudLabel)
		}
		if node.Routed {
			made.Routes++
		}
		made.Nodes = append(made.Nodes, record)
	}
	if len(made.LoadBalancers) > mostWhole {
		made.LoadBalancers = slices.Clone(made.LoadBalancers)
		for at, balancer := range made.LoadBalancers {
			made.LoadBalancers[at].Annotations = only(balancer.Annotations, isBalancerAnnotation)
		}
	}
	return Known(made)
}

func only(from map[string]string, wanted func(string) bool) map[string]string {
	kept := map[string]string{}
	for key, value := range from {
		if wanted(key) {
			kept[key] = value
		}
	}
	return kept
}

// isCloudLabel: these are the labels that the CCM's loop cloud-node writes.
// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/controllers/node/node_controller.go (getNodeModifiersFromCloudProvider)
func isCloudLabel(key string) bool {
	switch key {
	case "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "node.kubernetes.io/instance-type",
		"failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region", "beta.kubernetes.io/instance-type":
		return true
	}
	return false
}

// isBalancerAnnotation: by such keys a provider is told what load balancer to make, as in
// service.beta.kubernetes.io/aws-load-balancer-type and loadbalancer.openstack.org/flavor-id.
func isBalancerAnnotation(key string) bool {
	return strings.Contains(strings.ReplaceAll(strings.ToLower(key), "-", ""), "loadbalancer")
}

func orNothing(addresses []string) string {
	if len(addresses) == 0 {
		return "no address"
	}
	return strings.Join(addresses, ", ")
}
