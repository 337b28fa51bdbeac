package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// outputFlag explains the formats of write.
const outputFlag = "Format: text, json or yaml."

// write prints a value in the format that was asked for; text prints it for people.
func write(w io.Writer, format string, value any, text func(io.Writer) error) error {
	switch format {
	case "text":
		return text(w)
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
	return fmt.Errorf("--output is %q; it is one of text, json, yaml", format)
}

// at is a time for people.
func at(t *metav1.Time) string {
	if t.IsZero() {
		return "not yet"
	}
	return t.UTC().Format(time.RFC3339)
}
