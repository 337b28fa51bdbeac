package provider

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Unknown is a sentence when the catalogue has no provider of a name, with the one that was most likely meant; else it is empty.
func (c *Catalogue) Unknown(name string) string {
	if _, known := c.Lookup(name); known {
		return ""
	}
	sentence := "Provider " + name + " is not in the catalogue, which has " + strings.Join(c.Names(), ", ")
	if meant := c.meant(name); meant != "" {
		return sentence + "; did you mean " + meant + "?"
	}
	return sentence + "."
}

// meant is the provider whose in-tree name it is, such as gcp for gce, else the one that is spelled most like it, with at most
// two letters changed and fewer than half of them; empty: none is.
func (c *Catalogue) meant(name string) string {
	name = strings.ToLower(name)
	meant, least := "", 3
	for _, candidate := range c.Names() {
		if tree := c.profiles[candidate].Describe().InTree; tree != nil && tree.Name == name {
			return candidate
		}
		if apart := levenshtein.ComputeDistance(name, candidate); apart < least && 2*apart < len(candidate) {
			meant, least = candidate, apart
		}
	}
	return meant
}
