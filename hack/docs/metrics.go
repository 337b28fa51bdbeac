package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster"
	"github.com/ccm-migration/ccm-migration-controller/controllers/fleetmigration"
)

// metric is a row of a table.
type metric struct {
	name, kind, help string
	labels           []string
}

// metricTables are made of the metrics as the manager registers them.
func metricTables() (map[string]string, error) {
	tables := map[string]string{}
	for name, register := range map[string]func(prometheus.Registerer) error{
		"metrics of Clusters": func(r prometheus.Registerer) error {
			_, err := cluster.NewMetrics(r)
			return err
		},
		"metrics of FleetMigrations": func(r prometheus.Registerer) error {
			_, err := fleetmigration.NewMetrics(r)
			return err
		},
	} {
		listed := &list{}
		if err := register(listed); err != nil {
			return nil, err
		}
		tables[name] = listed.table()
	}
	var err error
	tables["metrics of libraries"], err = libraryTable()
	return tables, err
}

// libraryTable has what controller-runtime registers, by name. A description does not say which type a metric has. Of the many of
// Go, it has those that dashboards show.
func libraryTable() (string, error) {
	registry, is := metrics.Registry.(prometheus.Collector)
	if !is {
		return "", errors.New("the registry of controller-runtime does not describe what is in it")
	}
	listed := &list{}
	if err := listed.Register(registry); err != nil {
		return "", err
	}
	slices.SortFunc(listed.metrics, func(a, b metric) int { return cmp.Compare(a.name, b.name) })
	var out strings.Builder
	out.WriteString("| Metric | Labels | Is |\n|---|---|---|\n")
	for _, m := range listed.metrics {
		if strings.HasPrefix(m.name, "go_") && m.name != "go_goroutines" && m.name != "go_memstats_heap_inuse_bytes" {
			continue
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", m.name, quoted(m.labels), m.help)
	}
	return out.String(), nil
}

// list takes note of what is registered, in that order: what belongs together stands together.
type list struct{ metrics []metric }

// Register notes the metrics of a collector. Some are registered more than once, with another value of a label each.
func (l *list) Register(c prometheus.Collector) error {
	descs := make(chan *prometheus.Desc)
	go func() {
		defer close(descs)
		c.Describe(descs)
	}()
	var problem error
	for desc := range descs {
		m, err := metricOf(desc.String(), kindOf(c))
		switch {
		case err != nil:
			problem = cmp.Or(problem, err)
		case !slices.ContainsFunc(l.metrics, func(known metric) bool { return known.name == m.name }):
			l.metrics = append(l.metrics, m)
		}
	}
	return problem
}

// MustRegister is for those who cannot go on without their metrics.
func (l *list) MustRegister(collectors ...prometheus.Collector) {
	for _, c := range collectors {
		if err := l.Register(c); err != nil {
			panic(err)
		}
	}
}

// Unregister is never asked for.
func (l *list) Unregister(prometheus.Collector) bool { return false }

// kindOf a collector: whatever neither counts nor observes is a gauge.
func kindOf(c prometheus.Collector) string {
	switch c.(type) {
	case *prometheus.CounterVec:
		return "counter"
	case *prometheus.HistogramVec, prometheus.Histogram:
		return "histogram"
	}
	return "gauge"
}

// metricOf takes the text of a description apart, which is the only way to what is in it.
func metricOf(desc, kind string) (metric, error) {
	const quoted = `("(?:[^"\\]|\\.)*")`
	parts := regexp.MustCompile(
		`^Desc\{fqName: ` + quoted + `, help: ` + quoted + `, constLabels: \{(.*)\}, variableLabels: \{(.*)\}\}$`,
	).FindStringSubmatch(desc)
	if parts == nil {
		return metric{}, fmt.Errorf("a metric describes itself in an unknown form: %s", desc)
	}
	m := metric{kind: kind}
	var err error
	if m.name, err = strconv.Unquote(parts[1]); err != nil {
		return metric{}, err
	}
	if m.help, err = strconv.Unquote(parts[2]); err != nil {
		return metric{}, err
	}
	if strings.Contains(m.help, "|") {
		return metric{}, fmt.Errorf("the help of metric %s would end a cell of a table: %s", m.name, m.help)
	}
	for _, pair := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(parts[3], -1) {
		m.labels = append(m.labels, pair[1])
	}
	m.labels = append(m.labels, strings.FieldsFunc(parts[4], func(r rune) bool { return r == ',' })...)
	return m, nil
}

func (l *list) table() string {
	var out strings.Builder
	out.WriteString("| Metric | Type | Labels | Is |\n|---|---|---|---|\n")
	for _, m := range l.metrics {
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", m.name, m.kind, quoted(m.labels), m.help)
	}
	return out.String()
}
