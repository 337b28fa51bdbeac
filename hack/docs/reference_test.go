package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const referenceFile = "../../docs/api.md"

func TestTheReferenceHasEveryKindAndField(t *testing.T) {
	g := NewWithT(t)
	text, err := os.ReadFile(referenceFile)
	g.Expect(err).NotTo(HaveOccurred())
	paths, err := filepath.Glob("../../config/crd/bases/*.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(paths).NotTo(BeEmpty())
	for _, path := range paths {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		data, err := os.ReadFile(path)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(yaml.Unmarshal(data, crd)).To(Succeed())
		t.Run(crd.Spec.Names.Kind, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(string(text)).To(ContainSubstring("\n## " + crd.Spec.Names.Kind + "\n"))
			fields := fieldsOf(crd.Spec.Versions[0].Schema.OpenAPIV3Schema)
			g.Expect(fields).NotTo(BeEmpty())
			for _, f := range fields {
				g.Expect(hasRow(string(text), f)).To(BeTrue(), "field %s: %s", f.name, f.description)
			}
		})
	}
}

// A page that lacks what a field says of itself is found.
func TestARowIsMissed(t *testing.T) {
	const page = "| `name` | string | name of the Secret. | **required** |\n"
	for name, tc := range map[string]struct {
		field field
		want  bool
	}{
		"the same":            {field{"name", "name of\nthe Secret."}, true},
		"another name":        {field{"key", "name of the Secret."}, false},
		"another description": {field{"name", "name of the ConfigMap."}, false},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(hasRow(page, tc.field)).To(Equal(tc.want)) })
	}
}

type field struct{ name, description string }

// fieldsOf a schema and of what is in it. Those of types of Kubernetes are described by Kubernetes.
func fieldsOf(schema *apiextensionsv1.JSONSchemaProps) (fields []field) {
	if schema.Items != nil {
		fields = append(fields, fieldsOf(schema.Items.Schema)...)
	}
	for name := range schema.Properties {
		property := schema.Properties[name]
		switch {
		case name == "apiVersion" || name == "kind" && schema.Properties["metadata"].Type != "" || name == "metadata":
			continue
		case name != "conditions" && !strings.HasSuffix(name, "Selector"):
			fields = append(fields, fieldsOf(&property)...)
		}
		fields = append(fields, field{name, property.Description})
	}
	return fields
}

// hasRow says whether a page has a row for a field with what the field says of itself.
func hasRow(page string, f field) bool {
	description := strings.Join(strings.Fields(f.description), " ")
	description = strings.NewReplacer("<", "&lt;", "|", `\|`).Replace(description)
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "| `"+f.name+"` | ") && strings.Contains(line, " | "+description+" |") {
			return true
		}
	}
	return false
}
