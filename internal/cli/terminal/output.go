package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Write prints a value in the format that was asked for; text prints it for people.
func Write(w io.Writer, format string, value any, text func(io.Writer) error) error {
	switch format {
	case "text":
		out := &bytes.Buffer{}
		if err := text(out); err != nil {
			return err
		}
		_, err := io.WriteString(w, printable(out.String()))
		return err
	case "json", "yaml":
		return encode(w, format, value)
	}
	return fmt.Errorf("there is no format %s", format)
}

func encode(w io.Writer, format string, value any) error {
	out := &bytes.Buffer{}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	data := []byte(escaped(out.String()))
	if format == "yaml" {
		var err error
		if data, err = yaml.JSONToYAML(data); err != nil {
			return err
		}
	}
	_, err := Output{Writer: w}.Write(data)
	return err
}

// Output prints what is printable. It is for what a user cluster or a spec may have a say in, such as errors.
type Output struct{ io.Writer }

// Write leaves out what is not printable, and says that it wrote all of it.
func (p Output) Write(data []byte) (int, error) {
	if _, err := io.WriteString(p.Writer, printable(string(data))); err != nil {
		return 0, err
	}
	return len(data), nil
}

// printable leaves out control characters, bidirectional marks and all else that shows nothing, but for the colours that paint
// uses: events and annotations of a user cluster are written by its tenants, and a terminal obeys them (the flaw of kubectl:
// https://github.com/kubernetes/kubernetes/issues/101695).
func printable(text string) string {
	colour := regexp.MustCompile(`\x1b\[(?:[0-2]|3[236]|1;31)m`)
	out, from := strings.Builder{}, 0
	for _, at := range append(colour.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		out.WriteString(strings.Map(func(r rune) rune {
			if shows(r) {
				return r
			}
			return -1
		}, text[from:at[0]]))
		out.WriteString(text[at[0]:at[1]])
		from = at[1]
	}
	return out.String()
}

// escaped writes what is not printable in JSON as JSON can: it stands in strings only.
func escaped(document string) string {
	out := strings.Builder{}
	for _, r := range document {
		if shows(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

func shows(r rune) bool { return r == '\n' || r == '\t' || unicode.IsGraphic(r) }

// At is a time for people.
func At(t *metav1.Time) string {
	if t.IsZero() {
		return "not yet"
	}
	return t.UTC().Format(time.RFC3339)
}
