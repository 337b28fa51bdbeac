package prometheus

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

// rule of a PrometheusRule.
type rule struct {
	Record, Alert, Expr, For string
	Labels, Annotations      map[string]string
}

// group of rules, as Prometheus reads them.
type group struct {
	Name  string
	Rules []rule
}

const rulesFile = "../../config/prometheus/rules.yaml"

func rules(t *testing.T) []group {
	t.Helper()
	object := struct{ Spec struct{ Groups []group } }{}
	read(t, rulesFile, &object)
	return object.Spec.Groups
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(yaml.Unmarshal(text, into)).To(Succeed())
}

func alerts(t *testing.T) (found []rule) {
	t.Helper()
	for _, group := range rules(t) {
		for _, rule := range group.Rules {
			if rule.Alert != "" {
				found = append(found, rule)
			}
		}
	}
	return found
}

// promtool without the service discovery of clouds, which is most of what it has. Not by go tool, which compiles all of it a
// second time, apart from what the tests have of it.
func promtool(t *testing.T, arguments ...string) ([]byte, error) {
	t.Helper()
	run := []string{"run", "-tags=remove_all_sd", "github.com/prometheus/prometheus/cmd/promtool"}
	return exec.CommandContext(t.Context(), "go", append(run, arguments...)...).CombinedOutput()
}

// test the rules by a table of promtool's own form.
func test(t *testing.T, groups []group) ([]byte, error) {
	t.Helper()
	g, folder := NewWithT(t), t.TempDir()
	text, err := yaml.Marshal(map[string]any{"groups": asPrometheusReads(groups)})
	g.Expect(err).NotTo(HaveOccurred())
	table, err := os.ReadFile(filepath.Join("testdata", "alerts.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(filepath.Join(folder, "rules.yaml"), text, 0o600)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(folder, "alerts.yaml"), table, 0o600)).To(Succeed())
	if checked, err := promtool(t, "check", "rules", "--lint-fatal", filepath.Join(folder, "rules.yaml")); err != nil {
		return checked, err
	}
	return promtool(t, "test", "rules", filepath.Join(folder, "alerts.yaml"))
}

func asPrometheusReads(groups []group) (read []map[string]any) {
	for _, group := range groups {
		var rules []map[string]any
		for _, r := range group.Rules {
			is := map[string]any{"expr": r.Expr}
			if r.Record != "" {
				is["record"] = r.Record
			} else {
				is["alert"], is["for"], is["labels"], is["annotations"] = r.Alert, r.For, r.Labels, r.Annotations
			}
			rules = append(rules, is)
		}
		read = append(read, map[string]any{"name": group.Name, "rules": rules})
	}
	return read
}

func TestAlertsFireWhenTheyShouldAndNotOtherwise(t *testing.T) {
	t.Parallel()
	said, err := test(t, rules(t))
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), "%s", said)
}

// A table that notices nothing proves nothing: no alert fires, and then all do.
func TestTheTableNoticesEachAlert(t *testing.T) {
	t.Parallel()
	table := struct {
		Tests []struct{ Name string }
	}{}
	read(t, filepath.Join("testdata", "alerts.yaml"), &table)
	for _, alert := range alerts(t) {
		for _, verb := range []string{"fires", "does not fire"} {
			NewWithT(t).Expect(slices.ContainsFunc(table.Tests, func(is struct{ Name string }) bool {
				return strings.HasPrefix(is.Name, alert.Alert+" "+verb+": ")
			})).To(BeTrue(), "the table has when %s %s", alert.Alert, verb)
		}
	}
	for verb, expr := range map[string]string{"fires": "vector(0) > 1", "does not fire": "vector(1)"} {
		t.Run("that it "+verb, func(t *testing.T) {
			t.Parallel()
			groups := rules(t)
			for i := range groups {
				for j := range groups[i].Rules {
					if groups[i].Rules[j].Alert != "" {
						groups[i].Rules[j].Expr, groups[i].Rules[j].For = expr, "1m"
					}
				}
			}
			said, err := test(t, groups)
			NewWithT(t).Expect(err).To(HaveOccurred())
			for _, alert := range alerts(t) {
				NewWithT(t).Expect(strings.Contains(string(said), `ALERTS{alertname=\"`+alert.Alert+`\"`)).To(BeTrue(),
					"the table does not notice that %s %s", alert.Alert, verb)
			}
		})
	}
}

// pages is where links of rules and dashboards lead.
const pages = "https://github.com/ccm-migration/ccm-migration-controller/blob/main/docs/"

// problemOf a link: it leads to no page of ours, or to no heading of it.
func problemOf(link string) string {
	page, found := strings.CutPrefix(link, pages)
	page, anchor, _ := strings.Cut(page, "#")
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	heading := regexp.MustCompile(`(?mi)^#+ ` + strings.ReplaceAll(regexp.QuoteMeta(anchor), "-", "[- ]") + `$`)
	switch {
	case !found:
		return link + " is no page of ours"
	case err != nil:
		return "there is no page " + page
	case anchor != "" && !heading.Match(text):
		return page + " has no heading " + anchor
	}
	return ""
}

func TestLinksThatLeadNowhereAreNoticed(t *testing.T) {
	for name, test := range map[string]struct{ link, problem string }{
		"a page":                      {pages + "alerts.md", ""},
		"a heading":                   {pages + "alerts.md#ccmmigrationtakeslong", ""},
		"a heading of two words":      {pages + "preflight.md#looking-ahead", ""},
		"a page that there is not":    {pages + "x.md", "there is no page x.md"},
		"a heading that there is not": {pages + "alerts.md#x", "alerts.md has no heading x"},
		"a page of others":            {"https://example.org", "https://example.org is no page of ours"},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(problemOf(test.link)).To(Equal(test.problem)) })
	}
}

func TestAlertsSayWhatToDo(t *testing.T) {
	table, err := os.ReadFile("../../docs/alerts.md")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, alert := range alerts(t) {
		g := NewWithT(t)
		g.Expect(string(table)).To(MatchRegexp("(?m)^\\| \\[?`%s`.* \\| %s \\|", alert.Alert, alert.Labels["severity"]))
		g.Expect(alert.Labels["severity"]).To(BeElementOf("critical", "warning"), alert.Alert)
		g.Expect(alert.Annotations).To(And(HaveLen(3), HaveKeyWithValue("summary", HaveSuffix(".")),
			HaveKeyWithValue("description", HaveSuffix("."))), alert.Alert)
		link := alert.Annotations["runbook_url"]
		if link == pages+"runbooks/{{ $labels.reason }}.md" {
			continue // Each reason of these alerts has a runbook.
		}
		g.Expect(problemOf(link)).To(BeEmpty(), alert.Alert)
	}
}
