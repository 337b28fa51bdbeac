package addons

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// InventoryEntry names one object that we applied to a user cluster. The inventory is written before the objects are
// applied: an object that exists outside it is someone else's.
type InventoryEntry struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// BesideControlPlane says that it is in the namespace of the Cluster, whatever that is: an inventory never reaches into
	// another one.
	BesideControlPlane bool `json:"besideControlPlane,omitempty"`
}

// EncodeInventory writes entries as sorted JSON: the same entries give the same bytes.
func EncodeInventory(entries []InventoryEntry) ([]byte, error) {
	data, err := json.Marshal(Merge(entries))
	if err != nil {
		return nil, fmt.Errorf("encode the inventory: %w", err)
	}
	return data, nil
}

// DecodeInventory reads what EncodeInventory wrote; nothing is an empty inventory.
func DecodeInventory(data []byte) ([]InventoryEntry, error) {
	var entries []InventoryEntry
	if len(data) == 0 {
		return entries, nil
	}
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, fmt.Errorf("decode the inventory: restore the JSON list of objects: %w", err)
	}
	for _, entry := range entries {
		if entry.Version == "" || entry.Kind == "" || entry.Name == "" {
			return nil, fmt.Errorf("decode the inventory: entry %+v lacks its version, kind or name", entry)
		}
	}
	return entries, nil
}

// InventoryOf lists the objects.
func InventoryOf(objects []*unstructured.Unstructured) []InventoryEntry {
	entries := make([]InventoryEntry, 0, len(objects))
	for _, object := range objects {
		entries = append(entries, entryOf(object))
	}
	return Merge(entries)
}

// Merge is the union of the lists, sorted; of entries that differ in version only, the last one stays.
func Merge(lists ...[]InventoryEntry) []InventoryEntry {
	merged := []InventoryEntry{}
	for _, entry := range slices.Concat(lists...) {
		if at := slices.IndexFunc(merged, entry.same); at >= 0 {
			merged[at] = entry
		} else {
			merged = append(merged, entry)
		}
	}
	slices.SortFunc(merged, func(a, b InventoryEntry) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(side(a), side(b)))
	})
	return merged
}

// Subtract is what is in the first list and not in the second, whatever the version.
func Subtract(entries, gone []InventoryEntry) []InventoryEntry {
	return slices.DeleteFunc(Merge(entries), func(entry InventoryEntry) bool { return slices.ContainsFunc(gone, entry.same) })
}

// Ref names the object for people.
func (e InventoryEntry) Ref() observation.Ref {
	return observation.Ref{Kind: e.Kind, Namespace: e.Namespace, Name: e.Name}
}

// same says that both are about one object; an object is the same in every version of its API.
func (e InventoryEntry) same(other InventoryEntry) bool {
	other.Version = e.Version
	return e == other
}

func (e InventoryEntry) object() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: e.Group, Version: e.Version, Kind: e.Kind})
	object.SetNamespace(e.Namespace)
	object.SetName(e.Name)
	return object
}

func entryOf(object *unstructured.Unstructured) InventoryEntry {
	kind := object.GroupVersionKind()
	entry := InventoryEntry{
		Group:     kind.Group,
		Version:   kind.Version,
		Kind:      kind.Kind,
		Namespace: object.GetNamespace(),
		Name:      object.GetName(),
	}
	if entry.BesideControlPlane = manifest.BesideControlPlane(object); entry.BesideControlPlane {
		entry.Namespace = ""
	}
	return entry
}

func side(entry InventoryEntry) int {
	if entry.BesideControlPlane {
		return 1
	}
	return 0
}
