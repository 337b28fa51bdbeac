package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// outputFlag explains the formats of write.
const outputFlag = "Format: text, json or yaml."

// checkOutput is for what takes long before it writes.
func checkOutput(format string, more ...string) error {
	if known := append([]string{"text", "json", "yaml"}, more...); !slices.Contains(known, format) {
		return usageError(fmt.Errorf("--output is %q; it is one of %s", format, strings.Join(known, ", ")))
	}
	return nil
}

// write prints a value in the format that was asked for; text prints it for people.
func write(w io.Writer, format string, value any, text func(io.Writer) error) error {
	switch format {
	case "text":
		out := &bytes.Buffer{}
		if err := text(out); err != nil {
			return err
		}
		_, err := io.WriteString(w, printable(out.String()))
		return err
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(value)
	case "yaml":
		data, err := yaml.Marshal(value)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	}
	return checkOutput(format)
}

// printable leaves out control characters, but for the colours that paint uses: events and annotations of a user cluster are written by
// its tenants, and a terminal obeys them (the flaw of kubectl: https://github.com/kubernetes/kubernetes/issues/101695).
func printable(text string) string {
	return regexp.MustCompile(`\x1b\[(?:[0-2]|3[236]|1;31)m|[\x00-\x08\x0b-\x1f\x7f-\x{9f}]`).ReplaceAllStringFunc(text, func(found string) string {
		if len(found) > 2 {
			return found
		}
		return ""
	})
}

// at is a time for people.
func at(t *metav1.Time) string {
	if t.IsZero() {
		return "not yet"
	}
	return t.UTC().Format(time.RFC3339)
}
