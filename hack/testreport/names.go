package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// printNames prints the package and the name of each test that ran to its end. What failed outside any test is none, as
// [BeforeSuite].
func printNames(place string, out io.Writer) error {
	r, err := readRun(place)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, g := range r.groups {
		for folder, p := range g.packages {
			tests := p.tests
			if suite, ok := r.suites[folder]; ok {
				tests = suite.specs
			}
			for name, result := range tests {
				if result != passed && result != failed || strings.HasPrefix(name, "[") {
					continue
				}
				names[folder+" "+name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		_, _ = fmt.Fprintln(out, name)
	}
	return nil
}

func printLost(oldFile, newFile, movedFile string, out io.Writer) error {
	var lists [3][]string
	for i, file := range []string{oldFile, newFile, movedFile} {
		var err error
		if lists[i], err = readLines(file); err != nil {
			return err
		}
	}
	gone, err := lost(lists[0], lists[1], lists[2])
	if err != nil {
		return fmt.Errorf("%s: %w", movedFile, err)
	}
	for _, name := range gone {
		_, _ = fmt.Fprintln(out, name)
	}
	if len(gone) > 0 {
		return fmt.Errorf("%d tests are gone: name the successor of each in %s", len(gone), movedFile)
	}
	return nil
}

// lost are the old names that are not among the new ones, and whose successor is not either. A line of moved is an old
// name, a tab and a new one; two packages stand for all their tests of the same name, two tests for all their subtests.
func lost(old, now, moved []string) ([]string, error) {
	successors := map[string][]string{}
	for _, line := range moved {
		former, successor, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, fmt.Errorf("no old name, tab and new name: %q", line)
		}
		if strings.Contains(successor, " ") && !slices.Contains(now, successor) {
			return nil, fmt.Errorf("the successor of %q did not run: %q", former, successor)
		}
		successors[former] = append(successors[former], successor)
	}
	ran := map[string]bool{}
	for _, name := range now {
		ran[name] = true
	}
	var gone []string
	for _, name := range old {
		folder, test, _ := strings.Cut(name, " ")
		parent, subtest, _ := strings.Cut(test, "/")
		inPackage := func(successor string) bool { return ran[successor+" "+test] }
		inTest := func(successor string) bool { return ran[successor+"/"+subtest] }
		if !ran[name] && len(successors[name]) == 0 && !slices.ContainsFunc(successors[folder], inPackage) &&
			!slices.ContainsFunc(successors[folder+" "+parent], inTest) {
			gone = append(gone, name)
		}
	}
	return gone, nil
}
