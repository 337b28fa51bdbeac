package architecture_test

import (
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// The table of deputies is complete when every text of the spec that a person writes freely is in it: the CRD knows them, which
// is what the API server goes by.
func TestWhatAClusterCanNameIsInTheTable(t *testing.T) {
	g, root := NewWithT(t), os.DirFS("../..")
	document, err := fs.ReadFile(root, "docs/security.md")
	g.Expect(err).NotTo(HaveOccurred())
	text, err := fs.ReadFile(root, "config/crd/bases/usercluster.k8c.io_clusters.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	crd := &apiextensionsv1.CustomResourceDefinition{}
	g.Expect(yaml.Unmarshal(text, crd)).To(Succeed())
	names := freeTexts(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"], "")
	g.Expect(len(names)).To(BeNumerically(">", 20), "they were found")
	known := map[string]bool{}
	for _, s := range loaded(t, root) {
		maps.Copy(known, testsOf(s))
	}
	g.Expect(gaps(append(names, "metadata.name"), string(document), known)).To(BeEmpty())
}

func TestTheTableOfDeputiesObjects(t *testing.T) {
	for name, tc := range map[string]struct {
		document string
		want     []string
	}{
		"a field with a test":         {"| `a.name`, `b[]` | read | x | `TestA` |\n", nil},
		"a field that is not there":   {"| `a.name` | read | x | `TestA` |\n", []string{"spec.b[] is not in the table"}},
		"a row without a test":        {"| `a.name`, `b[]` | read | x | none |\n", []string{"the row of a.name names no test"}},
		"a test that does not exist":  {"| `a.name`, `b[]` | read | x | `TestB` |\n", []string{"TestB does not exist"}},
		"a field that does not exist": {"| `a.name`, `b[]`, `c` | read | x | `TestA` |\n", []string{"the spec has no text c"}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(gaps([]string{"a.name", "b[]"}, tc.document, map[string]bool{"TestA": true})).To(Equal(tc.want))
		})
	}
}

func TestFreeTextsAreThoseThatAPersonWrites(t *testing.T) {
	object := func(properties map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: properties}
	}
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	schema := object(map[string]apiextensionsv1.JSONSchemaProps{
		"name":   text,
		"number": {Type: "integer"},
		"either": {XIntOrString: true},
		"at":     {Type: "string", Format: "date-time"},
		"word": {
			Type: "string",
			Enum: []apiextensionsv1.JSON{{Raw: []byte(`"A"`)}},
		},
		"ref":  object(map[string]apiextensionsv1.JSONSchemaProps{"key": text}),
		"list": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &text}},
		"map":  {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &text}},
	})
	NewWithT(t).Expect(freeTexts(schema, "")).To(ConsistOf("name", "either", "ref.key", "list[]", "map{}"))
}

// freeTexts are the fields that hold a text which is no word of a list and no time.
func freeTexts(schema apiextensionsv1.JSONSchemaProps, path string) (found []string) {
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		found = append(found, freeTexts(schema.Properties[name], strings.TrimPrefix(path+"."+name, "."))...)
	}
	if schema.Items != nil {
		found = append(found, freeTexts(*schema.Items.Schema, path+"[]")...)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		found = append(found, freeTexts(*schema.AdditionalProperties.Schema, path+"{}")...)
	}
	if schema.XIntOrString || schema.Type == "string" && len(schema.Enum) == 0 && schema.Format != "date-time" {
		found = append(found, path)
	}
	return found
}

// gaps of the table.
func gaps(names []string, document string, known map[string]bool) (objections []string) {
	missing := map[string]bool{}
	for _, name := range names {
		missing[name] = true
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?) \\| .* \\| (.*?) \\|$").FindAllStringSubmatch(document, -1) {
		fields, tests := regexp.MustCompile(`[\w.\[\]{}]+`).FindAllString(
			row[1],
			-1,
		), regexp.MustCompile(`\bTest\w+`).FindAllString(
			row[2],
			-1,
		)
		for _, field := range fields {
			if !slices.Contains(names, field) {
				objections = append(objections, "the spec has no text "+field)
			}
			delete(missing, field)
		}
		if len(tests) == 0 {
			objections = append(objections, "the row of "+fields[0]+" names no test")
		}
		for _, test := range tests {
			if !known[test] {
				objections = append(objections, test+" does not exist")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		objections = append(objections, "spec."+name+" is not in the table")
	}
	return objections
}
