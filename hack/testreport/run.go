package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// testRun is what a run of hack/test.sh left behind.
type testRun struct {
	plan   []string
	groups map[string]*group
	suites map[string]suite
}

// group is a call of go test, or of another program.
type group struct {
	// ended is false for a group that was cut off, or that the run did not get to.
	ended    bool
	status   int
	wall     time.Duration
	packages packages
	// said is the last line of a program that is not go test.
	said string
}

// suite is what a package of Ginkgo says of its specs.
type suite struct {
	specs map[string]outcome
	err   error
}

// readRun of a folder without a plan, whose run did not begin, has no groups.
func readRun(folder string) (*testRun, error) {
	r := &testRun{groups: map[string]*group{}, suites: map[string]suite{}}
	var err error
	r.plan, err = readLines(filepath.Join(folder, "plan"))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	for _, name := range r.plan {
		if r.groups[name], err = readGroup(filepath.Join(folder, name)); err != nil {
			return nil, fmt.Errorf("group %s: %w", name, err)
		}
	}
	if err := r.readEnds(filepath.Join(folder, "groups")); err != nil {
		return nil, err
	}
	names, err := readLines(filepath.Join(folder, "suites"))
	for _, name := range names {
		r.suites[name] = readSuite(filepath.Join(folder, "junit", path.Base(name)+".xml"))
	}
	return r, err
}

func readGroup(file string) (*group, error) {
	g := &group{packages: packages{}}
	lines, err := readLines(file + ".log")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	// go run adds a line to what the program says.
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "exit status ") })
	if len(lines) > 0 {
		g.said = ": " + lines[len(lines)-1]
	}
	events, err := os.Open(file + ".jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		return g, nil
	}
	if err != nil {
		return nil, err
	}
	return g, errors.Join(g.packages.readEvents(events), events.Close())
}

func (r *testRun) readEnds(file string) error {
	lines, err := readLines(file)
	for _, line := range lines {
		fields := strings.Fields(line)
		if len(fields) != 3 || r.groups[fields[0]] == nil {
			return fmt.Errorf("%s: no group, seconds and status: %q", file, line)
		}
		seconds, badSeconds := strconv.Atoi(fields[1])
		status, badStatus := strconv.Atoi(fields[2])
		if err := errors.Join(badSeconds, badStatus); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		g := r.groups[fields[0]]
		g.ended, g.status, g.wall = true, status, time.Duration(seconds)*time.Second
	}
	return err
}

func readSuite(name string) suite {
	file, err := os.Open(name)
	if err != nil {
		return suite{err: err}
	}
	specs, err := readSpecs(file)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return suite{specs: specs, err: errors.Join(err, file.Close())}
}

func readLines(file string) ([]string, error) {
	content, err := os.ReadFile(file)
	lines := strings.Split(string(content), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" }), err
}

// tests has every test and spec, and what failed outside them, by name.
func (r *testRun) tests() map[string]outcome {
	all := map[string]outcome{}
	if len(r.plan) == 0 {
		all["the run: it did not begin"] = failed
	}
	seen := map[string]bool{}
	for _, name := range r.plan {
		g := r.groups[name]
		tests := map[string]outcome{}
		for folder, p := range g.packages {
			seen[folder] = true
			if suite, ok := r.suites[folder]; ok {
				maps.Copy(tests, suite.tests(folder, p))
			} else {
				maps.Copy(tests, p.named(folder, p.tests))
			}
		}
		switch {
		case !g.ended:
			tests["group "+name+": it was cut off, or did not begin"] = failed
		case g.status != 0 && number(tests, failed) == 0:
			tests[fmt.Sprintf("group %s: it ended with status %d%s", name, g.status, g.said)] = failed
		}
		maps.Copy(all, tests)
	}
	for folder := range r.suites {
		if !seen[folder] {
			all[folder+": the suite did not run"] = failed
		}
	}
	return all
}

// empty are groups of go test that left no package behind. One that runs another program has a budget of its own.
func (r *testRun) empty(b budgets, of tier) map[string]outcome {
	failures := map[string]outcome{}
	for _, name := range r.plan {
		if _, isProgram := b[groupPrefix+name][of]; !isProgram && len(r.groups[name].packages) == 0 {
			failures["group "+name+": it ran no package"] = failed
		}
	}
	return failures
}

// named are the tests of the package, with its path. A test that did not end has failed; a package that failed while
// none of its tests did, or that did not end, has failed outside any.
func (p *testPackage) named(folder string, results map[string]outcome) map[string]outcome {
	tests := map[string]outcome{}
	for name, result := range results {
		if result == running {
			result = failed
		}
		tests[folder+" "+name] = result
	}
	if p.outcome == running || p.outcome == failed && number(tests, failed) == 0 {
		tests[folder+": it failed outside any test"] = failed
	}
	return tests
}

func (s suite) tests(folder string, p *testPackage) map[string]outcome {
	tests := p.named(folder, s.specs)
	if s.err != nil {
		tests[folder+": its specs cannot be counted: "+s.err.Error()] = failed
	}
	if len(s.specs) == 0 && s.err == nil {
		tests[folder+": no spec of it ran"] = failed
	}
	if around := topLevel(p.tests); len(around) > 1 {
		tests[folder+": beside its suite it has other tests, which do not count: "+strings.Join(around, ", ")] = failed
	}
	return tests
}

func topLevel(tests map[string]outcome) []string {
	names := slices.Sorted(maps.Keys(tests))
	return slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "/") })
}

func number(tests map[string]outcome, wanted outcome) int {
	n := 0
	for _, result := range tests {
		if result == wanted {
			n++
		}
	}
	return n
}
