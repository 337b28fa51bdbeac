package integration_test

import (
	"os"
	"strings"
	"testing"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// previousSchema is that of Clusters in the previous version that test/chart upgrades.
func previousSchema(t *testing.T) *schema.Structural {
	t.Helper()
	g := NewWithT(t)
	content, err := os.ReadFile("../chart/testdata/previous/install.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		definition, internal := &apiextensionsv1.CustomResourceDefinition{}, &apiextensions.JSONSchemaProps{}
		if g.Expect(yaml.Unmarshal([]byte(document), definition)).To(Succeed()); definition.Spec.Names.Kind != "Cluster" {
			continue
		}
		g.Expect(apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
			definition.Spec.Versions[0].Schema.OpenAPIV3Schema, internal, nil)).To(Succeed())
		structural, err := schema.NewStructural(internal)
		g.Expect(err).NotTo(HaveOccurred())
		return structural
	}
	t.Fatal("the previous version defines no Cluster")
	return nil
}

// returnToPrevious leaves of the status what the previous version could have stored, and says whether that is less.
func (w *world) returnToPrevious(previous *schema.Structural) (less bool) {
	w.t.Helper()
	g, c := NewWithT(w.t), w.object()
	stored, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
	g.Expect(err).NotTo(HaveOccurred())
	less = len(pruning.PruneWithOptions(stored, previous, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})) > 0
	former := &ucv1.Cluster{}
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(stored, former)).To(Succeed())
	c.Status = former.Status
	g.Expect(suite.client.Status().Update(w.t.Context(), c)).To(Succeed())
	return less
}

// In each step of a migration, a controller comes that finds no more than the previous version could have stored.
func TestAMigrationOfThePreviousVersionGoesOnInEachStep(t *testing.T) {
	t.Parallel()
	g, previous := NewWithT(t), previousSchema(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("small", 1)
	w.pool("large", 2)
	w.flip()
	steps := map[ucv1.Step]bool{}
	w.until("the end", finished, w.playEverybody, func() {
		step := w.status().Step
		if _, seen := steps[step]; step == "" || seen {
			return
		}
		steps[step] = w.returnToPrevious(previous)
		w.restart()
		w.pass()
	})
	g.Expect(len(steps)).To(BeNumerically(">=", 8), "%v", steps)
	g.Expect(steps).To(HaveKeyWithValue(ucv1.StepRoll, true), "it knew less")
	w.expectVerdict(kstatus.CurrentStatus)
	g.Expect(w.machineNames()).To(ConsistOf("small-1-0", "large-1-0", "large-1-1"), "each was replaced once")
	w.restart()
	w.returnToPrevious(previous)
	w.pass()
	g.Expect(w.status().Step).To(Equal(ucv1.StepFinished), "what has finished stays finished")
	g.Expect(w.machineNames()).To(ConsistOf("small-1-0", "large-1-0", "large-1-1"))
}
