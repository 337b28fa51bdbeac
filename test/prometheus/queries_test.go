package prometheus

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/prometheus/prometheus/promql/parser"
)

// series are metrics, each with the labels that it may have.
type series map[string][]string

type labelSet map[string]bool

func setOf(labels ...string) labelSet {
	set := labelSet{}
	for _, label := range labels {
		set[label] = true
	}
	return set
}

func (s labelSet) without(labels ...string) labelSet {
	rest := maps.Clone(s)
	for _, label := range labels {
		delete(rest, label)
	}
	return rest
}

func (s labelSet) and(others labelSet) labelSet {
	all := maps.Clone(s)
	maps.Copy(all, others)
	return all
}

// reading of an expression: which labels its result has, and what there is not.
type reading struct {
	series   series
	problems []string
}

// problemsOf an expression, and the labels of its result.
func problemsOf(text string, known series) (labelSet, []string) {
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil {
		return nil, []string{err.Error()}
	}
	r := &reading{series: known}
	return r.labels(expr), r.problems
}

func (r *reading) object(form string, arguments ...any) {
	r.problems = append(r.problems, fmt.Sprintf(form, arguments...))
}

// expect that labels are among those that there are.
func (r *reading) expect(there labelSet, where string, wanted ...string) {
	for _, label := range wanted {
		if !there[label] {
			r.object("%s: no label %s", where, label)
		}
	}
}

func (r *reading) labels(expr parser.Expr) labelSet {
	switch e := expr.(type) {
	case *parser.VectorSelector:
		return r.selected(e)
	case *parser.MatrixSelector:
		return r.labels(e.VectorSelector)
	case *parser.SubqueryExpr:
		return r.labels(e.Expr)
	case *parser.ParenExpr:
		return r.labels(e.Expr)
	case *parser.UnaryExpr:
		return r.labels(e.Expr)
	case *parser.AggregateExpr:
		return r.aggregated(e)
	case *parser.BinaryExpr:
		return r.combined(e)
	case *parser.Call:
		return r.called(e)
	case *parser.NumberLiteral, *parser.StringLiteral:
		return labelSet{}
	}
	r.object("%T is not understood", expr)
	return labelSet{}
}

func (r *reading) selected(e *parser.VectorSelector) labelSet {
	there, known := r.series[e.Name]
	if !known {
		r.object("there is no metric %s", e.Name)
	}
	for _, matcher := range e.LabelMatchers {
		if matcher.Name != "__name__" {
			r.expect(setOf(there...), e.Name, matcher.Name)
		}
	}
	return setOf(there...)
}

func (r *reading) aggregated(e *parser.AggregateExpr) labelSet {
	within := r.labels(e.Expr)
	r.expect(within, e.Op.String(), e.Grouping...)
	switch {
	case e.Op == parser.TOPK || e.Op == parser.BOTTOMK:
		return within
	case e.Without:
		return within.without(e.Grouping...)
	}
	return setOf(e.Grouping...)
}

func (r *reading) combined(e *parser.BinaryExpr) labelSet {
	left, right := r.labels(e.LHS), r.labels(e.RHS)
	matching := e.VectorMatching
	switch {
	case matching == nil:
		return left.and(right) // One of them is a number.
	case matching.On:
		r.expect(left, "on", matching.MatchingLabels...)
		r.expect(right, "on", matching.MatchingLabels...)
	case e.Op == parser.LOR:
		return left.and(right)
	case !maps.Equal(left.without(matching.MatchingLabels...), right.without(matching.MatchingLabels...)):
		r.object("%s: the sides have other labels and never match", e.Op)
	}
	many, one := left, right
	if matching.Card == parser.CardOneToMany {
		many, one = right, left
	}
	r.expect(one, "group", matching.Include...)
	if matching.On && matching.Card == parser.CardOneToOne {
		return setOf(matching.MatchingLabels...)
	}
	return many.and(setOf(matching.Include...))
}

// called is the result of a function: its argument's labels, but for those that the table names.
func (r *reading) called(e *parser.Call) labelSet {
	all := labelSet{}
	for _, argument := range e.Args {
		all = all.and(r.labels(argument))
	}
	switch e.Func.Name {
	case "histogram_quantile":
		r.expect(all, e.Func.Name, "le")
		return all.without("le")
	case "absent", "absent_over_time", "scalar", "vector", "time":
		return labelSet{}
	case "label_replace", "label_join":
		if to, is := e.Args[1].(*parser.StringLiteral); is {
			return all.and(setOf(to.Val))
		}
	}
	return all
}

func TestQueriesOfWhatThereIsNotAreNoticed(t *testing.T) {
	known := series{"a": {"b", "c"}, "d": {"b", "e"}, "f_bucket": {"le", "b"}}
	for name, test := range map[string]struct {
		expr     string
		labels   []string
		problems []string
	}{
		"a metric":                               {`a{b="1"}`, []string{"b", "c"}, nil},
		"a sum":                                  {`sum by (b) (a)`, []string{"b"}, nil},
		"a sum without a label":                  {`sum without (b) (a)`, []string{"c"}, nil},
		"a quantile":                             {`histogram_quantile(0.5, sum by (le, b) (rate(f_bucket[5m])))`, []string{"b"}, nil},
		"a share":                                {`sum by (b) (a) / sum by (b) (d)`, []string{"b"}, nil},
		"what has one label of another":          {`a * on (b) group_left (e) d`, []string{"b", "c", "e"}, nil},
		"one or the other":                       {`sum(a) or sum by (b) (a)`, []string{"b"}, nil},
		"a time":                                 {`time() - max(a)`, []string{}, nil},
		"a new label":                            {`label_replace(sum(a), "x", "$1", "", "")`, []string{"x"}, nil},
		"no expression":                          {`sum(`, nil, []string{"1:5: parse error: unclosed left parenthesis"}},
		"a metric that there is not":             {`x`, []string{}, []string{"there is no metric x"}},
		"a matcher that there is not":            {`a{x="1"}`, []string{"b", "c"}, []string{"a: no label x"}},
		"a sum by a label that there is not":     {`sum by (x) (a)`, []string{"x"}, []string{"sum: no label x"}},
		"a sum by a label of another metric":     {`sum by (e) (a) + sum by (e) (d)`, []string{"e"}, []string{"sum: no label e"}},
		"a label that an inner sum took away":    {`sum by (c) (sum by (b) (a))`, []string{"c"}, []string{"sum: no label c"}},
		"a quantile without le":                  {`histogram_quantile(0.5, sum by (b) (f_bucket))`, []string{"b"}, []string{"histogram_quantile: no label le"}},
		"sides that never match":                 {`sum(a) / sum by (b) (d)`, []string{}, []string{"/: the sides have other labels and never match"}},
		"a match on a label that one side lacks": {`a * on (c) d`, []string{"c"}, []string{"on: no label c"}},
		"a group of a label that is not there":   {`a * on (b) group_left (x) d`, []string{"b", "c", "x"}, []string{"group: no label x"}},
	} {
		t.Run(name, func(t *testing.T) {
			result, problems := problemsOf(test.expr, known)
			NewWithT(t).Expect(problems).To(Equal(test.problems))
			NewWithT(t).Expect(slices.Sorted(maps.Keys(result))).To(ConsistOf(test.labels))
		})
	}
}
