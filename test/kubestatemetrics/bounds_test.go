package kubestatemetrics

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/kube-state-metrics/v2/pkg/customresourcestate"
)

// at is what a definition says of a path; nil where it knows none. The API server gives each object its metadata.
func at(schema *apiextensionsv1.JSONSchemaProps, path []string) *apiextensionsv1.JSONSchemaProps {
	if len(path) == 2 && path[0] == "metadata" && slices.Contains([]string{"name", "namespace", "creationTimestamp"}, path[1]) {
		return &apiextensionsv1.JSONSchemaProps{Type: "string"}
	}
	for _, step := range path {
		next, there := schema.Properties[step]
		if !there {
			return nil
		}
		schema = &next
	}
	return schema
}

// limit is how many series a metric of one object can have, by the definition of its kind, and what is wrong with its paths.
func limit(schema *apiextensionsv1.JSONSchemaProps, m customresourcestate.Generator) (series int64, problems []string) {
	var meta customresourcestate.MetricMeta
	var value []string
	switch each := m.Each; {
	case each.Gauge != nil:
		meta, value = each.Gauge.MetricMeta, each.Gauge.ValueFrom
	case each.Info != nil:
		meta = each.Info.MetricMeta
	default:
		return 0, []string{m.Name + " is neither a gauge nor an info"}
	}
	below, series := at(schema, meta.Path), 1
	if below == nil {
		return 0, []string{fmt.Sprintf("%s: there is no %s", m.Name, strings.Join(meta.Path, "."))}
	}
	if below.Type == "array" {
		if below.MaxItems == nil {
			return 0, []string{fmt.Sprintf("%s: %s has no limit", m.Name, strings.Join(meta.Path, "."))}
		}
		series, below = *below.MaxItems, below.Items.Schema
	}
	paths := [][]string{value}
	for _, path := range meta.LabelsFromPath {
		paths = append(paths, path)
	}
	for _, path := range paths {
		switch found := at(below, path); {
		case found == nil:
			problems = append(problems, fmt.Sprintf("%s: there is no %s", m.Name, strings.Join(path, ".")))
		case found.Type == "object" && m.Each.Gauge != nil, found.Type == "array":
			problems = append(problems, fmt.Sprintf("%s: %s is no single value", m.Name, strings.Join(path, ".")))
		}
	}
	return series, problems
}

func TestSeriesOfAnObjectAreBounded(t *testing.T) {
	for kind, resource := range resources(t) {
		g, all := NewWithT(t), int64(0)
		schema := definition(t, resource.GetResourceName())
		for _, m := range resource.Metrics {
			series, problems := limit(schema, m)
			g.Expect(problems).To(BeEmpty())
			all += series
		}
		for _, path := range resource.LabelsFromPath {
			g.Expect(at(schema, path)).NotTo(BeNil(), "%v", path)
		}
		said := fmt.Sprintf("a %s has at most %d series", kind, all)
		if kind == "FleetMigration" {
			said = fmt.Sprintf("a FleetMigration at most %d", all)
		}
		for _, where := range [][]string{{"config", "kube-state-metrics", "custom-resource-state.yaml"}, {"docs", "dashboards.md"}} {
			text := strings.Join(strings.Fields(file(t, where...)), " ")
			g.Expect(strings.ToLower(text)).To(ContainSubstring(strings.ToLower(said)), strings.Join(where, "/"))
		}
	}
}

func TestAMetricWithoutALimitIsNoticed(t *testing.T) {
	eight := int64(8)
	object := func(properties map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: properties}
	}
	item := object(map[string]apiextensionsv1.JSONSchemaProps{"name": {Type: "string"}, "count": {Type: "integer"}})
	list := apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &item}}
	bounded := list
	bounded.MaxItems = &eight
	schema := object(map[string]apiextensionsv1.JSONSchemaProps{"list": list, "bounded": bounded, "one": item})
	for name, test := range map[string]struct {
		path, value, label []string
		series             int64
		problems           []string
	}{
		"one value":                         {[]string{"one", "count"}, nil, nil, 1, nil},
		"a list with a limit":               {[]string{"bounded"}, []string{"count"}, []string{"name"}, 8, nil},
		"a list without a limit":            {[]string{"list"}, []string{"count"}, nil, 0, []string{"m: list has no limit"}},
		"a path that there is not":          {[]string{"two"}, nil, nil, 0, []string{"m: there is no two"}},
		"a value that there is not":         {[]string{"bounded"}, []string{"x"}, nil, 8, []string{"m: there is no x"}},
		"a label that there is not":         {[]string{"bounded"}, []string{"count"}, []string{"y"}, 8, []string{"m: there is no y"}},
		"an object where a value has to be": {[]string{"one"}, nil, nil, 1, []string{"m:  is no single value"}},
	} {
		t.Run(name, func(t *testing.T) {
			gauge := &customresourcestate.MetricGauge{ValueFrom: test.value}
			gauge.Path = test.path
			if test.label != nil {
				gauge.LabelsFromPath = map[string][]string{"label": test.label}
			}
			series, problems := limit(&schema, customresourcestate.Generator{
				Name: "m", Each: customresourcestate.Metric{Gauge: gauge},
			})
			NewWithT(t).Expect(series).To(Equal(test.series))
			NewWithT(t).Expect(problems).To(Equal(test.problems))
		})
	}
}
