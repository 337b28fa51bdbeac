package migration

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// RefsIn finds the objects that a message names as Ref.String writes them, in their order. Words that only look like the
// name of a Node, as in "every Node is Ready", are none.
func RefsIn(message string) []observation.Ref {
	words := strings.Fields("and are as at by does for from has in is of on or shows that to was which with without")
	named := regexp.MustCompile(`\b([A-Z][A-Za-z]+) (?:([a-z0-9][-a-z0-9]*)/)?([a-z0-9](?:[-.a-z0-9]*[a-z0-9])?)`)
	var refs []observation.Ref
	for _, match := range named.FindAllStringSubmatch(message, -1) {
		if namespaced := match[2] != ""; namespaced || (clusterScoped(match[1]) && !slices.Contains(words, match[3])) {
			refs = append(refs, observation.Ref{Kind: match[1], Namespace: match[2], Name: match[3]})
		}
	}
	return refs
}

func clusterScoped(kind string) bool {
	switch kind {
	case "CSIDriver", "Node", "PersistentVolume", "StorageClass":
		return true
	}
	return false
}
