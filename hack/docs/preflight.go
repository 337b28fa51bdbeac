package main

import (
	"fmt"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
)

// preflightChecks has a row for each check.
func preflightChecks() string {
	var out strings.Builder
	out.WriteString("| ID | Severity | Finds | Judged |\n|---|---|---|---|\n")
	for _, check := range preflight.Describe() {
		judged := "before the start"
		if check.BeforeRoll {
			judged = "before the first Machine is replaced"
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", runbookLink(check.ID), check.Severity, check.Means, judged)
	}
	return out.String()
}

// inputFindings are those that cannot be accepted.
func inputFindings() string {
	var out strings.Builder
	for _, id := range start.InputFindingIDs() {
		out.WriteString("* " + runbookLink(id) + "\n")
	}
	return out.String()
}

func runbookLink(id string) string { return "[" + id + "](runbooks/" + id + ".md)" }
