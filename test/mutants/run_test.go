package main

import (
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestEveryMutantFindsItsText(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutants() {
		t.Run(m.name, func(t *testing.T) {
			g := NewWithT(t)
			changed, err := m.apply(filepath.Join("..", "..", m.file))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(changed).To(ContainSubstring(m.new))
			g.Expect(m.old).NotTo(Equal(m.new))
			g.Expect(m.packages).NotTo(BeEmpty())
			g.Expect(names[m.name]).To(BeFalse(), "two mutants have this name")
			names[m.name] = true
		})
	}
}

func TestATextThatIsNotThereIsAnError(t *testing.T) {
	g := NewWithT(t)
	_, err := mutant{name: "x", file: "doc.go", old: "no such " + "text"}.apply("doc.go")
	g.Expect(err).To(MatchError(ContainSubstring("doc.go has 0 times the text of mutant \"x\"")))
}

func TestFailedTest(t *testing.T) {
	tests := map[string]struct{ output, want string }{
		"the first failed test is named": {output: "x\n--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/b", want: "TestA"},
		"a panic is named":               {output: "panic: oh", want: "panic"},
		"anything else is a failure":     {output: "exit 1", want: "failed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(failedTest(test.output)).To(Equal(test.want))
		})
	}
}
