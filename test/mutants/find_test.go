package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
)

func TestWhatIsNotFoundOnceIsAnError(t *testing.T) {
	tests := map[string]struct {
		body string
		how  operator
		want string
	}{
		"a name that no place mentions, with the places that there are": {
			"if a { return b }; return c", never("n"),
			"never(\"n\"): no place in f mentions this; there are:\n\tline 4: a\n\tline 4: b\n\tline 4: c",
		},
		"a name that two places mention, with both": {
			"if a && b { return b }; return c", never("b"),
			"never(\"b\"): 2 places in f mention this; name more of what only the right one mentions:" +
				"\n\tline 4: a && b\n\tline 4: b",
		},
		"a function without a place": {
			"return g(a)", without("a"), "without(\"a\"): nothing in f can be broken like that",
		},
		"a long place is cut off": {
			"return g(n, \"" + "0123456789012345678901234567890123456789012345678901234567890123456789" +
				"012345678901234567890123456789\") && c", never("x"), "\n\tline 4: g(n, \"",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := test.how.place(functionOf(t, test.body))
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

func TestAFunctionIsFoundInWhateverFile(t *testing.T) {
	g := NewWithT(t)
	root := t.TempDir()
	for name, text := range map[string]string{
		"one.go":      "package p\n\nfunc f() {}\n",
		"two.go":      "package p\n\nfunc (t *T) f() {}\n\nfunc (g G[V]) h() {}\n",
		"two_test.go": "package p\n\nfunc tested() {}\n",
	} {
		g.Expect(os.MkdirAll(filepath.Join(root, "p"), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(root, "p", name), []byte(text), 0o600)).To(Succeed())
	}
	all := newPackages(root)
	for name, file := range map[string]string{"f": "one.go", "T.f": "two.go", "G.h": "two.go"} {
		f, err := all.find("p", name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(filepath.Base(f.in.path)).To(Equal(file))
	}
	_, err := all.find("p", "tested")
	g.Expect(err).To(MatchError("package p has no function tested"))
	_, err = all.find("p", "Old.h")
	g.Expect(err).To(MatchError("package p has no function Old.h, but G.h"))
	_, err = mutant{name: "x", folder: "p", faults: []fault{{"T.f", never("a")}}}.find(all)
	g.Expect(err).To(MatchError(`mutant "x": never("a"): nothing in T.f can be broken like that`))
}

func TestEveryMutantFindsItsFunction(t *testing.T) {
	all := newPackages(filepath.Join("..", ".."))
	names := map[string]bool{}
	for _, m := range mutants() {
		t.Run(m.name, func(t *testing.T) {
			g := NewWithT(t)
			breakages, err := m.find(all)
			g.Expect(err).NotTo(HaveOccurred())
			for _, b := range breakages {
				decl := b.function.decl
				g.Expect(b.function.in.edited(decl.Pos(), decl.End(), b.edits)).NotTo(Equal(b.function.in.textOf(decl)))
			}
			g.Expect(m.packages).NotTo(BeEmpty())
			g.Expect(names[m.name]).To(BeFalse(), "two mutants have this name")
			names[m.name] = true
		})
	}
}

// CI runs one mutant in 20: one that no longer compiles is found by this test with the change that broke it.
func TestEveryMutantCompiles(t *testing.T) {
	g := NewWithT(t)
	root, err := filepath.Abs(filepath.Join("..", ".."))
	g.Expect(err).NotTo(HaveOccurred())
	all := mutants()
	var folders []string
	for _, m := range all {
		folders = append(folders, m.folder)
	}
	slices.Sort(folders)
	broken := findAll(root, all, make([]result, len(all)))
	refused, err := build(t.Context(), root, t.TempDir(), broken, "build", packagesIn(slices.Compact(folders)))
	g.Expect(err).NotTo(HaveOccurred())
	for number, why := range refused {
		t.Errorf("%s: %s", all[number-1].name, why)
	}
}
