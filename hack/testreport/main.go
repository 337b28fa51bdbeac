package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	case len(args) == 3 && args[0] == "count":
		return count(tier(args[1]), args[2], out)
	case len(args) == 2 && args[0] == "names":
		return printNames(args[1], out)
	case len(args) == 4 && args[0] == "lost":
		return printLost(args[1], args[2], args[3], out)
	}
	return errors.New("usage: testreport count TIER RUN | names RUN | lost OLD NEW MOVED")
}

// count prints the report. The closing line comes last whatever else is wrong, and stands in the file closing of the
// run, too.
func count(of tier, folder string, out io.Writer) error {
	r, err := readRun(folder)
	tests := map[string]outcome{}
	if err == nil {
		tests = r.tests()
	} else {
		tests["the run: it cannot be read: "+err.Error()] = failed
		r = &testRun{}
	}
	printFailures(out, tests)
	inTime, err := compare(r, of, out)
	if err != nil {
		_, _ = fmt.Fprintf(out, "FAILED %s: %v\n", budgetsFile, err)
	}
	closing := closingLine(tests)
	_, _ = fmt.Fprintf(out, "\n%s\n", closing)
	if err := os.WriteFile(filepath.Join(folder, "closing"), []byte(closing+"\n"), 0o644); err != nil {
		return err
	}
	if !inTime || number(tests, failed) > 0 {
		return errNotGood
	}
	return nil
}

// compare returns whether the times of a run let its tier pass.
func compare(r *testRun, of tier, out io.Writer) (bool, error) {
	content, err := os.ReadFile(budgetsFile)
	if err != nil {
		return false, err
	}
	budgets, err := parseBudgets(string(content))
	if err != nil {
		return false, err
	}
	if err := budgets.check(os.DirFS("."), r.plan, of); err != nil {
		return false, err
	}
	return printBudgets(out, r, budgets, of), nil
}
