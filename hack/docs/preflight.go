package main

import (
	"fmt"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
)

// preflightDocument lists what is asked before anything is touched.
func preflightDocument() string {
	var out strings.Builder
	out.WriteString(generated + `# Preflight

Before anything is touched, the controller asks what could go wrong: all of it at once. What it finds is in ` + "`status.preflight`" + `, the
worst ten of it with objects and what to do; the command ` + "`plan`" + ` shows everything.

* **Blocking** findings keep the migration back: the cluster is ` + "`Stalled`" + ` with reason ` + "`PreflightFailed`" + `, or with the reason of the
  only one. **Warnings** and **infos** keep nothing back.
* A check that could not look has not passed. One that could block keeps the cluster waiting, with reason ` + "`CouldNotLook`" + `; any other is
  counted in ` + "`status.preflight.notLookedAt`" + `.
* What only the cloud can tell is asked when the CCM leads, before the first Machine is replaced; until then it counts as not looked at.
* What is read from the user cluster for these checks only is read again after ten minutes, after half a minute when something could not
  be read or a Service was being deleted, and at once when the Cluster was changed.
* Once the migration has started, nothing of this holds it up but what is asked before the first Machine is replaced; that stands in the
  message of the Cluster, and the findings in the status stay as they were. What matters later is asked by the rows
  of [the table](migration.md); two warnings come and go: ` + "`CredentialsExpire`" + ` and ` + "`FieldWithoutEffect`" + `.

A person who knows better accepts a finding, as a whole or for some of its objects, for good or for a time. One that comes to its objects
later blocks again:

` + "```yaml" + `
spec:
  preflight:
    accept:
    - id: DisruptionBudgetNeverAllows
      objects: [PodDisruptionBudget default/legacy]
      reason: Its only pod may be away for a minute.
      until: "2026-12-24T00:00:00Z"
` + "```" + `

`)
	out.WriteString(`## Looking ahead

While the feature is off, ` + "`spec.preflight.lookAhead: Daily`" + ` (the default) asks the same checks once a day and changes nothing:
condition ` + "`ReadyToMigrate`" + ` is True when nothing that was found blocks a migration, False with the number and names of what does, and
Unknown before the first look, which comes within 6 hours, or when one that could block could not be looked at. It is False with reason
` + "`CloudLoopsUnattended`" + `, too, when KCM's arguments run the cloud loops and no process of it holds its Lease: it looks again
a minute later, and ` + "`Ready`" + ` is False when KCM did not lead for ` + "`spec.slo.unattendedSeconds`" + ` then. The condition goes when the feature
is switched on; then ` + "`PreflightPassed`" + ` says it. [Sorting a fleet by it](operations.md#what-stands-in-the-way-of-a-fleet).

`)
	out.WriteString("`make hazards` makes many of them on purpose, and compares what happens with what they say: " +
		"[hazards-measured.md](hazards-measured.md).\n\n")
	out.WriteString("## Checks\n\nThe page of each says how to look and what to do.\n\n" +
		"| ID | Severity | Finds | Judged |\n|---|---|---|---|\n")
	for _, check := range preflight.Describe() {
		judged := "before the start"
		if check.BeforeRoll {
			judged = "before the first Machine is replaced"
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", runbookLink(check.ID), check.Severity, check.Means, judged)
	}
	out.WriteString("\nA finding can be milder or worse than the table says, depending on what was found; the severity in the table counts when no one could look.\n")
	var links []string
	for _, id := range migration.InputFindingIDs() {
		links = append(links, runbookLink(id))
	}
	out.WriteString("\n## What cannot be accepted\n\nWithout what these name there is nothing to migrate with; all of them are blocking: " +
		strings.Join(links, ", ") + ".\n")
	return out.String()
}

func runbookLink(id string) string { return "[" + id + "](runbooks/" + id + ".md)" }
