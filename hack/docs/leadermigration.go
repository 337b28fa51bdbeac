package main

import (
	"fmt"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
)

const leaderMigrationIntroduction = `# The migration lock

KEP-2436 lets kube-controller-manager (KCM) and a cloud-controller-manager (CCM) share a second Lease, the migration lock:
whoever holds it runs the cloud loops, so they can move while both managers are there. This page is about that lock alone, for
control planes that this controller manages and for those that it does not. Whoever can take a gap of seconds needs no lock.

What makes it hard is that both managers fail in silence: a name that a version does not compare is ignored, and the loop stays
under the main lock of each manager, where **both run it**. Since 1.28 that is what upstream's built-in default does with two of
the three loops, and upstream's documented names with all of them. ` + "`test/leadermigration`" + ` shows it with the real managers.

## The command

It reads and writes files, and no cluster.

` + "```sh" + `
ccm-migration-controller leader-migration render  --from 1.29 --to 1.30 --provider gce    # file and flags
ccm-migration-controller leader-migration explain --from 1.29 --to 1.30 --provider gce    # every step, and why
ccm-migration-controller leader-migration check   --from 1.29 --to 1.30 --provider gce lock.yaml
ccm-migration-controller leader-migration check   --kcm 1.29.3=kcm.yaml --kcm 1.30.1=off --ccm 1.30.1=ccm.yaml \
                                                  --apiserver 1.29.3 --apiserver 1.30.1
` + "```" + `

` + "`--from`" + ` is the release whose KCM runs the loops, ` + "`--to`" + ` the one whose CCM takes them: the next minor, as the KEP has it, or the
same one, which is a warning. ` + "`render --output-dir DIR`" + ` writes files; without it, what is printed is the file, with the flags
as comments. ` + "`check`" + ` takes all releases that the managers of one cluster had or will have, each as ` + "`VERSION=FILE`" + `; in place of the
file, ` + "`default`" + ` is a manager that is armed without one, and ` + "`off`" + ` one that is not armed. ` + "`-o`" + ` is text, yaml or json.

| Exit code | Means |
|---|---|
| 0 | Fine; there may be warnings. |
| 1 | A file cannot be read or written. |
| 2 | Wrong flags or arguments. |
| 3 | At least one violation is an error. |

`

// leaderMigrationDocument shows the tables of the migration lock.
func leaderMigrationDocument() string {
	var out strings.Builder
	out.WriteString(generated + leaderMigrationIntroduction)
	lockExample(&out)
	lockRules(&out)
	lockMinors(&out)
	lockFacts(&out)
	lockProviders(&out)
	return out.String()
}

func lockExample(out *strings.Builder) {
	artifacts, _ := leadermigration.Render(leadermigration.Plan{
		From: leadermigration.Version{Minor: 27, Patch: leadermigration.AnyPatch}, To: leadermigration.Version{Minor: 28, Patch: leadermigration.AnyPatch}, Provider: "gce",
	})
	fmt.Fprintf(out, "## The file\n\nFrom 1.27 to 1.28, where the names change. It is the same for both managers: the oldest apiVersion that knows `\"*\"`, which has a\n"+
		"`resourceLock`, and every name that one of the releases compares. Minors from 1.22 to 1.%d read it. 1.21 gets a file for each\n"+
		"manager, because it knows no `\"*\"`.\n\n```yaml\n%s```\n\n", leadermigration.LastMinor, artifacts.KCMFile)
}

func lockRules(out *strings.Builder) {
	out.WriteString("## The rules\n\n`check` judges by them. Each violation names the lock, the loops, the releases, and what to do.\n\n| Rule | Means |\n|---|---|\n")
	for _, rule := range leadermigration.Rules() {
		fmt.Fprintf(out, "| `%s` | %s |\n", rule.Rule, rule.Means)
	}
	out.WriteString("\nA KCM of a release in which a CCM already has a loop by a lock is taken to run without it; its file does not show\n" +
		"`--cloud-provider` or `--controllers`, and no one but you can look.\n\n")
}

func lockMinors(out *strings.Builder) {
	out.WriteString("## The minors\n\nNames are those that the filter of the lock compares; all others are ignored.\n\n" +
		"| Minor | apiVersions of the file | Unknown fields | Names | Built-in default |\n|---|---|---|---|---|\n")
	first, last, row := 0, 0, ""
	flush := func() {
		switch {
		case row == "":
		case first == last:
			fmt.Fprintf(out, "| 1.%d | %s |\n", first, row)
		default:
			fmt.Fprintf(out, "| 1.%d to 1.%d | %s |\n", first, last, row)
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
	out.WriteString("\nReleases of KCM that are known to be bad:\n\n| Releases | Why |\n|---|---|\n")
	for _, bad := range leadermigration.BadVersions() {
		fmt.Fprintf(out, "| %s | %s ([source](%s)) |\n", bad.Releases, bad.Reason, bad.Source)
	}
	out.WriteString("\n")
}

// lockMinor is the row of a minor without its number.
func lockMinor(m leadermigration.Minor) string {
	versions := make([]string, 0, len(m.APIVersions))
	for _, version := range m.APIVersions {
		versions = append(versions, version[strings.Index(version, "/")+1:])
	}
	names := make([]string, 0, len(m.Names))
	for _, loop := range append(leadermigration.CloudLoops(), leadermigration.NodeIPAMLoop) {
		names = append(names, "`"+m.Names[loop]+"`")
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

func lockFacts(out *strings.Builder) {
	out.WriteString("## What each minor knows, deprecates and rejects\n\nA component does not start with what it rejects. Deprecated is what warns, what has no effect any more,\n" +
		"and a gate that is locked to its value. The table begins with 1.21; most flags are older.\n\n" +
		"| Component | What | Known from | Deprecated from | Rejected from | Remark |\n|---|---|---|---|---|---|\n")
	minor := func(n int) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("1.%d", n)
	}
	for _, fact := range leadermigration.Facts() {
		fmt.Fprintf(out, "| %s | %s `%s` | %s | %s | %s | %s |\n", fact.Component, fact.Kind, fact.Name, minor(fact.Since), minor(fact.DeprecatedIn), minor(fact.RemovedIn),
			strings.TrimSpace(fact.Note+" ([source]("+fact.Source+"))"))
	}
	out.WriteString("\n")
}

func lockProviders(out *strings.Builder) {
	out.WriteString("## The providers\n\nA provider that is not here is not known to honour the lock.\n\n" +
		"| `--cloud-provider` | Last minor in-tree | CCM honours the lock | CCM ships node IPAM |\n|---|---|---|---|\n")
	yes := map[bool]string{true: "yes", false: "no"}
	for _, p := range leadermigration.Providers() {
		fmt.Fprintf(out, "| %s | %s | %s: %s | %s |\n", p.Name, linked(fmt.Sprintf("1.%d", p.LastInTreeMinor), p.LastInTreeSource),
			yes[p.HonoursLock], linked(p.Reason, p.Source), yes[p.NodeIPAM])
	}
}

// linked is a link where the source is one, and not a folder of ours.
func linked(text, source string) string {
	if !strings.HasPrefix(source, "https://") {
		return text + " (`" + source + "`)"
	}
	return "[" + text + "](" + source + ")"
}
