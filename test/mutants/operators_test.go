package main

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// functionOf parses a function f with this body.
func functionOf(t *testing.T, body string) *function {
	t.Helper()
	text := "package p\n\nfunc f(a, b, c bool, n int) bool {\n" + body + "\n}\n"
	functions, err := parseSource(token.NewFileSet(), "f.go", text)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return functions[0]
}

// broken returns the body of the function when it is broken, without line breaks.
func brokenBody(t *testing.T, f *function, how operator) string {
	t.Helper()
	g := NewWithT(t)
	edits, err := how.place(f)
	g.Expect(err).NotTo(HaveOccurred())
	text := f.in.edited(f.decl.Body.Lbrace+1, f.decl.Body.Rbrace, edits)
	_, err = parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {\n"+text+"\n}", 0)
	g.Expect(err).NotTo(HaveOccurred())
	return strings.Join(strings.Fields(text), " ")
}

func TestOperatorsThatBreakConditions(t *testing.T) {
	tests := map[string]struct {
		body string
		how  operator
		want string
	}{
		"always makes the condition of an if true": {
			"if a && b { return c }; return n > 0", always("b"), "if true || (a && b) { return c }; return n > 0",
		},
		"a name in the statement of an if counts as its condition's": {
			"if d := g(); d { return a }; return b", never("g"), "if d := g(); false && (d) { return a }; return b",
		},
		"never makes a case false": {
			"switch { case a: return b; case n > 0: return c }; return a", never("n"),
			"switch { case a: return b; case false && (n > 0): return c }; return a",
		},
		"what a function of truth returns is a condition": {"return a", always("a"), "return true || (a)"},
		"what a function within returns is one of its own": {
			"return a && g(func(x int) bool { return x == n })", never("x"),
			"return a && g(func(x int) bool { return false && (x == n) })",
		},
		"the condition of a loop is one": {
			"for n > 1 { n-- }; return a", never("1"), "for false && (n > 1) { n-- }; return a",
		},
		"a truth that is passed is one": {"return g(a, !b)", always("b"), "return g(a, true || (!b))"},
		"a condition in a type of its own is whole": {
			"x := T{V: a && b}; return x.V", never("b"), "x := T{V: false && (a && b)}; return x.V",
		},
		"a loop without a condition has none": {
			"for { return a }", always("a"), "for { return true || (a) }",
		},
		"the else of an if has a condition": {
			"if a { return b } else if c { return a }; return b && a", never("c"),
			"if a { return b } else if false && (c) { return a }; return b && a",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(brokenBody(t, functionOf(t, test.body), test.how)).To(Equal(test.want))
		})
	}
}

func TestOperatorsThatBreakOperands(t *testing.T) {
	tests := map[string]struct {
		body string
		how  operator
		want string
	}{
		"without drops an operand of and": {
			"return a && b && c", without("b"), "return a && (true || b) && c",
		},
		"without drops an operand of or": {"return a || b", without("b"), "return a || (false && (b))"},
		"without drops the innermost operand that mentions all": {
			"return a && (b || c && n > 1)", without("c n"), "return a && (b || (false && (c && n > 1)))",
		},
		"negated turns an operand round": {"return a && b", negated("b"), "return a && !(b)"},
		"negated turns a whole condition round": {
			"if a { return b }; return c", negated("a"), "if !(a) { return b }; return c",
		},
		"given asks for something else, too": {
			"return a && b", given("b", "n > 0"), "return a && ((b) && n > 0)",
		},
		"or is content with something else": {
			"return a && b", or("b", "n > 0"), "return a && ((b) || n > 0)",
		},
		"either needs one of two": {"return a && b", either("a"), "return (a || b)"},
		"judged puts another operand in the place": {
			"return a && n == 1", judged("n", "c"), "return a && (c)",
		},
		"compared puts another sign": {"return n >= 10", compared("n", ">"), "return n > 10"},
		"against compares with something else": {
			"return n >= 10 && a", against("n", "0"), "return n >= 0 && a",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(brokenBody(t, functionOf(t, test.body), test.how)).To(Equal(test.want))
		})
	}
}

