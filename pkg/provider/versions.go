package provider

import (
	"fmt"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// The minors of Kubernetes that the catalogue is about.
const (
	FirstMinor = 24
	LastMinor  = 36
)

// Versions is what a provider has for one minor of Kubernetes.
type Versions struct {
	Minor int `json:"minor"`
	Release
	// Problem says why there is nothing.
	Problem string `json:"problem,omitempty"`
	// Refused are the operations that are refused.
	Refused []Refusal `json:"refused,omitempty"`
}

// Refusal is a version rule that applies.
type Refusal struct {
	Operations []manifest.Operation `json:"operations"`
	// InTree says that it is about clusters with the in-tree provider only.
	InTree bool   `json:"inTree,omitempty"`
	Reason string `json:"reason"`
	Link   string `json:"link,omitempty"`
}

// String is what is refused, such as "in-tree: create, upgrade".
func (r Refusal) String() string {
	operations := make([]string, 0, len(r.Operations))
	for _, operation := range r.Operations {
		operations = append(operations, string(operation))
	}
	text := strings.Join(operations, ", ")
	if r.InTree {
		return "in-tree: " + text
	}
	return text
}

// Matrix is what a provider has for each minor.
func Matrix(profile Profile) []Versions {
	var rows []Versions
	for minor := FirstMinor; minor <= LastMinor; minor++ {
		row := Versions{Minor: minor, Refused: Refusals(profile.Describe(), minor)}
		release, err := profile.Release(fmt.Sprintf("1.%d.0", minor))
		if row.Release = release; err != nil {
			row.Release, row.Problem = Release{}, err.Error()
		}
		rows = append(rows, row)
	}
	return rows
}

// Refusals are the version rules of a provider that apply to a minor: for an upgrade, the one that it goes to.
func Refusals(description Description, minor int) []Refusal {
	var refusals []Refusal
	for _, rule := range description.Rules {
		if minor < rule.From || rule.To != 0 && minor > rule.To {
			continue
		}
		refusals = append(refusals, Refusal{rule.Operations, rule.InTree, rule.Reason, rule.Link})
	}
	return refusals
}
