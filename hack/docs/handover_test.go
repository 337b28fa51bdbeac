package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

func twoLines() []migration.LineMeaning {
	return []migration.LineMeaning{{Name: "LoopsOff", Means: "They are off."}, {Name: "Silent", Means: "It is silent."}}
}

func TestTablesOfLinesAreWrittenBetweenTheirMarks(t *testing.T) {
	g := NewWithT(t)
	got, err := fillIn("a\n<!-- generated: lines of Fenced -->\nold\n<!-- /generated -->\nb\n", ucv1.FencedProtocol, twoLines())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal("a\n<!-- generated: lines of Fenced -->\n| # | Line | Holds when |\n|---|---|---|\n" +
		"| 1 | `LoopsOff` | They are off. |\n| 2 | `Silent` | It is silent. |\n<!-- /generated -->\nb\n"))
	again, err := fillIn(got, ucv1.FencedProtocol, twoLines())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(got), "written twice it is the same")
	_, err = fillIn(got, ucv1.SerializedProtocol, twoLines())
	g.Expect(err).To(MatchError(ContainSubstring("no place for the table of protocol Serialized")))
}

func TestPicturesHaveTheLinesOfTheTable(t *testing.T) {
	for name, tc := range map[string]struct {
		picture string
		problem string
	}{
		"the same lines": {picture: " 1 LoopsOff  off\n   a box of 2 rows\n 2 Silent\n"},
		"another number": {picture: " 1 LoopsOff\n 3 Silent\n", problem: "3 Silent"},
		"a missing line": {picture: " 1 LoopsOff\n", problem: "2 Silent"},
		"another order":  {picture: " 1 Silent\n 2 LoopsOff\n", problem: "1 LoopsOff"},
		"no picture":     {problem: "1 LoopsOff"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkPicture("text\n```\n"+tc.picture+"```\n 9 Other\n", twoLines())
			if tc.problem == "" {
				NewWithT(t).Expect(err).NotTo(HaveOccurred())
				return
			}
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.problem)))
		})
	}
}

func TestWrittenTablesAreComparedWithTheCode(t *testing.T) {
	g := NewWithT(t)
	text := "# All\n## Proof\n| Item | Means |\n|---|---|\n| `Lease`, `Nodes` | see `other` |\ntext `none`\n### Next\n| `Late` | |\n"
	g.Expect(column(section(text, "Proof"), 1)).To(Equal([]string{"Lease", "Nodes"}))
	g.Expect(column(section(text, "Proof"), 2)).To(Equal([]string{"other"}))
	g.Expect(sameNames([]string{"Nodes", "Lease", "Lease"}, []string{"Lease", "Nodes"})).To(Succeed())
	g.Expect(sameNames([]string{"Lease"}, []string{"Lease", "Nodes"})).To(MatchError(ContainSubstring("Nodes")))
}

func TestReasonsAndMessagesOfLinesAreThoseOfTheCode(t *testing.T) {
	t.Chdir("../..")
	s := &sources{groups: []group{{constants: []constant{{"LateReason", "Late", ""}, {"EarlyCondition", "Early", ""}}}}}
	for name, tc := range map[string]struct{ row, problem string }{
		"as in the code":      {row: "| `Silent` | `Late` | `is held by … known to be silent.` |\n"},
		"in words":            {row: "| `Silent` | `Late` | names the Node |\n"},
		"a condition":         {row: "| `Silent` | `Early` | |\n", problem: "no reason Early"},
		"an invented message": {row: "| `Silent` | `Late` | `is held by … a ghost` |\n", problem: "a ghost"},
	} {
		t.Run(name, func(t *testing.T) {
			err := s.checkWords("## " + linesHeading + "\n" + tc.row)
			if tc.problem == "" {
				NewWithT(t).Expect(err).NotTo(HaveOccurred())
				return
			}
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.problem)))
		})
	}
}

func TestPicturesFitTheScreen(t *testing.T) {
	g := NewWithT(t)
	wide := strings.Repeat("─", pictureWidth)
	g.Expect(checkWidth("```\n" + wide + "\n```\n" + wide + "─\n```sh\n" + wide + "─\n```\n")).To(Succeed())
	g.Expect(checkWidth("```\n" + wide + "─\n```\n")).To(MatchError(ContainSubstring("wider than 100")))
}

func TestItemsOfTheProofAreReadFromTheCode(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "silence.go")
	write := func(text string) {
		g.Expect(os.WriteFile(file, []byte("package migration\n"+text), 0o600)).To(Succeed())
	}

	write(`func proof() { use(Item{Name: "First"}, proofItem("Second", true, "no name"), other("Third")) }
func other() { proofItem("Elsewhere") }`)
	g.Expect(proofItems(file)).To(Equal([]string{"First", "Second"}))

	write("func other() {}")
	_, err := proofItems(file)
	g.Expect(err).To(MatchError(ContainSubstring("names no item")))
}
