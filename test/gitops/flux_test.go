package gitops

import (
	"os"
	"path/filepath"
	"testing"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// evaluators of a sample Kustomization, by kind.
func evaluators(t *testing.T, sample string) map[string]*cel.StatusEvaluator {
	t.Helper()
	g := NewWithT(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "gitops", "flux", sample))
	g.Expect(err).NotTo(HaveOccurred())
	kustomization := struct {
		Spec struct {
			HealthCheckExprs []kustomize.CustomHealthCheck `json:"healthCheckExprs"`
		} `json:"spec"`
	}{}
	g.Expect(yaml.Unmarshal(text, &kustomization)).To(Succeed())
	found := map[string]*cel.StatusEvaluator{}
	for _, check := range kustomization.Spec.HealthCheckExprs {
		g.Expect(check.APIVersion).To(Equal(ucv1.GroupVersion().String()))
		evaluator, err := cel.NewStatusEvaluator(&check.HealthCheckExpressions)
		g.Expect(err).NotTo(HaveOccurred())
		found[check.Kind] = evaluator
	}
	return found
}

func objectOf(t *testing.T, kind string, of any) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(of)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(ucv1.GroupVersion().WithKind(kind))
	return object
}

func conditions(are map[string]metav1.ConditionStatus) (list []metav1.Condition) {
	for kind, status := range are {
		list = append(list, metav1.Condition{Type: kind, Status: status, Reason: "Because"})
	}
	return list
}

type are = map[string]metav1.ConditionStatus

// A FleetMigration that runs for weeks is no reason for Flux to wait.
func TestFluxOfAFleetMigration(t *testing.T) {
	evaluator := evaluators(t, "clusters.yaml")["FleetMigration"]
	for name, test := range map[string]struct {
		conditions are
		generation int64
		want       kstatus.Status
	}{
		"it runs":                     {are{"Accepted": "True", "Ready": "False", "Reconciling": "True"}, 1, kstatus.CurrentStatus},
		"a person holds it":           {are{"Accepted": "True", "Ready": "False"}, 1, kstatus.CurrentStatus},
		"it has passed":               {are{"Accepted": "True", "Ready": "True"}, 1, kstatus.CurrentStatus},
		"it halted":                   {are{"Accepted": "True", "Ready": "False", "Stalled": "True", "Halted": "True"}, 1, kstatus.FailedStatus},
		"its spec cannot be followed": {are{"Accepted": "False", "Ready": "False", "Stalled": "True"}, 1, kstatus.FailedStatus},
		"its spec was changed since":  {are{"Accepted": "True", "Ready": "True"}, 2, kstatus.InProgressStatus},
		"no manager looked at it":     {nil, 1, kstatus.InProgressStatus},
	} {
		t.Run(name, func(t *testing.T) {
			fm := &ucv1.FleetMigration{ObjectMeta: metav1.ObjectMeta{Name: "north", Generation: test.generation}}
			fm.Status.ObservedGeneration, fm.Status.Conditions = 1, conditions(test.conditions)
			result, err := evaluator.Evaluate(t.Context(), objectOf(t, "FleetMigration", fm))
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			NewWithT(t).Expect(result.Status).To(Equal(test.want))
		})
	}
}

// Who waits until a Cluster is migrated does not go on because it is queued, or has not begun.
func TestFluxUntilAClusterIsMigrated(t *testing.T) {
	evaluator := evaluators(t, "clusters-until-migrated.yaml")["Cluster"]
	for name, test := range map[string]struct {
		conditions are
		generation int64
		want       kstatus.Status
	}{
		"it has completed":                 {are{"Ready": "True", "CSIKubeletMigrationCompleted": "True"}, 1, kstatus.CurrentStatus},
		"it waits for its turn":            {are{"Ready": "True", "Admitted": "False"}, 1, kstatus.InProgressStatus},
		"it is in-tree":                    {are{"Ready": "True"}, 1, kstatus.InProgressStatus},
		"it migrates":                      {are{"Ready": "False", "CSIKubeletMigrationCompleted": "False"}, 1, kstatus.InProgressStatus},
		"it has completed and fails":       {are{"Ready": "False", "CSIKubeletMigrationCompleted": "True", "Stalled": "True"}, 1, kstatus.FailedStatus},
		"it has completed and is not well": {are{"Ready": "Unknown", "CSIKubeletMigrationCompleted": "True"}, 1, kstatus.InProgressStatus},
		"its spec was changed since":       {are{"Ready": "True", "CSIKubeletMigrationCompleted": "True"}, 2, kstatus.InProgressStatus},
	} {
		t.Run(name, func(t *testing.T) {
			c := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "user", Name: "a", Generation: test.generation}}
			c.Status.ObservedGeneration, c.Status.Conditions = 1, conditions(test.conditions)
			result, err := evaluator.Evaluate(t.Context(), objectOf(t, "Cluster", c))
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			NewWithT(t).Expect(result.Status).To(Equal(test.want))
		})
	}
}

// An object without a status cannot be judged, and is not Current: Flux asks again.
func TestFluxDoesNotTrustAnObjectWithoutStatus(t *testing.T) {
	for sample, kind := range map[string]string{"clusters.yaml": "FleetMigration", "clusters-until-migrated.yaml": "Cluster"} {
		object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "new", "generation": int64(1)}}}
		result, err := evaluators(t, sample)[kind].Evaluate(t.Context(), object)
		NewWithT(t).Expect(err == nil && result.Status == kstatus.CurrentStatus).To(BeFalse(), sample)
	}
}
