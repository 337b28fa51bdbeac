package kubestatemetrics

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/kube-state-metrics/v2/pkg/customresourcestate"
	"k8s.io/kube-state-metrics/v2/pkg/metric"
	"sigs.k8s.io/yaml"
)

// configuration as kube-state-metrics reads it, which looks at no kind and at no field that it does not know.
type configuration struct {
	Kind                        string `json:"kind"`
	customresourcestate.Metrics `json:",inline"`
}

func file(t *testing.T, name ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, name...)...))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// resources of the configuration, by kind. kube-state-metrics takes types of metrics in any case.
func resources(t *testing.T) map[string]customresourcestate.Resource {
	t.Helper()
	g, read, found := NewWithT(t), configuration{}, map[string]customresourcestate.Resource{}
	text := file(t, "config", "kube-state-metrics", "custom-resource-state.yaml")
	g.Expect(yaml.UnmarshalStrict([]byte(text), &read)).To(Succeed())
	g.Expect(read.Kind).To(Equal("CustomResourceStateMetrics"))
	for _, resource := range read.Spec.Resources {
		for i := range resource.Metrics {
			each := &resource.Metrics[i].Each
			each.Type = metric.Type(strings.ToLower(string(each.Type)))
		}
		found[resource.GroupVersionKind.Kind] = resource
	}
	g.Expect(found).To(And(HaveLen(len(read.Spec.Resources)), HaveKey("Cluster"), HaveKey("FleetMigration")))
	return found
}

// seriesOf an object, as they are scraped, without the labels that say which kind it is.
func seriesOf(t *testing.T, resource customresourcestate.Resource, object *unstructured.Unstructured) (lines []string) {
	t.Helper()
	factory, err := customresourcestate.NewCustomResourceMetrics(resource)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	kind := regexp.MustCompile(`customresource_\w+="[^"]*",?`)
	for _, family := range factory.MetricFamilyGenerators() {
		for line := range strings.Lines(string(family.Generate(object).ByteSlice())) {
			lines = append(lines, kind.ReplaceAllString(strings.TrimSpace(line), ""))
		}
	}
	return lines
}

func definition(t *testing.T, plural string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	read := &apiextensionsv1.CustomResourceDefinition{}
	text := file(t, "config", "crd", "bases", "usercluster.k8c.io_"+plural+".yaml")
	NewWithT(t).Expect(yaml.UnmarshalStrict([]byte(text), read)).To(Succeed())
	return read.Spec.Versions[0].Schema.OpenAPIV3Schema
}

func TestKubeStateMetricsMayReadWhatItIsAskedToShow(t *testing.T) {
	g, role := NewWithT(t), &rbacv1.ClusterRole{}
	g.Expect(yaml.UnmarshalStrict([]byte(file(t, "config", "kube-state-metrics", "cluster_role.yaml")), role)).To(Succeed())
	granted := map[string][]string{}
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			granted[resource+"."+rule.APIGroups[0]] = rule.Verbs
		}
	}
	needed := map[string][]string{"customresourcedefinitions.apiextensions.k8s.io": {"list", "watch"}}
	for _, resource := range resources(t) {
		needed[resource.GetResourceName()+"."+resource.GroupVersionKind.Group] = []string{"list", "watch"}
	}
	g.Expect(granted).To(Equal(needed), "no more and no less")
}
