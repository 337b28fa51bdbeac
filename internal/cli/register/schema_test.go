package register

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/registration"
)

// definition is the schema with its rules that the API server judges Clusters by.
func definition(t *testing.T) (refuses func(manifest map[string]any) field.ErrorList) {
	t.Helper()
	g := NewWithT(t)
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "crd", "bases", "usercluster.k8c.io_clusters.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	definition, props := &apiextensionsv1.CustomResourceDefinition{}, &apiextensions.JSONSchemaProps{}
	g.Expect(yaml.UnmarshalStrict(data, definition)).To(Succeed())
	g.Expect(definition.Spec.Versions).To(HaveLen(1))
	given := definition.Spec.Versions[0].Schema.OpenAPIV3Schema
	g.Expect(apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(given, props, nil)).To(Succeed())
	structural, err := schema.NewStructural(props)
	g.Expect(err).NotTo(HaveOccurred())
	values, _, err := validation.NewSchemaValidator(props)
	g.Expect(err).NotTo(HaveOccurred())
	rules := cel.NewValidator(structural, true, math.MaxInt64)
	g.Expect(rules).NotTo(BeNil(), "the definition has rules")
	return func(manifest map[string]any) field.ErrorList {
		problems := validation.ValidateCustomResource(nil, manifest, values)
		more, _ := rules.Validate(t.Context(), nil, structural, manifest, nil, math.MaxInt64)
		return append(problems, more...)
	}
}

func TestTheDefinitionIsAsked(t *testing.T) {
	refuses := definition(t)
	whole := func(change func(spec map[string]any)) map[string]any {
		spec := map[string]any{
			"version": "1.25.16",
			"cloud":   map[string]any{"providerName": "openstack", "configSecretRef": map[string]any{"name": "cloud"}},
		}
		change(spec)
		return map[string]any{
			"apiVersion": "usercluster.k8c.io/v1alpha1", "kind": "Cluster", "metadata": map[string]any{"name": "a"}, "spec": spec,
		}
	}
	for name, test := range map[string]struct {
		change func(spec map[string]any)
		says   string
	}{
		"it takes a good Cluster": {change: func(map[string]any) {}},
		"it refuses a value":      {change: func(spec map[string]any) { spec["mode"] = "Perhaps" }, says: "Unsupported value"},
		"it refuses what lacks a part": {
			change: func(spec map[string]any) { delete(spec, "cloud") }, says: "spec.cloud: Required value",
		},
		"it refuses by a rule": {
			change: func(spec map[string]any) {
				spec["controlPlane"] = map[string]any{"type": "External", "change": "Apply"}
			},
			says: "cannot be Apply when the type is External",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			problems := refuses(whole(test.change))
			if test.says == "" {
				g.Expect(problems).To(BeEmpty())
				return
			}
			g.Expect(problems.ToAggregate()).To(MatchError(ContainSubstring(test.says)))
		})
	}
}

// Every document that is printed is a Cluster that the API server takes, or refuses for what the document itself says is missing.
func TestProposalsPassTheRulesOfTheAPI(t *testing.T) {
	refuses := definition(t)
	for file, test := range map[string]struct {
		platform registration.Platform
		files    []string
	}{
		"kkp.yaml":         {platform: registration.KKP},
		"gardener.yaml":    {platform: registration.Gardener},
		"deployments.yaml": {platform: registration.Deployments},
		"kubeone.yaml":     {platform: registration.KubeOne, files: []string{"testdata/kubeone.yaml"}},
	} {
		t.Run(file, func(t *testing.T) {
			g := NewWithT(t)
			objects := objectsIn(t, "deployments.yaml")
			if len(test.files) == 0 {
				objects = objectsIn(t, file)
			}
			l := lookAt(t, test.platform, "", objects...)
			proposals, err := l.proposals(t.Context(), test.files)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(proposals).NotTo(BeEmpty())
			for _, proposal := range proposals {
				if proposal.Refused != "" {
					g.Expect(proposal.Manifest()).To(BeNil())
					continue
				}
				document, err := proposal.YAML()
				g.Expect(err).NotTo(HaveOccurred())
				checkDocument(t, document, proposal, refuses)
				cluster := &ucv1.Cluster{}
				g.Expect(yaml.UnmarshalStrict([]byte(document), cluster)).To(Succeed(), document)
				if len(proposal.Missing()) == 0 {
					g.Expect(l.catalogue.Objections(nil, cluster)).To(BeEmpty(), "the webhook")
				}
			}
		})
	}
}

func checkDocument(
	t *testing.T, document string, proposal registration.Proposal, refuses func(map[string]any) field.ErrorList,
) {
	t.Helper()
	g := NewWithT(t)
	manifest := map[string]any{}
	g.Expect(yaml.UnmarshalStrict([]byte(document), &manifest)).To(Succeed(), document)
	g.Expect(manifest).To(Equal(proposal.Manifest()), "the document says what its fields say")
	spec := manifest["spec"].(map[string]any)
	g.Expect(spec["mode"]).To(Equal("PlanOnly"))
	g.Expect(spec["features"]).To(Equal(map[string]any{"externalCloudProvider": false}))
	for _, problem := range refuses(manifest) {
		g.Expect(problem.Type).To(Equal(field.ErrorTypeRequired), "%s", problem)
		g.Expect(proposal.Missing()).To(ContainElement(HavePrefix(strings.TrimPrefix(problem.Field, "."))), "%s", problem)
	}
}
