package main

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tier is one of the columns of the budgets.
type tier string

const (
	tierUnit tier = "unit"
	tierTest tier = "test"
	tierAll  tier = "all"
)

// tiers are the columns in their order.
func tiers() []tier { return []tier{tierUnit, tierTest, tierAll} }

// budgets are durations by name and tier. Names are those of packages, "group:NAME" for one that runs another program
// than go test, and the two below.
type budgets map[string]map[tier]time.Duration

const (
	// defaultBudget is what a package without a line has.
	defaultBudget = "default"
	// totalBudget is for the run from its first group to its last.
	totalBudget = "total"
	groupPrefix = "group:"
)

// parseBudgets reads lines of a name and the minutes in each tier; a dash stands for a tier that does not run it.
func parseBudgets(text string) (budgets, error) {
	all := budgets{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 1+len(tiers()) || all[fields[0]] != nil {
			return nil, fmt.Errorf("%q is not a new name and its minutes in the tiers %v", strings.TrimSpace(line), tiers())
		}
		all[fields[0]] = map[tier]time.Duration{}
		for i, of := range tiers() {
			if fields[i+1] == "-" {
				continue
			}
			minutes, err := strconv.ParseFloat(fields[i+1], 64)
			if err != nil || minutes <= 0 {
				return nil, fmt.Errorf("%s: %q is no number of minutes", fields[0], fields[i+1])
			}
			all[fields[0]][of] = time.Duration(minutes * float64(time.Minute))
		}
	}
	for _, name := range []string{defaultBudget, totalBudget} {
		if len(all[name]) != 3 {
			return nil, fmt.Errorf("%s needs minutes in every tier", name)
		}
	}
	return all, nil
}

// check finds lines for what is not there: they would stay behind when a package is renamed.
func (b budgets) check(root fs.FS, plan []string, of tier) error {
	for name, minutes := range b {
		if name == defaultBudget || name == totalBudget {
			continue
		}
		if group, ok := strings.CutPrefix(name, groupPrefix); ok {
			if _, runs := minutes[of]; runs && !slices.Contains(plan, group) {
				return fmt.Errorf("%s: this tier has no such group", name)
			}
			continue
		}
		if tests, err := fs.Glob(root, name+"/*_test.go"); err != nil || len(tests) == 0 {
			return fmt.Errorf("%s: there is no such package with tests", name)
		}
	}
	return nil
}

func (b budgets) of(name string, in tier) time.Duration {
	if budget, ok := b[name][in]; ok {
		return budget
	}
	return b[defaultBudget][in]
}
