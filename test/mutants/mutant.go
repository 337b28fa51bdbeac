package main

import "fmt"

// mutant is one deliberate fault.
type mutant struct {
	rule, name string
	// folder is the package that is broken.
	folder string
	faults []fault
	// packages are those whose tests are to kill it, those with the quick tests first.
	packages []string
}

// fault is a function, as `name` or `Type.method`, and how it is broken.
type fault struct {
	function string
	operator operator
}

// and breaks another function, too, where a rule stands in two.
func (m mutant) and(function string, how operator) mutant {
	m.faults = append(m.faults, fault{function, how})
	return m
}

// find returns what the mutant does to each of its functions.
func (m mutant) find(all *packages) ([]breakage, error) {
	var breakages []breakage
	for _, fault := range m.faults {
		f, err := all.find(m.folder, fault.function)
		if err != nil {
			return nil, fmt.Errorf("mutant %q: %w", m.name, err)
		}
		edits, err := fault.operator.place(f)
		if err != nil {
			return nil, fmt.Errorf("mutant %q: %w", m.name, err)
		}
		breakages = append(breakages, breakage{f, edits})
	}
	return breakages, nil
}

// by has the tests of further packages kill the mutant, too, when the ones before do not.
func (m mutant) by(packages ...string) mutant {
	m.packages = append(m.packages, packages...)
	return m
}

// onlyBy has the tests of these packages kill the mutant: those of its own do not know the rule.
func (m mutant) onlyBy(packages ...string) mutant {
	m.packages = packages
	return m
}
