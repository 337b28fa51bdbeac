package main

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestTablesAreWrittenBetweenTheirMarks(t *testing.T) {
	g := NewWithT(t)
	page := filepath.Join(t.TempDir(), "page.md")
	const old = "a\n<!-- generated: one -->\nold\n<!-- /generated -->\nb\n<!-- generated: two -->\n<!-- /generated -->\n"
	g.Expect(os.WriteFile(page, []byte(old), 0o600)).To(Succeed())

	tables := map[string]string{"one": "| new |\n", "two": "| 2 |\n"}
	got, err := filled(page, tables)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal("a\n<!-- generated: one -->\n| new |\n<!-- /generated -->\nb\n" +
		"<!-- generated: two -->\n| 2 |\n<!-- /generated -->\n"))

	g.Expect(os.WriteFile(page, []byte(got), 0o600)).To(Succeed())
	again, err := filled(page, tables)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(got), "written twice, it is the same")
}

func TestAPageWithoutAPlaceForItsTableIsRefused(t *testing.T) {
	for name, text := range map[string]string{"without marks": "a\nb", "without an end": "a\n<!-- generated: one -->\nold"} {
		t.Run(name, func(t *testing.T) {
			_, err := between(text, "one", "new\n")
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring("no place for a generated table")))
		})
	}
}
