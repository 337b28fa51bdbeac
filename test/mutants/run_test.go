package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// repository writes a module with a rule, and a test that notices when it is broken in one way of two.
func repository(t *testing.T, test string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module example.com/m\n\ngo 1.26\n",
		"rule/rule.go": "package rule\n\nfunc Allowed(age int, known bool) bool { return known && age > 17 }\n",
		"rule/rule_test.go": "package rule\n\nimport (\n\"os\"\n\"testing\"\n)\n\nvar _ = os.Exit\n\n" +
			"func TestAllowed(t *testing.T) {\n" + test + "\n}\n",
	} {
		path := filepath.Join(root, name)
		NewWithT(t).Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
		NewWithT(t).Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
	}
	return root
}

func TestEachMutantGetsAVerdict(t *testing.T) {
	g := NewWithT(t)
	root := repository(t, "if Allowed(1, true) { t.Fatal() }\nif !Allowed(99, true) { os.Exit(2) }")
	results, err := testAll(t.Context(), root, []mutant{
		of("rule", "r", "killed", "Allowed", without("age")),
		of("rule", "r", "survives", "Allowed", without("known")),
		of("rule", "r", "does not compile", "Allowed", judged("age", "old")),
		of("rule", "r", "not found", "Allowed", without("old")),
		of("rule", "r", "ends the program", "Allowed", judged("age", "age > 200")),
	}, 2)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(results[0]).To(Equal(result{killed, "rule.TestAllowed"}))
	g.Expect(results[1]).To(Equal(result{survived, "by rule"}))
	g.Expect(results[2]).To(Equal(result{broken, "does not compile: undefined: old"}))
	g.Expect(results[3].verdict).To(Equal(broken))
	g.Expect(results[3].detail).To(ContainSubstring("no place in Allowed mentions this"))
	g.Expect(results[4]).To(Equal(result{broken, "the tests of rule ended, and none failed: exit status 2"}))
}

func TestTestsThatFailWithoutAMutantProveNothing(t *testing.T) {
	g := NewWithT(t)
	root := repository(t, "t.Fatal(\"always\")")
	results, err := testAll(t.Context(), root, []mutant{of("rule", "r", "a", "Allowed", without("age"))}, 1)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(results[0].verdict).To(Equal(broken))
	g.Expect(results[0].detail).To(HavePrefix("the tests of rule fail without any mutant: TestAllowed"))
}

func TestTestsThatDoNotCompileAreNoVerdict(t *testing.T) {
	g := NewWithT(t)
	root := repository(t, "undefined()")
	_, err := testAll(t.Context(), root, []mutant{of("rule", "r", "a", "Allowed", without("age"))}, 1)
	g.Expect(err).To(MatchError(ContainSubstring("compile the tests")))
}

func TestTheReportCountsWhatWasNotKilled(t *testing.T) {
	g := NewWithT(t)
	some := []mutant{{rule: "r", name: "a"}, {rule: "r", name: "b"}}
	var out strings.Builder
	g.Expect(report(&out, some[:1], []result{{killed, "p.T"}}, 90*time.Second)).To(Succeed())
	g.Expect(out.String()).To(ContainSubstring("1 mutants, 1 killed, in 1m30s"))
	err := report(&out, some, []result{{killed, "p.T"}, {survived, "by p"}}, time.Second)
	g.Expect(err).To(MatchError(ContainSubstring("1 of 2 mutants were not killed, add the test that each needs: b")))
}

func TestLongTestsAreRunAloneAndLast(t *testing.T) {
	g := NewWithT(t)
	took := durations("=== RUN TestA\n--- PASS: TestA (0.10s)\n    --- PASS: TestA/x (9s)\n" +
		"--- PASS: TestLong (70.00s)\n" +
		"--- PASS: TestB (0.00s)\n--- SKIP: TestC (0.00s)\n--- PASS: TestMiddle (2.50s)\nPASS\n")
	g.Expect(batches(took)).To(Equal([]batch{{"TestA", "TestB"}, {"TestMiddle"}, {"TestLong"}}))
	g.Expect(batch{"TestA", "TestB"}.pattern()).To(Equal("^(TestA|TestB)$"))
	g.Expect(batches(map[string]time.Duration{"TestLong": time.Minute})).To(Equal([]batch{{"TestLong"}}))
}

func TestFailedTest(t *testing.T) {
	tests := map[string]struct{ output, want string }{
		"the first failed test is named":  {output: "x\n--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/b", want: "TestA"},
		"a panic is named":                {output: "panic: oh", want: "panic"},
		"a time limit is named":           {output: "panic: test timed out after 10m0s", want: "time limit"},
		"what no test says is no failure": {output: "exit 1", want: ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(failedTest(test.output)).To(Equal(test.want))
		})
	}
}
