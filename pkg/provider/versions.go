package provider

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// The minors of Kubernetes that the catalogue is about.
const (
	FirstMinor = 24
	LastMinor  = 36
)

// Table is what a provider has, and what is refused, by minor of Kubernetes.
type Table struct {
	Provider string `json:"provider"`
	// InTreeName and LastInTreeMinor are empty for a provider that was never a part of Kubernetes.
	InTreeName      string     `json:"inTreeName,omitempty"`
	LastInTreeMinor int        `json:"lastInTreeMinor,omitempty"`
	Minors          []Versions `json:"minors"`
	// Always are the rules that hold for every provider.
	Always []Refusal `json:"always"`
}

// Versions is what a provider has for one minor of Kubernetes.
type Versions struct {
	Minor int `json:"minor"`
	manifest.Release
	// Problem says why there is nothing.
	Problem string `json:"problem,omitempty"`
	// Refused are the operations that are refused.
	Refused []Refusal `json:"refused,omitempty"`
}

// Refusal is a version rule that applies.
type Refusal struct {
	Operations []manifest.Operation `json:"operations"`
	// Condition of the clusters that it is about; empty: any.
	Condition manifest.Condition `json:"condition,omitempty"`
	// To is the newest minor that it is about, where it stands in no row of one; 0: it has no end.
	To int `json:"to,omitempty"`
	// BeforePatch says that it is about the releases of minor To that are older than this patch only.
	BeforePatch int    `json:"beforePatch,omitempty"`
	Reason      string `json:"reason"`
	Link        string `json:"link,omitempty"`
}

// String is what is refused, such as "in-tree: create, upgrade".
func (r Refusal) String() string {
	operations := make([]string, 0, len(r.Operations))
	for _, operation := range r.Operations {
		operations = append(operations, string(operation))
	}
	text := strings.Join(operations, ", ")
	if r.Condition != "" {
		text = string(r.Condition) + ": " + text
	}
	switch {
	case r.BeforePatch != 0:
		text += fmt.Sprintf(" to 1.%d before 1.%d.%d", r.To, r.To, r.BeforePatch)
	case r.To != 0:
		text += fmt.Sprintf(" to 1.%d or older", r.To)
	}
	return text
}

// Sentence is the reason with its link.
func (r Refusal) Sentence() string {
	if r.Link == "" {
		return r.Reason
	}
	return strings.TrimSuffix(r.Reason, ".") + " (" + r.Link + ")."
}

// TableOf is what a provider has.
func TableOf(name string, profile Profile) Table {
	table := Table{Provider: name, Minors: Matrix(profile), Always: Always()}
	if tree := profile.Describe().InTree; tree != nil {
		table.InTreeName, table.LastInTreeMinor = tree.Name, tree.LastMinor
	}
	return table
}

// Matrix is what a provider has for each minor.
func Matrix(profile Profile) []Versions {
	var rows []Versions
	for minor := FirstMinor; minor <= LastMinor; minor++ {
		row := Versions{Minor: minor, Refused: Refusals(profile, minor)}
		release, err := profile.Release(versionOf(minor))
		if row.Release = release; err != nil {
			row.Release, row.Problem = manifest.Release{}, err.Error()
		}
		rows = append(rows, row)
	}
	return rows
}

// Refusals are the version rules of a provider that apply to a minor: for an upgrade, the one that it goes to.
func Refusals(profile Profile, minor int) []Refusal {
	var refusals []Refusal
	for _, rule := range rulesOf(profile, minor) {
		if rule.Covers(minor) {
			refusals = append(
				refusals,
				Refusal{Operations: rule.Operations, Condition: rule.Condition, Reason: rule.Reason, Link: rule.Link},
			)
		}
	}
	return refusals
}

// Always are the rules that hold for every provider.
func Always() []Refusal {
	var refusals []Refusal
	for _, rule := range slices.Concat(commonRules(), skewRules()) {
		refusals = append(
			refusals,
			Refusal{
				Operations:  rule.Operations,
				Condition:   rule.Condition,
				To:          rule.To,
				BeforePatch: rule.BeforePatch,
				Reason:      rule.Reason,
				Link:        rule.Link,
			},
		)
	}
	return refusals
}

// Supported are the minors in which a cluster can be external, and those in which it can migrate.
func Supported(profile Profile) (external, migrating []int) {
	refused := func(minor int, operation manifest.Operation, condition manifest.Condition) bool {
		return slices.ContainsFunc(rulesOf(profile, minor), func(rule manifest.VersionRule) bool {
			return rule.Holds(minor, operation, condition)
		})
	}
	for minor := FirstMinor; minor <= LastMinor; minor++ {
		if !refused(minor, manifest.Create, manifest.WhileExternal) {
			external = append(external, minor)
		}
		if !refused(minor, manifest.Migrate, manifest.WhileInTree) {
			migrating = append(migrating, minor)
		}
	}
	return external, migrating
}

func rulesOf(profile Profile, minor int) []manifest.VersionRule {
	// Why there is no CCM is said by the row's problem: the reason is the same for all of them.
	gaps, _ := gapRules(profile, versionOf(minor), minor)
	return slices.Concat(profile.Describe().Rules, gaps)
}

func versionOf(minor int) string { return fmt.Sprintf("1.%d.0", minor) }
