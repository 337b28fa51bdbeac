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
	note := func(name, difference string) {
		if difference != "" && !slices.Contains(accepted, name) {
			differences = append(differences, name+" "+difference)
		}
	}
	for _, before := range i.LoadBalancers {
		note("Service "+before.Namespace+"/"+before.Name, before.difference(now.LoadBalancers))
	}
	for _, before := range i.Volumes {
		note("PersistentVolume "+before.Name, before.difference(now.Volumes))
	}
	return differences
}

func (l LoadBalancer) difference(now []LoadBalancer) string {
	at := slices.IndexFunc(now, func(after LoadBalancer) bool { return after.UID == l.UID })
	if at < 0 || len(l.Ingress) == 0 || slices.Equal(l.Ingress, now[at].Ingress) {
		return ""
	}
	return "had " + strings.Join(l.Ingress, ", ") + " and has " + orNothing(now[at].Ingress)
}

func (v Volume) difference(now []Volume) string {
	at := slices.IndexFunc(now, func(after Volume) bool { return after.UID == v.UID })
	if at < 0 || now[at].Phase == v.Phase || (now[at].Phase != "Lost" && now[at].Phase != "Failed") {
		return ""
	}
	return "was " + v.Phase + " and is " + now[at].Phase
}

func orNothing(addresses []string) string {
	if len(addresses) == 0 {
		return "no address"
	}
	return strings.Join(addresses, ", ")
}
