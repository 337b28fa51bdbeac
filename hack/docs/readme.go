package main

import (
	"fmt"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
)

// providerMatrix has a row for each provider.
func providerMatrix(catalogue *provider.Catalogue) string {
	var out strings.Builder
	out.WriteString("| Provider | Runs externally with Kubernetes | In-tree up to | Migrates with | Tested with |\n" +
		"|---|---|---|---|---|\n")
	for _, name := range catalogue.Names() {
		profile, _ := catalogue.Lookup(name)
		external, migrating := versions.Supported(profile)
		inTree := "never"
		if tree := profile.Describe().InTree; tree != nil {
			inTree = fmt.Sprintf("1.%d", tree.LastMinor)
		}
		fmt.Fprintf(&out, "| [`%s`](docs/providers/%s.md) | %s | %s | %s | %s |\n",
			name, name, ranges(external), inTree, ranges(migrating), testedWith(name))
	}
	return out.String()
}

// testedWith is the most that a provider was run against; no test proves it, so whoever adds one changes this.
func testedWith(name string) string {
	switch name {
	case "simcloud":
		return "whole migrations: real control planes, simulated cloud"
	case "aws":
		return "its real CCM on a simulated API of AWS"
	case "openstack":
		return "a whole migration: its real KCM and CCM, simulated APIs of OpenStack"
	case "azure":
		return "the start and election of its real CCM"
	case "vsphere":
		return "the start and election of its real CCM; volumes of its real KCM in a simulated vCenter"
	case "gcp", "hetzner":
		return "the start and election of its real CCM, which initializes a Node of a stand-in for the cloud"
	default:
		return "its objects on real API servers"
	}
}

// commonVersionRules are those that hold for every provider.
func commonVersionRules() string {
	var out strings.Builder
	out.WriteString("| Refused | Because |\n|---|---|\n")
	for _, refusal := range versions.Always() {
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
