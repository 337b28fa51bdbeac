package main

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
)

func TestTablesHaveTheMetricsThatAreRegistered(t *testing.T) {
	g, listed := NewWithT(t), &list{}
	for _, c := range []prometheus.Collector{
		prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "c_seconds", Help: `It says "now".`}, []string{"a", "b"}),
		prometheus.NewHistogram(prometheus.HistogramOpts{Name: "d_seconds", Help: "D."}),
		prometheus.NewCounterVec(prometheus.CounterOpts{Name: "b_total", Help: "B."}, nil),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "a", Help: "A.", ConstLabels: prometheus.Labels{"x": "1"},
		}, func() float64 { return 0 }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "a", Help: "A.", ConstLabels: prometheus.Labels{"x": "2"},
		}, func() float64 { return 0 }),
	} {
		g.Expect(listed.Register(c)).To(Succeed())
	}
	g.Expect(listed.table()).To(Equal("| Metric | Type | Labels | Is |\n|---|---|---|---|\n" +
		"| `c_seconds` | histogram | `a`, `b` | It says \"now\". |\n" +
		"| `d_seconds` | histogram |  | D. |\n" +
		"| `b_total` | counter |  | B. |\n" +
		"| `a` | gauge | `x` | A. |\n"))
}

func TestMetricsThatNoTableCanHaveAreRefused(t *testing.T) {
	for name, tc := range map[string]struct{ desc, problem string }{
		"a help that ends a cell": {
			prometheus.NewDesc("a", "This | that.", nil, nil).String(), "would end a cell",
		},
		"a form that is not known": {"a{b}", "unknown form"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := metricOf(tc.desc, "gauge")
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.problem)))
		})
	}
}
