package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

const (
	readmeFile  = "README.md"
	matrixBegin = "<!-- generated: providers -->\n"
	rulesBegin  = "<!-- generated: version rules -->\n"
)

// readme is the user guide with the matrix of providers and the version rules in it.
func readme() (string, error) {
	text, err := os.ReadFile(readmeFile)
	if err != nil {
		return "", err
	}
	document, err := between(string(text), matrixBegin, providerMatrix(provider.New()))
	if err != nil {
		return "", err
	}
	return between(document, rulesBegin, commonVersionRules())
}

// between replaces what is between a mark and the next end.
func between(text, mark, content string) (string, error) {
	before, rest, found := strings.Cut(text, mark)
	_, after, ended := strings.Cut(rest, marksEnd)
	if !found || !ended {
		return "", fmt.Errorf("%s has no place for what is generated: %q … %q", readmeFile, mark, marksEnd)
	}
	return before + mark + content + marksEnd + after, nil
}

// providerMatrix has a row for each provider.
func providerMatrix(catalogue *provider.Catalogue) string {
	var out strings.Builder
	out.WriteString("| `providerName` | External with Kubernetes | In-tree up to | Migrates with |\n|---|---|---|---|\n")
	for _, name := range catalogue.Names() {
		profile, _ := catalogue.Lookup(name)
		external, migrating := provider.Supported(profile)
		inTree := "never"
		if tree := profile.Describe().InTree; tree != nil {
			inTree = fmt.Sprintf("1.%d", tree.LastMinor)
		}
		fmt.Fprintf(&out, "| [`%s`](docs/providers/%s.md) | %s | %s | %s |\n", name, name, ranges(external), inTree, ranges(migrating))
	}
	return out.String()
}

// commonVersionRules are those that hold for every provider.
func commonVersionRules() string {
	var out strings.Builder
	out.WriteString("| Refused | Because |\n|---|---|\n")
	for _, refusal := range provider.Always() {
		fmt.Fprintf(&out, "| %s | %s ([source](%s)) |\n", refusal, refusal.Reason, refusal.Link)
	}
	return out.String()
}

// ranges of minors, such as "1.24 to 1.26, 1.28".
func ranges(minors []int) string {
	var parts []string
	for i := 0; i < len(minors); {
		last := i
		for last+1 < len(minors) && minors[last+1] == minors[last]+1 {
			last++
		}
		part := fmt.Sprintf("1.%d", minors[i])
		if last > i {
			part += fmt.Sprintf(" to 1.%d", minors[last])
		}
		parts, i = append(parts, part), last+1
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}
