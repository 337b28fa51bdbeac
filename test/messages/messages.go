package messages

import (
	"cmp"
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

// Check asks the messages of a decision: for what they name, and for their style.
func Check(failure *outcome.Failure, wait *outcome.Wait, others ...string) error {
	if failure != nil {
		if err := cmp.Or(Unnamed(failure.Message, failure.Objects), style(failure.Message)); err != nil {
			return err
		}
	}
	if wait != nil {
		err := style(wait.Message)
		if !wait.Unknown { // What errors of others name is no data of ours.
			err = cmp.Or(Unnamed(wait.Message, wait.Objects), err)
		}
		if err != nil {
			return err
		}
	}
	for _, message := range others {
		if err := style(message); message != "" && err != nil {
			return err
		}
	}
	return nil
}

// style is an error when a message breaks docs/style.md: at most two sentences, which begin with a capital letter or a name and
// end with a period. Words that are banned everywhere are banned here (TestWordsThatAreNotOurs).
func style(message string) error {
	between := regexp.MustCompile(`[.!?]\)?\s+["'(]?\p{Lu}`)
	begins := regexp.MustCompile(`^(\p{Lu}|spec\.|minReadySeconds |system:)`)
	banned := regexp.MustCompile(`(?i)\b(undo|that of|is it)\b`)
	longest := 1000 // A condition is read in a terminal.
	switch {
	case len(between.FindAllString(message, -1)) > 1:
		return fmt.Errorf("the message has more than two sentences: %s", message)
	case !begins.MatchString(message):
		return fmt.Errorf("the message begins with no capital letter and no name: %s", message)
	case !strings.HasSuffix(message, ".") || strings.HasSuffix(message, ".."):
		return fmt.Errorf("the message does not end with one period: %s", message)
	case banned.MatchString(message):
		return fmt.Errorf("the message has %q in it: %s", banned.FindString(message), message)
	case len(message) > longest:
		return fmt.Errorf("the message has %d bytes, more than %d: %s", len(message), longest, message)
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
