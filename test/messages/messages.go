package messages

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Named are the objects that a message names as Ref.String writes them, in their order, each once. Words that only look like the
// name of a Node, as in "every Node is Ready", are none.
func Named(message string) []string {
	words := strings.Fields("and are as at before by can cannot does for from has in is keeps name of on or otherwise shows that " +
		"to up was where which with without")
	named := regexp.MustCompile(`\b([A-Z][A-Za-z]+) (?:([a-z0-9][-a-z0-9]*)/)?([a-z0-9](?:[-.:a-z0-9]*[a-z0-9])?)`)
	var names []string
	for _, match := range named.FindAllStringSubmatch(message, -1) {
		clusterScoped := slices.Contains([]string{"CSIDriver", "Node", "PersistentVolume", "StorageClass"}, match[1])
		named := match[2] != "" && match[1] != "Apply" || clusterScoped && !slices.Contains(words, match[3])
		if named && !slices.Contains(names, match[0]) {
			names = append(names, match[0])
		}
	}
	return names
}

// Unnamed is an error when a message names objects that are not there as data, or in another order.
func Unnamed(message string, objects []observation.Ref) error {
	named := Named(message)
	carried := slices.DeleteFunc(observation.RefNames(objects), func(name string) bool { return !slices.Contains(named, name) })
	if !slices.Equal(named, carried) {
		return fmt.Errorf("the message names %q, and carries %q: %s", named, observation.RefNames(objects), message)
	}
	return nil
}

// UnnamedIn asks the messages of a decision.
func UnnamedIn(failure *outcome.Failure, wait *outcome.Wait) error {
	if failure != nil {
		if err := Unnamed(failure.Message, failure.Objects); err != nil {
			return err
		}
	}
	if wait != nil && !wait.Unknown { // Why one could not look is told by errors of others.
		return Unnamed(wait.Message, wait.Objects)
	}
	return nil
}

// Said are parts of a message as others wrote them, with what they name.
func Said(parts ...string) []observation.Text {
	var texts []observation.Text
	for _, part := range parts {
		text := observation.Say(part)
		for _, name := range Named(part) {
			ref, _ := observation.ParseRef(name)
			text = text.About(ref)
		}
		texts = append(texts, text)
	}
	return texts
}
