package prometheus

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/prometheus/prometheus/promql/parser"
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

// promtool without the service discovery of clouds, which is most of what it has.
func promtool(t *testing.T, arguments ...string) ([]byte, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", append([]string{"tool", "promtool"}, arguments...)...)
	command.Env = append(os.Environ(), "GOFLAGS=-tags=remove_all_sd")
	return command.CombinedOutput()
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
	said, err := test(t, rules(t))
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), "%s", said)
}

// A table that notices nothing proves nothing: no alert fires, and then all do.
func TestTheTableNoticesEachAlert(t *testing.T) {
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
	}
}

func TestAlertsSayWhatToDo(t *testing.T) {
	const home = "https://github.com/ccm-migration/ccm-migration-controller/blob/main/docs/"
	table, err := os.ReadFile("../../docs/alerts.md")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, alert := range alerts(t) {
		g := NewWithT(t)
		g.Expect(string(table)).To(MatchRegexp("(?m)^\\| \\[?`%s`.* \\| %s \\|", alert.Alert, alert.Labels["severity"]))
		g.Expect(alert.Labels["severity"]).To(BeElementOf("critical", "warning"), alert.Alert)
		g.Expect(alert.Annotations).To(And(HaveLen(3), HaveKeyWithValue("summary", HaveSuffix(".")),
			HaveKeyWithValue("description", HaveSuffix("."))), alert.Alert)
		page, found := strings.CutPrefix(alert.Annotations["runbook_url"], home)
		g.Expect(found).To(BeTrue(), alert.Alert)
		page, anchor, _ := strings.Cut(page, "#")
		if strings.Contains(page, "{{") {
			g.Expect(page).To(Equal("runbooks/{{ $labels.reason }}.md"), "of a reason, each of which has a runbook")
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		g.Expect(err).NotTo(HaveOccurred(), alert.Alert)
		if anchor != "" {
			g.Expect(strings.ToLower(string(text))).To(ContainSubstring("\n## "+anchor+"\n"), alert.Alert)
		}
	}
}

// known is what docs/metrics.md, which is generated, has: each metric with its labels.
func known(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/metrics.md")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	metrics := map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(ccm_migration_[a-z_]+)` \\| \\w+ \\| (.*?) \\|").FindAllSubmatch(text, -1) {
		labels := []string{}
		for _, label := range regexp.MustCompile("`(\\w+)`").FindAllSubmatch(row[2], -1) {
			labels = append(labels, string(label[1]))
		}
		metrics[string(row[1])] = labels
	}
	return metrics
}

func TestRulesReadMetricsThatThereAre(t *testing.T) {
	metrics := known(t)
	NewWithT(t).Expect(len(metrics)).To(BeNumerically(">", 20))
	for _, group := range rules(t) {
		for _, rule := range group.Rules {
			if rule.Record != "" {
				metrics[rule.Record] = []string{"indicator"}
			}
		}
	}
	for _, group := range rules(t) {
		for _, rule := range group.Rules {
			for _, problem := range problemsOf(t, rule.Expr, metrics) {
				t.Errorf("%s%s: %s", rule.Record, rule.Alert, problem)
			}
		}
	}
}

// problemsOf an expression: metrics and labels that there are not.
func problemsOf(t *testing.T, text string, metrics map[string][]string) (problems []string) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	seen := []string{}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		selector, is := node.(*parser.VectorSelector)
		if !is {
			return nil
		}
		labels, there := metrics[selector.Name]
		if !there {
			problems = append(problems, fmt.Sprintf("there is no metric %s", selector.Name))
		}
		seen = append(seen, labels...)
		for _, matcher := range selector.LabelMatchers {
			if matcher.Name != "__name__" && !slices.Contains(labels, matcher.Name) {
				problems = append(problems, fmt.Sprintf("%s has no label %s", selector.Name, matcher.Name))
			}
		}
		return nil
	})
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if aggregation, is := node.(*parser.AggregateExpr); is {
			for _, label := range aggregation.Grouping {
				if !slices.Contains(seen, label) {
					problems = append(problems, fmt.Sprintf("no metric has the label %s", label))
				}
			}
		}
		return nil
	})
	return problems
}

func TestAMetricThatThereIsNotIsNoticed(t *testing.T) {
	g, metrics := NewWithT(t), map[string][]string{"a": {"b"}}
	g.Expect(problemsOf(t, `sum by (b) (a{b="1"})`, metrics)).To(BeEmpty())
	g.Expect(problemsOf(t, `x`, metrics)).To(ConsistOf("there is no metric x"))
	g.Expect(problemsOf(t, `sum by (d) (a{c="1"})`, metrics)).To(ConsistOf("a has no label c", "no metric has the label d"))
}
