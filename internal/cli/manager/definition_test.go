package manager

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster"
)

func TestAnOldDefinitionIsSaidAtTheStart(t *testing.T) {
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "customresourcedefinitions"}, cluster.DefinitionName, nil)
	for name, tc := range map[string]struct {
		without []string
		err     error
		says    []string
		lacks   []float64
	}{
		"that of this release":     {lacks: []float64{0}},
		"one without a field":      {without: []string{"timeline"}, says: []string{"status.timeline", "Apply the CustomResourceDefinitions of this release"}, lacks: []float64{1}},
		"one without all":          {says: []string{"spec", "status"}, without: []string{""}, lacks: []float64{2}},
		"one that may not be read": {err: refused, says: []string{"could not be read", "is not known"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			reader := fake.NewClientBuilder().WithObjects(olderDefinition(t, tc.without)).WithInterceptorFuncs(interceptor.Funcs{
				Get: func(
					ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption,
				) error {
					if tc.err != nil {
						return tc.err
					}
					return c.Get(ctx, key, object, options...)
				},
			}).Build()
			registry := prometheus.NewRegistry()
			metrics, err := cluster.NewMetrics(registry)
			g.Expect(err).NotTo(HaveOccurred())
			var lines []string
			checkDefinition(t.Context(), reader, metrics, funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}))
			g.Expect(lines).To(HaveLen(min(len(tc.says), 1)), "once, and nothing when all is well")
			for _, words := range tc.says {
				g.Expect(lines[0]).To(ContainSubstring(words))
			}
			g.Expect(lacking(t, registry)).To(Equal(tc.lacks), "no value says that it could not be looked at")
		})
	}
}

func TestOnlyTheFirstMissingFieldsAreShown(t *testing.T) {
	g := NewWithT(t)
	definition := olderDefinition(t, nil)
	properties := statusProperties(t, definition)
	names := 0
	for name := range properties {
		if names++; names > maxFieldsShown+2 {
			break
		}
		delete(properties, name)
	}
	metrics, err := cluster.NewMetrics(prometheus.NewRegistry())
	g.Expect(err).NotTo(HaveOccurred())
	var shown any
	log := funcr.NewJSON(func(line string) {
		var entry map[string]any
		g.Expect(yaml.Unmarshal([]byte(line), &entry)).To(Succeed())
		shown = entry["fields"]
		g.Expect(entry).To(HaveKeyWithValue("count", float64(maxFieldsShown+2)))
	}, funcr.Options{})
	checkDefinition(t.Context(), fake.NewClientBuilder().WithObjects(definition).Build(), metrics, log)
	g.Expect(shown).To(HaveLen(maxFieldsShown))
}

// olderDefinition is that of this release without some fields of the status; the empty name takes the whole schema away.
func olderDefinition(t *testing.T, without []string) *unstructured.Unstructured {
	t.Helper()
	g := NewWithT(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "crd", "bases", "usercluster.k8c.io_clusters.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	definition := &unstructured.Unstructured{}
	g.Expect(yaml.Unmarshal(text, &definition.Object)).To(Succeed())
	for _, name := range without {
		if name == "" {
			g.Expect(unstructured.SetNestedSlice(definition.Object, nil, "spec", "versions")).To(Succeed())
			continue
		}
		delete(statusProperties(t, definition), name)
	}
	return definition
}

func statusProperties(t *testing.T, definition *unstructured.Unstructured) map[string]any {
	t.Helper()
	versions := definition.Object["spec"].(map[string]any)["versions"].([]any)
	found, exists, err := unstructured.NestedFieldNoCopy(
		versions[0].(map[string]any),
		"schema",
		"openAPIV3Schema",
		"properties",
		"status",
		"properties",
	)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(exists).To(BeTrue())
	return found.(map[string]any)
}

// lacking are the values of the gauge.
func lacking(t *testing.T, registry *prometheus.Registry) (values []float64) {
	t.Helper()
	families, err := registry.Gather()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == "ccm_migration_definition_missing_fields" {
				values = append(values, metric.GetGauge().GetValue())
			}
		}
	}
	return values
}
