package cluster

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"
)

// installedDefinition is the one of this release.
func installedDefinition(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	g := NewWithT(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "crd", "bases", "usercluster.k8c.io_clusters.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	definition := &unstructured.Unstructured{}
	g.Expect(yaml.Unmarshal(text, &definition.Object)).To(Succeed())
	g.Expect(definition.GetName()).To(Equal(DefinitionName))
	return definition
}

func TestFieldsThatTheDefinitionLacks(t *testing.T) {
	below := func(fields ...string) func(map[string]any) {
		return func(schema map[string]any) { unstructured.RemoveNestedField(schema, fields...) }
	}
	for name, tc := range map[string]struct {
		older func(schema map[string]any)
		want  []string
	}{
		"that of this release": {older: below("description"), want: nil},
		"a field of the spec":  {older: below("properties", "spec", "properties", "paused"), want: []string{"spec.paused"}},
		"a field and what is below it": {
			older: below("properties", "status", "properties", "handover"), want: []string{"status.handover"},
		},
		"a field of a field": {
			older: below("properties", "spec", "properties", "cloud", "properties", "configSecretRef", "properties", "name"),
			want:  []string{"spec.cloud.configSecretRef.name"},
		},
		"a field in a list": {
			older: below("properties", "status", "properties", "timeline", "items", "properties", "actor"),
			want:  []string{"status.timeline[].actor"},
		},
		"a field of someone else's type": {
			older: below("properties", "status", "properties", "conditions", "items", "properties", "reason"),
			want:  []string{"status.conditions[].reason"},
		},
		"a definition without a schema": {older: below("properties"), want: []string{"spec", "status"}},
		"one that is newer": {
			older: func(schema map[string]any) {
				_ = unstructured.SetNestedField(schema, "string", "properties", "status", "properties", "tomorrow", "type")
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			definition := installedDefinition(t)
			tc.older(servedSchema(definition.Object))
			found, err := MissingFields(t.Context(), fake.NewClientBuilder().WithObjects(definition).Build())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(found).To(Equal(tc.want))
		})
	}
}

func TestADefinitionOfAnotherVersionLacksAll(t *testing.T) {
	g := NewWithT(t)
	definition := installedDefinition(t)
	versions, _, err := unstructured.NestedSlice(definition.Object, "spec", "versions")
	g.Expect(err).NotTo(HaveOccurred())
	versions[0].(map[string]any)["name"] = "v1alpha0"
	g.Expect(unstructured.SetNestedSlice(definition.Object, versions, "spec", "versions")).To(Succeed())
	g.Expect(MissingFields(t.Context(), fake.NewClientBuilder().WithObjects(definition).Build())).To(ConsistOf("spec", "status"))

	_, err = MissingFields(t.Context(), fake.NewClientBuilder().Build())
	g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "one that is not there lacks nothing that could be named: %v", err)
}
