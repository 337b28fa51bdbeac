package migration

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// Digest identifies an inventory whose lists are sorted: sha256 over its JSON form, in hex.
func (i Inventory) Digest() string {
	data, err := json.Marshal(i)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// differences names what of the baseline is not as it was. What its owner deleted since is not a difference, and what a
// person accepted is none either.
func (i Inventory) differences(now Inventory, accepted []string) []string {
	var differences []string
	for _, before := range i.LoadBalancers {
		at := slices.IndexFunc(now.LoadBalancers, func(lb LoadBalancer) bool { return lb.UID == before.UID })
		name := "Service " + before.Namespace + "/" + before.Name
		if at < 0 || len(before.Ingress) == 0 || slices.Contains(accepted, name) {
			continue
		}
		if after := now.LoadBalancers[at]; !slices.Equal(before.Ingress, after.Ingress) {
			differences = append(differences, name+" had "+strings.Join(before.Ingress, ", ")+" and has "+orNothing(after.Ingress))
		}
	}
	for _, before := range i.Volumes {
		at := slices.IndexFunc(now.Volumes, func(v Volume) bool { return v.UID == before.UID })
		name := "PersistentVolume " + before.Name
		if at < 0 || slices.Contains(accepted, name) {
			continue
		}
		if after := now.Volumes[at]; after.Phase != before.Phase && (after.Phase == "Lost" || after.Phase == "Failed") {
			differences = append(differences, name+" was "+before.Phase+" and is "+after.Phase)
		}
	}
	return differences
}

func orNothing(addresses []string) string {
	if len(addresses) == 0 {
		return "no address"
	}
	return strings.Join(addresses, ", ")
}
