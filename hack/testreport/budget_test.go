package main

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	. "github.com/onsi/gomega"
)

const header = "default 1 1 1\ntotal 3 15 40\n"

func TestBudgetsThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		"total 3 15 40\n":                   "default needs minutes in every tier",
		"default 1 1 1\ntotal 3 15 -\n":     "total needs minutes in every tier",
		header + "pkg/a 1 2\n":              `"pkg/a 1 2" is not a new name`,
		header + "pkg/a 1 2 3\npkg/a 1 2 3": `"pkg/a 1 2 3" is not a new name`,
		header + "pkg/a 1 2 much\n":         `"much" is no number of minutes`,
		header + "pkg/a 1 2 0\n":            `"0" is no number of minutes`,
	} {
		_, err := parseBudgets(text)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)), text)
	}
}

func TestBudgetsForWhatIsNotThere(t *testing.T) {
	root := fstest.MapFS{"pkg/a/a_test.go": {}, "pkg/b/b.go": {}}
	for name, tc := range map[string]struct {
		line, want string
		of         tier
	}{
		"a package with tests":                {line: "pkg/a 1 1 1", of: tierUnit},
		"a package without tests":             {line: "pkg/b 1 1 1", of: tierUnit, want: "pkg/b: there is no such package"},
		"no package":                          {line: "pkg/c 1 1 1", of: tierUnit, want: "pkg/c: there is no such package"},
		"a group of the run":                  {line: "group:mutants - - 4", of: tierAll},
		"a group of another tier":             {line: "group:mutants - - 4", of: tierTest},
		"a group that is in no tier any more": {line: "group:slow - - 4", of: tierAll, want: "group:slow: this tier has no"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			b, err := parseBudgets(header + tc.line)
			g.Expect(err).NotTo(HaveOccurred())
			if err = b.check(root, []string{"unit", "mutants"}, tc.of); tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			}
		})
	}
}

// The real file has to fit the repository, so that a package which moves takes its line with it.
func TestBudgetsOfThisRepository(t *testing.T) {
	g := NewWithT(t)
	content, err := os.ReadFile("../../" + budgetsFile)
	g.Expect(err).NotTo(HaveOccurred())
	b, err := parseBudgets(string(content))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.check(os.DirFS("../.."), nil, "none")).To(Succeed())
}

func TestTimes(t *testing.T) {
	r := &testRun{plan: []string{"unit", "mutants"}, groups: map[string]*group{
		"unit": {ended: true, wall: 200 * time.Second, packages: packages{
			"pkg/fast": {seconds: 1}, "pkg/faster": {seconds: 0.5}, "pkg/over": {seconds: 70}, "pkg/far": {seconds: 91},
			"pkg/patient": {seconds: 100},
		}},
		"mutants": {ended: true, wall: 61 * time.Second},
	}}
	b, err := parseBudgets(header + "pkg/patient 2 2 2\ngroup:mutants - - 1\n")
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())

	var out strings.Builder
	printBudgets(&out, r, r.spent(b, tierAll), b.of(totalBudget, tierAll))
	g.Expect(trimmed(out.String())).To(Equal(trimmed(`
PACKAGE        USED  BUDGET
pkg/patient    1:40  2:00
pkg/far        1:31  1:00    over by half as much again
pkg/over       1:10  1:00    over
group:mutants  1:01  1:00    over
2 others       0:02
sum            5:24          without compiling; packages run side by side

GROUP    TOOK  BUDGET
unit     3:20
mutants  1:01
total    4:21  40:00
`)))
	g.Expect(excess(r.spent(b, tierAll))).To(Equal(map[string]outcome{
		"pkg/far: it took 1:31 of 1:00 minutes: make it faster, or give it more in hack/test-budgets.txt": failed,
	}))
}

// trimmed has no spaces at the ends of lines.
func trimmed(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.Join(lines, "\n")
}
