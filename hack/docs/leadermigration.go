package main

import (
	"fmt"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
)

// lockTables are the tables of the migration lock.
func lockTables() map[string]string {
	return map[string]string{
		"example": lockExample(), "rules": lockRules(), "minors": lockMinors(), "bad releases": lockBadReleases(),
		"facts": lockFacts(), "providers": lockProviders(),
	}
}

// lockExample is for the minors between which the names change.
func lockExample() string {
	artifacts, _ := leadermigration.Render(
		leadermigration.Plan{From: leadermigration.OfMinor(27), To: leadermigration.OfMinor(28), Provider: "gce"},
	)
	return "```yaml\n" + artifacts.Files[leadermigration.KCM] + "```\n"
}

func lockRules() string {
	var out strings.Builder
	out.WriteString("| Rule | Means |\n|---|---|\n")
	for _, rule := range leadermigration.Rules() {
		fmt.Fprintf(&out, "| `%s` | %s |\n", rule.Rule, rule.Means)
	}
	return out.String()
}

func lockMinors() string {
	var out strings.Builder
	out.WriteString("| Minor | apiVersions of the file | Unknown fields | Names | Built-in default |\n|---|---|---|---|---|\n")
	first, last, row := 0, 0, ""
	flush := func() {
		switch {
		case row == "":
		case first == last:
			fmt.Fprintf(&out, "| 1.%d | %s |\n", first, row)
		default:
			fmt.Fprintf(&out, "| 1.%d to 1.%d | %s |\n", first, last, row)
		}
	}
	for _, m := range leadermigration.Minors() {
		if next := lockMinor(m); next != row {
			flush()
			first, row = m.Minor, next
		}
		last = m.Minor
	}
	flush()
	return out.String()
}

func lockBadReleases() string {
	var out strings.Builder
	out.WriteString("| Releases | Why |\n|---|---|\n")
	for _, bad := range leadermigration.KnownBad() {
		fmt.Fprintf(&out, "| %s | %s ([source](%s)) |\n", bad, bad.Reason, bad.Source)
	}
	return out.String()
}

// lockMinor is the row of a minor without its number.
func lockMinor(m leadermigration.Minor) string {
	var versions []string
	for _, version := range m.APIVersions {
		versions = append(versions, version[strings.Index(version, "/")+1:])
	}
	var names []string
	for _, loop := range leadermigration.AllLoops() {
		names = append(names, "`"+leadermigration.RegisteredName(loop, m.Minor)+"`")
	}
	fields, builtIn := "ignored", "right"
	if m.Strict {
		fields = "refused"
	}
	switch {
	case m.BuiltIn == nil:
		builtIn = "none: a file is required, without `\"*\"`"
	case !m.KCMHasLoops:
		builtIn = "wrong; KCM has no cloud loops any more"
	case !m.DefaultWorks:
		builtIn = "**wrong**: service and route run in both managers"
	}
	return fmt.Sprintf("%s | %s | %s | %s", strings.Join(versions, ", "), fields, strings.Join(names, ", "), builtIn)
}

func lockFacts() string {
	var out strings.Builder
	out.WriteString("| Component | What | Known from | Deprecated from | Rejected from | Remark |\n|---|---|---|---|---|---|\n")
	minor := func(n int) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("1.%d", n)
	}
	for _, fact := range leadermigration.Facts() {
		fmt.Fprintf(
			&out,
			"| %s | %s `%s` | %s | %s | %s | %s |\n",
			fact.Component,
			fact.Kind,
			fact.Name,
			minor(fact.Since),
			minor(fact.DeprecatedIn),
			minor(fact.RemovedIn),
			strings.TrimSpace(fact.Note+" ([source]("+fact.Source+"))"),
		)
	}
	return out.String()
}

func lockProviders() string {
	var out strings.Builder
	out.WriteString("| `--cloud-provider` | Last minor in-tree | CCM honours the lock | CCM ships node IPAM |\n|---|---|---|---|\n")
	yes := map[bool]string{true: "yes", false: "no"}
	for _, p := range leadermigration.Providers() {
		fmt.Fprintf(&out, "| %s | %s | %s: %s | %s |\n", p.Name, linked(fmt.Sprintf("1.%d", p.LastInTreeMinor), p.LastInTreeSource),
			yes[p.HonoursLock], linked(p.Reason, p.Source), yes[p.NodeIPAM])
	}
	return out.String()
}

// linked is a link where the source is one, and not a folder of ours.
func linked(text, source string) string {
	if !strings.HasPrefix(source, "https://") {
		return text + " (`" + source + "`)"
	}
	return "[" + text + "](" + source + ")"
}
