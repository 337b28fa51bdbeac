package main

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestNames(t *testing.T) {
	g := NewWithT(t)
	run := ofSuite(suiteRan, strings.Replace(specs, `Suite]" status="passed"`, `Suite]" status="failed"`, 1))
	run["plan"], run["groups"], run["unit.jsonl"] = "unit\ne2e\n", "unit 4 0\ne2e 9 0\n", pkgPasses
	var out strings.Builder
	g.Expect(printNames(run.write(t), &out)).To(Succeed())
	g.Expect(strings.Split(strings.TrimSpace(out.String()), "\n")).To(Equal([]string{
		"pkg/a TestA",
		"pkg/a TestA/one",
		"test/e2e/roll a roll [fast] goes on",
		"test/e2e/roll a roll halts",
	}))
}

func TestLost(t *testing.T) {
	now := []string{"pkg/b TestA", "pkg/b TestNew", "pkg/b TestNew/x"}
	renamed := []string{"pkg/a TestOld\tpkg/b TestNew/x"}
	parent := []string{"pkg/a TestOld\tpkg/b TestNew"}
	toOne, toTwo := []string{"pkg/a\tpkg/b"}, []string{"pkg/a\tpkg/c", "pkg/a\tpkg/b"}
	for name, tc := range map[string]struct {
		old, moved, want []string
		err              string
	}{
		"a test that is still there":           {old: []string{"pkg/b TestA"}},
		"a test that is gone":                  {old: []string{"pkg/a TestA"}, want: []string{"pkg/a TestA"}},
		"a test with a successor":              {old: []string{"pkg/a TestOld"}, moved: renamed},
		"a successor that does not run":        {moved: []string{"pkg/a TestOld\tpkg/b TestNever"}, err: "did not run"},
		"a line without a successor":           {moved: []string{"pkg/a TestOld"}, err: "no old name, tab and new name"},
		"a package that moved":                 {old: []string{"pkg/a TestA"}, moved: toOne},
		"a test that was left behind":          {old: []string{"pkg/a TestC"}, moved: toOne, want: []string{"pkg/a TestC"}},
		"a test of a package that became two":  {old: []string{"pkg/a TestA"}, moved: toTwo},
		"a subtest of a test that was renamed": {old: []string{"pkg/a TestOld/x"}, moved: parent},
		"a subtest that was left behind":       {old: []string{"pkg/a TestOld/y"}, moved: parent, want: []string{"pkg/a TestOld/y"}},
		"a successor of another test":          {old: []string{"pkg/a TestC"}, moved: renamed, want: []string{"pkg/a TestC"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			gone, err := lost(tc.old, now, tc.moved)
			if tc.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(gone).To(Equal(tc.want))
		})
	}
}

func TestListsThatCannotBeRead(t *testing.T) {
	g := NewWithT(t)
	g.Expect(printLost("none", "none", "none", &strings.Builder{})).To(MatchError(ContainSubstring("no such file")))
}
