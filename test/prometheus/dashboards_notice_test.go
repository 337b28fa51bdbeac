package prometheus

import (
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

// panelFrom is a panel with all that it needs, changed by a patch in YAML.
func panelFrom(t *testing.T, patch string) (p panel) {
	t.Helper()
	const whole = `{id: 1, type: stat, title: A, description: It is a., gridPos: {h: 4, w: 4, x: 0, "y": 0},
		fieldConfig: {defaults: {unit: short, thresholds: {steps: [{value: null}]}}}, targets: [{expr: a, datasource: {type: prometheus, uid: $datasource}}]}`
	NewWithT(t).Expect(yaml.Unmarshal([]byte(whole), &p)).To(Succeed())
	NewWithT(t).Expect(yaml.Unmarshal([]byte(patch), &p)).To(Succeed())
	return p
}

func TestPanelsThatLieBadlyAreNoticed(t *testing.T) {
	for name, test := range map[string]struct{ other, problem string }{
		"side by side":              {`{id: 2, title: B, gridPos: {x: 4}}`, ""},
		"one below the other":       {`{id: 2, title: B, gridPos: {"y": 4}}`, ""},
		"one over the other":        {`{id: 2, title: B, gridPos: {x: 3, "y": 3}}`, "B lies over A"},
		"the same number":           {`{id: 1, title: B, gridPos: {x: 4}}`, "B and A have number 1"},
		"beyond the right border":   {`{id: 2, title: B, gridPos: {x: 21}}`, "B is outside of the grid"},
		"a panel without any width": {`{id: 2, title: B, gridPos: {x: 4, w: 0}}`, "B is outside of the grid"},
	} {
		t.Run(name, func(t *testing.T) {
			problems := arrangement([]panel{panelFrom(t, `{}`), panelFrom(t, test.other)})
			if test.problem == "" {
				NewWithT(t).Expect(problems).To(BeEmpty())
			} else {
				NewWithT(t).Expect(problems).To(ConsistOf(test.problem))
			}
		})
	}
}

func TestPanelsThatAreNotUnderstoodAreNoticed(t *testing.T) {
	for name, test := range map[string]struct{ patch, problem string }{
		"a whole panel":             {`{}`, ""},
		"a row":                     {`{type: row, description: "", targets: []}`, ""},
		"no title":                  {`{title: ""}`, "a panel has no title"},
		"no description":            {`{description: ""}`, "A: no sentence describes it"},
		"no unit":                   {`{fieldConfig: {defaults: {unit: ""}}}`, `A: unit "" is not known`},
		"a unit that there is not":  {`{fieldConfig: {defaults: {unit: x}}}`, `A: unit "x" is not known`},
		"no thresholds":             {`{fieldConfig: {defaults: {thresholds: {steps: []}}}}`, "A: no thresholds, so that Grafana takes its own"},
		"no query":                  {`{targets: []}`, "A: no query"},
		"a link that leads nowhere": {`{links: [{url: "` + pages + `x.md"}]}`, "A: there is no page x.md"},
	} {
		t.Run(name, func(t *testing.T) {
			problems := saying(panelFrom(t, test.patch))
			if test.problem == "" {
				NewWithT(t).Expect(problems).To(BeEmpty())
			} else {
				NewWithT(t).Expect(problems).To(ConsistOf(test.problem))
			}
		})
	}
}

func TestQueriesOfDashboardsThatAskForWhatThereIsNotAreNoticed(t *testing.T) {
	const from = `datasource: {type: prometheus, uid: $datasource}`
	for name, test := range map[string]struct{ dashboard, problem string }{
		"a query":                       {`{panels: [{title: A, targets: [{expr: a, legendFormat: "{{b}}", ` + from + `}]}]}`, ""},
		"a variable of Grafana":         {`{panels: [{title: A, targets: [{expr: "rate(a[$__rate_interval])", ` + from + `}]}]}`, ""},
		"a metric that there is not":    {`{panels: [{title: A, targets: [{expr: x, ` + from + `}]}]}`, "A: there is no metric x"},
		"a legend of a label that went": {`{panels: [{title: A, targets: [{expr: sum(a), legendFormat: "{{b}}", ` + from + `}]}]}`, "A: the legend has no label b"},
		"a fixed source":                {`{panels: [{title: A, targets: [{expr: a, datasource: {type: prometheus, uid: mine}}]}]}`, "A: not from $datasource"},
		"a variable that there is not":  {`{panels: [{title: A, targets: [{expr: "a{b=\"$x\"}", ` + from + `}]}]}`, "A: there is no variable $x"},
		"a variable of a label":         {`{templating: {list: [{name: v, type: query, query: "label_values(a, b)", ` + from + `}]}}`, ""},
		"a variable of no label":        {`{templating: {list: [{name: v, type: query, query: "label_values(a, x)", ` + from + `}]}}`, "v: the legend has no label x"},
		"a variable of no form":         {`{templating: {list: [{name: v, type: query, query: "a", ` + from + `}]}}`, "v: the query is not understood"},
		"a variable that comes later": {
			`{templating: {list: [{name: v, type: query, query: "label_values(a{b=\"$w\"}, b)", ` + from + `}, {name: w}]}}`,
			"v: there is no variable $w",
		},
		"an annotation of no metric": {`{annotations: {list: [{expr: x, ` + from + `}]}}`, "annotation: there is no metric x"},
	} {
		t.Run(name, func(t *testing.T) {
			d := dashboard{}
			NewWithT(t).Expect(yaml.Unmarshal([]byte(test.dashboard), &d)).To(Succeed())
			problems := asking(d, series{"a": {"b"}})
			if test.problem == "" {
				NewWithT(t).Expect(problems).To(BeEmpty())
			} else {
				NewWithT(t).Expect(problems).To(ConsistOf(test.problem))
			}
		})
	}
}
