package main

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestAFunctionHandsOverToItsActiveCopy(t *testing.T) {
	tests := map[string]struct{ declaration, switched, copied string }{
		"a function with results": {
			"func f(a, b int) bool { return a > b }",
			"func f(a, b int) bool { switch activeMutant { case 7: return mutant7f(a, b); }; return a > b }",
			"func mutant7f(a, b int) bool { return true || (a > b) }",
		},
		"a method without results": {
			"func (t *T) f(a int) { if a > 1 { t.g() } }",
			"func (t *T) f(a int) { switch activeMutant { case 7: t.mutant7f(a); return; }; if a > 1 { t.g() } }",
			"func (t *T) mutant7f(a int) { if true || (a > 1) { t.g() } }",
		},
		"any number of arguments": {
			"func f(more ...int) bool { return len(more) > 1 }",
			"func f(more ...int) bool { switch activeMutant { case 7: return mutant7f(more...); }; " +
				"return len(more) > 1 }",
			"func mutant7f(more ...int) bool { return true || (len(more) > 1) }",
		},
		"parameters of types": {
			"func f[K comparable, V any](k K, v V) bool { return g(k) == v }",
			"func f[K comparable, V any](k K, v V) bool { " +
				"switch activeMutant { case 7: return mutant7f[K, V](k, v); }; return g(k) == v }",
			"func mutant7f[K comparable, V any](k K, v V) bool { return true || (g(k) == v) }",
		},
		"parameters without names": {
			"func (T) f(_ int, b bool) bool { return !b }",
			"func (unnamed0 T) f(unnamed1 int, b bool) bool { " +
				"switch activeMutant { case 7: return unnamed0.mutant7f(unnamed1, b); }; return !b }",
			"func (T) mutant7f(_ int, b bool) bool { return true || (!b) }",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			functions, err := parseSource(token.NewFileSet(), "dir/f.go", "package p\n\n"+test.declaration+"\n")
			g.Expect(err).NotTo(HaveOccurred())
			edits, err := always("").place(functions[0])
			g.Expect(err).NotTo(HaveOccurred())
			files := woven(map[int][]breakage{7: {{functions[0], edits}}})
			g.Expect(files).To(HaveLen(2))
			text := files["dir/f.go"]
			_, err = parser.ParseFile(token.NewFileSet(), "", text, parser.AllErrors)
			g.Expect(err).NotTo(HaveOccurred())
			woven, copied, _ := strings.Cut(text, "//line /mutant/7.go:1\n")
			g.Expect(woven).To(ContainSubstring(test.switched))
			g.Expect(strings.TrimSpace(copied)).To(Equal(test.copied))
			g.Expect(files["dir/active_mutant.go"]).To(And(HavePrefix("package p\n"), ContainSubstring(variable)))
		})
	}
}

func TestTwoMutantsOfAFunctionAreApart(t *testing.T) {
	g := NewWithT(t)
	f := functionOf(t, "return a && b")
	broken := map[int][]breakage{}
	for number, how := range map[int]operator{1: without("a"), 2: without("b")} {
		edits, err := how.place(f)
		g.Expect(err).NotTo(HaveOccurred())
		broken[number] = []breakage{{f, edits}}
	}
	text := woven(broken)["f.go"]
	g.Expect(text).To(ContainSubstring("case 1: return mutant1f(a, b, c, n); case 2: return mutant2f(a, b, c, n); "))
	g.Expect(text).To(ContainSubstring("return (true || a) && b"))
	g.Expect(text).To(ContainSubstring("return a && (true || b)"))
}

func TestTwoFaultsOfAMutantAreInOneCopy(t *testing.T) {
	g := NewWithT(t)
	f := functionOf(t, "return a && b && c")
	var both []breakage
	for _, how := range []operator{without("c"), without("a")} {
		edits, err := how.place(f)
		g.Expect(err).NotTo(HaveOccurred())
		both = append(both, breakage{f, edits})
	}
	g.Expect(woven(map[int][]breakage{1: both})["f.go"]).To(ContainSubstring("return (true || a) && b && (true || c)"))
}
