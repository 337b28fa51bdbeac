package prometheus

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
)

// sampleOf a selector is a series that it selects. Labels that it does not ask for have the same value everywhere.
func sampleOf(e *parser.VectorSelector, all series) string {
	values := map[string]string{}
	for _, label := range all[e.Name] {
		values[label] = map[bool]string{true: "+Inf", false: "same"}[label == "le"]
	}
	for _, matcher := range e.LabelMatchers {
		if matcher.Name != "__name__" && !matcher.Matches("same") {
			values[matcher.Name], _, _ = strings.Cut(matcher.Value, "|")
		}
	}
	maps.DeleteFunc(values, func(_, value string) bool { return value == "" })
	pairs := []string{}
	for _, label := range slices.Sorted(maps.Keys(values)) {
		pairs = append(pairs, fmt.Sprintf("%s=%q", label, values[label]))
	}
	steps := "1x120"
	if strings.HasSuffix(e.Name, "_total") || strings.HasSuffix(e.Name, "_bucket") {
		steps = "1+1x120"
	}
	return fmt.Sprintf("  %s{%s} %s\n", e.Name, strings.Join(pairs, ","), steps)
}

// found says what is wrong with the answer to an expression, where there is a series for each of its selectors.
func found(t *testing.T, text string, all series) string {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	samples := map[string]bool{}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if selector, is := node.(*parser.VectorSelector); is {
			samples[sampleOf(selector, all)] = true
		}
		return nil
	})
	storage := promqltest.LoadedStorage(t, "load 1m\n"+strings.Join(slices.Sorted(maps.Keys(samples)), ""))
	engine := promqltest.NewTestEngine(t, false, 0, 10000)
	query, err := engine.NewInstantQuery(t.Context(), storage, nil, text, time.Unix(0, 0).Add(2*time.Hour))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	result := query.Exec(t.Context())
	defer query.Close()
	if result.Err != nil {
		return result.Err.Error()
	}
	vector, err := result.Vector()
	if err != nil || len(vector) == 0 {
		return "nothing is found"
	}
	return ""
}

// A query may ask for what there is and still find nothing: sides that do not match, or a filter that nothing passes.
func TestQueriesOfDashboardsFindWhatTheyAskFor(t *testing.T) {
	all, declared := known(t), []string{}
	for name, d := range dashboards(t) {
		for _, v := range d.Templating.List {
			declared = append(declared, v.Name)
		}
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				expr, _ := filled(target.Expr, declared)
				NewWithT(t).Expect(found(t, expr, all)).To(BeEmpty(), "%s, %s: %s", name, p.Title, expr)
			}
		}
	}
}

func TestQueriesThatFindNothingAreNoticed(t *testing.T) {
	all := series{"a": {"b"}, "c": {"b"}, "f_bucket": {"b", "le"}}
	for name, test := range map[string]struct{ expr, problem string }{
		"a metric":                   {`a{b="1"}`, ""},
		"a share":                    {`sum(a{b=~"1|2"}) / sum(c)`, ""},
		"a quantile":                 {`histogram_quantile(0.5, sum by (le) (rate(f_bucket[5m])))`, ""},
		"sides that do not match":    {`a{b="1"} / c{b="2"}`, "nothing is found"},
		"a filter that nothing pass": {`a > 1`, "nothing is found"},
		"several on one side":        {`a / on () (a{b="1"} or a{b="2"})`, "found duplicate series for the match group"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(found(t, test.expr, all)).To(HavePrefix(test.problem))
		})
	}
}
