package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

const (
	module      = "github.com/ccm-migration/ccm-migration-controller/"
	budgetsFile = "hack/test-budgets.txt"
)

// errNotGood ends the command with a failure after everything was said.
var errNotGood = errors.New("not good")

func main() {
	err := run(os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, errNotGood) {
		fmt.Fprintln(os.Stderr, "testreport:", err)
	}
	if err != nil {
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	switch {
	case len(args) == 3 && args[0] == "count" && slices.Contains(tiers(), tier(args[1])):
		return count(tier(args[1]), args[2], out)
	case len(args) == 2 && args[0] == "names":
		return printNames(args[1], out)
	case len(args) == 4 && args[0] == "lost":
		return printLost(args[1], args[2], args[3], out)
	}
	return errors.New("usage: testreport count unit|test|all RUN | names RUN | lost OLD NEW MOVED")
}

// count prints the report. The closing line comes last whatever else is wrong, and stands in the file closing of the
// run, too.
func count(of tier, folder string, out io.Writer) error {
	tests := map[string]outcome{}
	r, err := readRun(folder)
	if err != nil {
		tests["the run: it cannot be read: "+err.Error()] = failed
	} else {
		tests = r.tests()
		maps.Copy(tests, r.compare(of, out))
	}
	printFailures(out, tests)
	closing := closingLine(tests)
	_, _ = fmt.Fprintf(out, "\n%s\n", closing)
	if err := os.WriteFile(filepath.Join(folder, "closing"), []byte(closing+"\n"), 0o644); err != nil {
		return err
	}
	if number(tests, failed) > 0 {
		return errNotGood
	}
	return nil
}

// compare prints what the run took, and returns what that fails. There is nothing to compare in a run that did not begin.
func (r *testRun) compare(of tier, out io.Writer) map[string]outcome {
	if len(r.plan) == 0 {
		return nil
	}
	b, err := readBudgets(r.plan, of)
	if err != nil {
		return map[string]outcome{budgetsFile + ": " + err.Error(): failed}
	}
	lines := r.spent(b, of)
	printBudgets(out, r, lines, b.of(totalBudget, of))
	failures := r.empty(b, of)
	if of == tierAll {
		maps.Copy(failures, excess(lines))
	}
	return failures
}

func readBudgets(plan []string, of tier) (budgets, error) {
	content, err := os.ReadFile(budgetsFile)
	if err != nil {
		return nil, err
	}
	b, err := parseBudgets(string(content))
	if err != nil {
		return nil, err
	}
	return b, b.check(os.DirFS("."), plan, of)
}
