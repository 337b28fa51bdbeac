package versions

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// The minors of Kubernetes that the catalogue is about. A cloud-controller-manager comes out after its minor, so that
// pkg/leadermigration, which is about kube-controller-manager, may know newer ones.
const (
	FirstMinor = 24
	LastMinor  = 36
)

// Table is what a provider has, and what is refused, by minor of Kubernetes.
type Table struct {
	Provider string `json:"provider"`
	// InTreeName and LastInTreeMinor are empty for a provider that was never a part of Kubernetes.
	InTreeName      string `json:"inTreeName,omitempty"`
	LastInTreeMinor int    `json:"lastInTreeMinor,omitempty"`
	Minors          []Row  `json:"minors"`
	// Always are the rules that hold for every provider.
	Always []Refusal `json:"always"`
}

// Row is what a provider has for one minor of Kubernetes.
type Row struct {
	Minor int `json:"minor"`
	// OrOlder says that it is about all minors before, too: those that the catalogue has nothing for.
	OrOlder bool `json:"orOlder,omitempty"`
	manifest.Release
	// Problem says why there is nothing.
	Problem string `json:"problem,omitempty"`
	// Refused are the operations that are refused.
	Refused []Refusal `json:"refused,omitempty"`
}

// Kubernetes is the name of the row.
func (r Row) Kubernetes() string {
	name := fmt.Sprintf("1.%d", r.Minor)
	if r.OrOlder {
		name += " and older"
	}
	return name
}

// TableOf is what a provider has.
func TableOf(name string, provider Provider) Table {
	table := Table{Provider: name, Minors: append(Older(provider), Matrix(provider)...), Always: Always()}
	if tree := provider.Describe().InTree; tree != nil {
		table.InTreeName, table.LastInTreeMinor = tree.Name, tree.LastMinor
	}
	return table
}

// Older are the minors before the first one of the catalogue: those that begin alike are one row.
func Older(provider Provider) []Row {
	rows := []Row{{Minor: 1, OrOlder: true, Refused: Refusals(provider, 1)}}
	for minor := 2; minor < FirstMinor; minor++ {
		refused := Refusals(provider, minor)
		if len(rows) == 1 && reflect.DeepEqual(refused, rows[0].Refused) {
			rows[0].Minor = minor
			continue
		}
		rows = append(rows, Row{Minor: minor, Refused: refused})
	}
	return rows
}

// Matrix is what a provider has for each minor.
func Matrix(provider Provider) []Row {
	var rows []Row
	for minor := FirstMinor; minor <= LastMinor; minor++ {
		row := Row{Minor: minor, Refused: Refusals(provider, minor)}
		release, err := provider.Release(versionOf(minor))
		if row.Release = release; err != nil {
			row.Release, row.Problem = manifest.Release{}, err.Error()
		}
		rows = append(rows, row)
	}
	return rows
}

// Refusals are the version rules of a provider that apply to a minor: for an upgrade, the one that it goes to.
func Refusals(provider Provider, minor int) []Refusal {
	var refusals []Refusal
	for _, rule := range rulesOf(provider, minor) {
		if rule.Covers(minor) {
			refusals = append(refusals, refusalOf(rule, rule.Operations))
		}
	}
	return refusals
}

// Always are the rules that hold for every provider.
func Always() []Refusal {
	var refusals []Refusal
	for _, rule := range slices.Concat(commonRules(), skewRules()) {
		refusal := refusalOf(rule, rule.Operations)
		refusal.To, refusal.BeforePatch = rule.To, rule.BeforePatch
		refusals = append(refusals, refusal)
	}
	return refusals
}

// Supported are the minors in which a cluster can be external, and those in which it can migrate.
func Supported(provider Provider) (external, migrating []int) {
	refused := func(minor int, operation manifest.Operation, condition manifest.Condition) bool {
		return slices.ContainsFunc(rulesOf(provider, minor), func(rule manifest.VersionRule) bool {
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

func versionOf(minor int) string { return fmt.Sprintf("1.%d.0", minor) }
