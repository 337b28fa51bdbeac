package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

const chartFolder = "charts/ccm-migration-controller"

// valueSchema is what the table needs of a JSON schema of values.
type valueSchema struct {
	Type        any                    `json:"type"`
	Description string                 `json:"description"`
	Enum        []string               `json:"enum"`
	Properties  map[string]valueSchema `json:"properties"`
}

// chartValues has a row for each value of the chart that has no values inside: what it is, from the schema, and its default.
func chartValues(folder string) (string, error) {
	schema, defaults := valueSchema{}, map[string]any{}
	for file, into := range map[string]any{"values.schema.json": &schema, "values.yaml": &defaults} {
		content, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			return "", err
		}
		if err := yaml.Unmarshal(content, into); err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
	}
	var out strings.Builder
	out.WriteString("| Value | Default | Is |\n|---|---|---|\n")
	err := schema.rows(&out, "", defaults)
	return out.String(), err
}

func (s valueSchema) rows(out *strings.Builder, path string, defaults map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		if name == "global" {
			continue
		}
		value, found := defaults[name]
		if !found {
			return fmt.Errorf("value %s%s has no default", path, name)
		}
		if inside, is := value.(map[string]any); is && len(property.Properties) > 0 {
			if err := property.rows(out, path+name+".", inside); err != nil {
				return err
			}
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if len(text) > 60 {
			text = []byte("see values.yaml")
		}
		description := property.Description
		if len(property.Enum) > 0 {
			description += " One of " + strings.Join(property.Enum, ", ") + "."
		}
		fmt.Fprintf(out, "| `%s%s` | `%s` | %s |\n", path, name, text, description)
	}
	return nil
}
