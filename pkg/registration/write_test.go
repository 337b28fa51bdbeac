package registration

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

// What others wrote stands in comments and values: it must not become a field.
func TestNoTextBecomesAField(t *testing.T) {
	for name, text := range map[string]string{
		"a line":                      "no\nspec: {features: {externalCloudProvider: true}}",
		"a carriage return":           "no\rspec: {features: {externalCloudProvider: true}}",
		"another separator of lines":  "no\u2028spec: {features: {externalCloudProvider: true}}",
		"a next line":                 "no\u0085spec: {features: {externalCloudProvider: true}}",
		"the end of a document":       "no\n---\nkind: Secret",
		"a color of a terminal":       "no\x1b[31mred",
		"what YAML takes for no text": "true",
		"a number":                    "1.25",
		"quotes":                      `a"b'c`,
		"a colon":                     "a: b",
		"a comment":                   "a #b",
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			made := Proposal{Subject: text, Warnings: []string{text}}
			made.add(
				Field{Path: "metadata.name", Value: text, From: text, Check: text},
				Field{Path: "spec.version", From: text, Check: text},
			)
			made.add(switchedOff()...)
			document, err := made.YAML()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(document).NotTo(ContainSubstring("\x1b"))
			got := map[string]any{}
			g.Expect(yaml.UnmarshalStrict([]byte(document), &got)).To(Succeed(), document)
			g.Expect(got).To(Equal(made.Manifest()), document)
			g.Expect(got["metadata"]).To(Equal(map[string]any{"name": text}))
		})
	}
}

func TestCommentsAreWrapped(t *testing.T) {
	g := NewWithT(t)
	made := Proposal{Subject: "a"}
	made.add(Field{Path: "a.b.c", Value: "d", From: strings.Repeat("word ", 40), Check: strings.Repeat("x", 200)})
	document, err := made.YAML()
	g.Expect(err).NotTo(HaveOccurred())
	for line := range strings.SplitSeq(document, "\n") {
		g.Expect(len(line) <= width || strings.HasSuffix(line, strings.Repeat("x", 200))).To(BeTrue(), line)
	}
	g.Expect(document).To(ContainSubstring("\n    #       word word"))
}

func TestAParentWithoutKnownFieldsIsAComment(t *testing.T) {
	g := NewWithT(t)
	made := Proposal{Subject: "a"}
	made.add(Field{Path: "spec.cloud.name", From: "no one.", Check: "it."}, Field{Path: "spec.mode", Value: "PlanOnly", From: "us."})
	document, err := made.YAML()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(document).To(HaveSuffix("spec:\n  # cloud:\n    # Missing: no one.\n    # Fill in: it.\n    # name:\n  # From: us.\n" +
		"  mode: PlanOnly\n"))
	g.Expect(made.Missing()).To(Equal([]string{"spec.cloud.name"}))
}
