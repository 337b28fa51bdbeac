package registration

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// width of a line with a comment.
const width = 110

// YAML is the proposal as a document with comments. What is not known stands in comments only, so that the API server refuses a
// Cluster that lacks what it needs, and takes no other value for it.
func (p Proposal) YAML() (string, error) {
	w := &writer{fields: p.Fields}
	w.comment(0, "", p.Subject)
	if p.Refused != "" {
		w.comment(0, "Not proposed: ", p.Refused)
		return w.out.String(), nil
	}
	for _, warning := range p.Warnings {
		w.comment(0, "Warning: ", warning)
	}
	fmt.Fprintf(&w.out, "apiVersion: %s\nkind: Cluster\n", ucv1.GroupVersion())
	for _, field := range p.Fields {
		if err := w.field(field); err != nil {
			return "", err
		}
	}
	return w.out.String(), nil
}

// writer writes fields below their parents.
type writer struct {
	fields []Field
	out    strings.Builder
	// open are the parents of the field that was written last.
	open []string
}

func (w *writer) field(field Field) error {
	path := strings.Split(field.Path, ".")
	parents, name := path[:len(path)-1], path[len(path)-1]
	w.enter(parents)
	depth := len(parents)
	if field.Missing() {
		w.comment(depth, "Missing: ", field.From)
		w.comment(depth, "Fill in: ", field.Check)
		w.comment(depth, "", name+":")
		return nil
	}
	w.comment(depth, "From: ", field.From)
	w.comment(depth, "Check: ", field.Check)
	value, err := scalar(field.Value)
	if err != nil {
		return fmt.Errorf("write %s: %w", field.Path, err)
	}
	fmt.Fprintf(&w.out, "%s%s: %s\n", indent(depth), name, value)
	return nil
}

// enter writes the parents that are not open yet; those without any known field are comments, because null is no object.
func (w *writer) enter(parents []string) {
	shared := 0
	for shared < len(parents) && shared < len(w.open) && parents[shared] == w.open[shared] {
		shared++
	}
	for depth := shared; depth < len(parents); depth++ {
		if w.hasValue(strings.Join(parents[:depth+1], ".") + ".") {
			fmt.Fprintf(&w.out, "%s%s:\n", indent(depth), parents[depth])
		} else {
			w.comment(depth, "", parents[depth]+":")
		}
	}
	w.open = parents
}

func (w *writer) hasValue(prefix string) bool {
	return slices.ContainsFunc(w.fields, func(f Field) bool { return !f.Missing() && strings.HasPrefix(f.Path, prefix) })
}

// comment wraps a text. Others have a say in it, so no character of it may end the line: what follows would be a field.
func (w *writer) comment(depth int, label, text string) {
	words := strings.Fields(printable(text))
	if len(words) == 0 {
		return
	}
	start := indent(depth) + "# "
	line := start + label + words[0]
	for _, word := range words[1:] {
		if len(line)+1+len(word) > width {
			w.out.WriteString(line + "\n")
			line = start + strings.Repeat(" ", len(label)) + word
			continue
		}
		line += " " + word
	}
	w.out.WriteString(line + "\n")
}

func indent(depth int) string { return strings.Repeat("  ", depth) }

// printable leaves out what shows nothing, and takes what separates lines for a space.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsGraphic(r):
			return r
		}
		return -1
	}, text)
}

// scalar is a value on one line. A text of unusual characters is quoted as Go does it, in ASCII: YAML reads the same escapes.
func scalar(value any) (string, error) {
	if text, is := value.(string); is && !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9./-]*$`).MatchString(text) {
		return strconv.QuoteToASCII(text), nil
	}
	written, err := yaml.Marshal(value)
	return strings.TrimSpace(string(written)), err
}