func TestWhatAPlaceMentions(t *testing.T) {
	tests := map[string]struct {
		body string
		how  operator
		want string
	}{
		"a name behind a minus is not mentioned": {
			"if a { return b }; return a || c", never("a -c"), "if false && (a) { return b }; return a || c",
		},
		"a sign is mentioned": {
			"return g(n == 1, n > 1)", never("n >"), "return g(n == 1, false && (n > 1))",
		},
		"a word of a text is mentioned": {
			`return g("the end") && g("the start")`, without("end"),
			`return (true || g("the end")) && g("the start")`,
		},
		"a text is mentioned whatever is between": {
			`return g("leader-elect") && a`, without("leader-elect"), `return (true || g("leader-elect")) && a`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(brokenBody(t, functionOf(t, test.body), test.how)).To(Equal(test.want))
		})
	}
}

func TestOperatorsThatBreakAnythingElse(t *testing.T) {
	tests := map[string]struct {
		body string
		how  operator
		want string
	}{
		"skips leaves a call out": {"g(n); h(); return a", skips("g"), "if false { g(n) }; h(); return a"},
		"skips leaves an assignment out": {
			"n = 1; b = c; return a", skips("n"), "if false { n = 1 }; b = c; return a",
		},
		"skips looks into cases": {
			"switch { case a: g() }; return b", skips("g"), "switch { case a: if false { g() } }; return b",
		},
		"defers puts a call off":         {"g(n); return a", defers("g"), "defer g(n); return a"},
		"does puts another statement":    {"n = 1; return a", does("n", "n = 2"), "n = 2; return a"},
		"goesOn puts a statement behind": {"n = 1; return a", goesOn("n", "n++"), "n = 1 n++; return a"},
		"begins puts statements first":   {"return a", begins("n = 2"), "n = 2 return a"},
		"returns returns something else": {
			"if a { return g(n) }; return b", returns("g", "c"),
			"if a { if true { return c } return g(n) }; return b",
		},
		"instead puts something for a call": {"return g(h(n))", instead("h", "n"), "return g(n)"},
		"lacks drops the last element":      {"return g([]bool{a, b})", lacks("b"), "return g([]bool{a})"},
		"lacks drops the first element":     {"return g([]bool{a, b})", lacks("a"), "return g([]bool{b})"},
		"lacks drops the only argument":     {"return g(a)", lacks("a"), "return g()"},
		"lacks drops one of a case": {
			"switch n { case 1, 2: return a }; return b", lacks("1"), "switch n { case 2: return a }; return b",
		},
		"becomes gives another value to a field": {
			"return g(T{V: a, W: b})", becomes("W", "c"), "return g(T{V: a, W: c})",
		},
		"becomes gives another value": {"n = 1; return a", becomes("n", "2"), "n = 2; return a"},
		"becomes gives one of two other values": {
			"a, n = b, 1; return a", becomes("n", "2"), "a, n = b, 2; return a",
		},
		"becomes is for another case": {
			"switch n { case 1: return a }; return b", becomes("1", "7"), "switch n { case 7: return a }; return b",
		},
		"ranges goes over a part": {
			"for range g(n) { h() }; return a", ranges("h", "[:1]"), "for range g(n)[:1] { h() }; return a",
		},
		"swaps exchanges sides":           {"return g(n-1)", swaps("n"), "return g(1-n)"},
		"drops leaves the right side out": {"return g(n - len(x))", drops("x"), "return g(n)"},
		"drops leaves the left side out":  {"return g(n - len(x))", drops("n"), "return g(len(x))"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(brokenBody(t, functionOf(t, test.body), test.how)).To(Equal(test.want))
		})
	}
}
