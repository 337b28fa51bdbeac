package integration_test

import (
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster"
)

// A CustomResourceDefinition that is older than the controller lacks a field. It is of all tests, so this one is not parallel.
func TestTheLastStatusDoesNotStayWhenTheDefinitionIsTooOld(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.create(feature(false))
	w.pass()
	g.Expect(meta.IsStatusConditionTrue(w.status().Conditions, ucv1.ReadyCondition)).To(BeTrue())

	original := &apiextensionsv1.CustomResourceDefinition{}
	g.Expect(suite.client.Get(t.Context(), clusterCRD(), original)).To(Succeed())
	t.Cleanup(func() { updateCRD(t, original.Spec) })
	older := original.DeepCopy()
	delete(older.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"].Properties, "timeline")
	g.Expect(cluster.MissingFields(t.Context(), w.manager)).To(BeEmpty(), "with what config/default grants")
	updateCRD(t, older.Spec)
	g.Expect(cluster.MissingFields(t.Context(), w.manager)).To(ConsistOf("status.timeline"), "what a manager says when it starts")

	w.edit(feature(true))
	ready := func() metav1.Condition {
		_, _ = w.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: w.key()})
		return *meta.FindStatusCondition(w.status().Conditions, ucv1.ReadyCondition)
	}
	g.Eventually(ready, deadline, interval).Should(And(
		HaveField("Status", metav1.ConditionUnknown), HaveField("Reason", ucv1.StatusRefusedReason)))
	g.Expect(meta.IsStatusConditionTrue(w.status().Conditions, ucv1.StalledCondition)).To(BeTrue())

	updateCRD(t, original.Spec)
	g.Eventually(ready, deadline, interval).ShouldNot(HaveField("Reason", ucv1.StatusRefusedReason))
}

func TestTheAPIServerRefusesControlCharactersInAStatus(t *testing.T) {
	t.Parallel()
	c := createCluster(t, newCluster(newNamespace(t)))
	for name, tc := range map[string]struct {
		text    string
		refused bool
	}{
		"DEL": {"a\x7f", true}, "C1": {"a\u009b", true}, "a noncharacter": {"a\uffff", true},
		"what stands in their place": {"a?", false}, "letters and symbols": {"é→日🙂\n\t", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.DeepCopy()
			c.Status = ucv1.ClusterStatus{Conditions: []metav1.Condition{
				{Type: "Ready", Status: "True", Reason: "R", Message: tc.text, LastTransitionTime: metav1.Now()},
			}}
			NewWithT(t).Expect(apierrors.IsBadRequest(statusApplied(t, c))).To(Equal(tc.refused))
		})
	}
}
