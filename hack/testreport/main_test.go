package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestCount(t *testing.T) {
	good := ofGroup(pkgPasses, "unit 4 0\n")
	slow := ofGroup(strings.ReplaceAll(pkgPasses, `"Elapsed":2.5`, `"Elapsed":91`), "unit 95 0\n")
	mutants := files{"plan": "unit\nmutants\n", "groups": "unit 4 0\nmutants 9 0\n", "suites": "", "unit.jsonl": pkgPasses}
	budget := "group:mutants - - 1\n"
	for name, tc := range map[string]struct {
		of       tier
		run      files
		budgets  string
		closing  string
		failures []string
	}{
		"tests that pass": {tierUnit, good, header, "2 passed, 0 failed, 0 skipped", nil},
		"a test that fails": {
			tierUnit, ofGroup(strings.ReplaceAll(pkgPasses, `"pass"`, `"fail"`), "unit 4 1\n"), header,
			"0 passed, 2 failed, 0 skipped", []string{"pkg/a TestA", "pkg/a TestA/one"},
		},
		"a package that is slow fails the last tier":  {tierAll, slow, header, "2 passed, 1 failed, 0 skipped", []string{"pkg/a: it took 1:31"}},
		"a package that is slow fails no other":       {tierTest, slow, header, "2 passed, 0 failed, 0 skipped", nil},
		"a group of go test that left nothing behind": {tierTest, mutants, header, "2 passed, 1 failed, 0 skipped", []string{"group mutants: it ran no package"}},
		"a group that runs another program":           {tierAll, mutants, header + budget, "2 passed, 0 failed, 0 skipped", nil},
		"budgets that cannot be read":                 {tierTest, good, "total 1\n", "2 passed, 1 failed, 0 skipped", []string{"hack/test-budgets.txt: "}},
		"a budget for what is not there":              {tierAll, good, header + budget, "2 passed, 1 failed, 0 skipped", []string{"no such group"}},
		"a run that did not begin":                    {tierAll, files{}, header + budget, "0 passed, 1 failed, 0 skipped", []string{"it did not begin"}},
		"a run that cannot be read":                   {tierAll, ofGroup("none\n", ""), header, "0 passed, 1 failed, 0 skipped", []string{"it cannot be read"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			t.Chdir(files{budgetsFile: tc.budgets}.write(t))
			folder := tc.run.write(t)
			var out strings.Builder
			err := run([]string{"count", string(tc.of), folder}, &out)
			if len(tc.failures) == 0 {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(errNotGood))
			}
			g.Expect(out.String()).To(HaveSuffix("\n" + tc.closing + "\n"))
			g.Expect(os.ReadFile(filepath.Join(folder, "closing"))).To(BeEquivalentTo(tc.closing + "\n"))
			g.Expect(strings.Count(out.String(), "FAILED ")).To(Equal(len(tc.failures)), out.String())
			for _, want := range tc.failures {
				g.Expect(out.String()).To(MatchRegexp("(?m)^FAILED .*" + want))
			}
		})
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"count", "tset", "x"}, {"count", "all"}, {"names"}, {"lost", "a", "b"}} {
		NewWithT(t).Expect(run(args, &strings.Builder{})).To(MatchError(HavePrefix("usage: ")), "%v", args)
	}
}
