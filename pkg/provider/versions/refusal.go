package versions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

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

func refusalOf(rule manifest.VersionRule, refused []manifest.Operation) Refusal {
	return Refusal{Operations: refused, Condition: rule.Condition, Reason: rule.Reason, Link: rule.Link}
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

// Sentences are the reasons of refusals, each once.
func Sentences(refusals []Refusal) string {
	var sentences []string
	for _, refusal := range refusals {
		if text := refusal.Sentence(); !slices.Contains(sentences, text) {
			sentences = append(sentences, text)
		}
	}
	return strings.Join(sentences, " ")
}
