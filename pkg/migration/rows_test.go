package migration

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func TestTheAPIKnowsEveryStep(t *testing.T) {
	g := NewWithT(t)
	files, err := filepath.Glob("../../config/crd/bases/*clusters.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(HaveLen(1))
	encoded, err := os.ReadFile(files[0])
	g.Expect(err).NotTo(HaveOccurred())
	var crd apiextensionsv1.CustomResourceDefinition
	g.Expect(yaml.Unmarshal(encoded, &crd)).To(Succeed())

	var want []string
	for _, step := range Steps() {
		want = append(want, `"`+string(step)+`"`)
	}
	var known []string
	for _, value := range crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"].Properties["step"].Enum {
		known = append(known, string(value.Raw))
	}
	g.Expect(known).To(ConsistOf(want))
}

func TestEveryRowOfTheRollbackTakesBackARowOfTheMigration(t *testing.T) {
	for _, row := range RollbackTable() {
		t.Run(string(row.Step), func(t *testing.T) {
			NewWithT(t).Expect(RowOf(ucv1.OriginMigrating, row.RollsBack).Conditions).NotTo(BeEmpty())
		})
	}
}
