package integration_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// refuse has a policy of the user cluster refuse every change of a MachineDeployment, and gives back what takes it away.
func (w *world) refuse(deployment *machines.MachineDeployment) (accept func()) {
	w.t.Helper()
	g := NewWithT(w.t)
	meta := metav1.ObjectMeta{Name: "frozen"}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: meta}
	policy.Spec.MatchConstraints = &admissionregistrationv1.MatchResources{
		ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
			ResourceNames: []string{deployment.Name},
			RuleWithOperations: admissionregistrationv1.RuleWithOperations{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{"cluster.k8s.io"}, APIVersions: []string{"*"}, Resources: []string{"machinedeployments"},
				},
			},
		}},
	}
	policy.Spec.Validations = []admissionregistrationv1.Validation{{Expression: "false", Message: "its image is gone"}}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta}
	binding.Spec = admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: meta.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
	}
	for _, object := range []client.Object{policy, binding} {
		g.Expect(w.user.client.Create(w.t.Context(), object)).To(Succeed())
	}
	// The API server reads policies from a watch.
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"tried":"now"}}}`))
	try := func() error {
		return w.user.client.Patch(w.t.Context(), deployment.DeepCopy(), patch, client.DryRunAll)
	}
	g.Eventually(try, deadline, interval).Should(MatchError(ContainSubstring("its image is gone")))
	accept = func() {
		for _, object := range []client.Object{binding, policy} {
			g.Expect(client.IgnoreNotFound(w.user.client.Delete(w.t.Context(), object))).To(Succeed())
		}
		g.Eventually(try, deadline, interval).Should(Succeed())
	}
	return accept
}

func TestAMachineDeploymentThatIsRefusedHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	frozen := w.pool("frozen", 1)
	w.pool("pool", 2)
	w.flip()
	w.until("the hand-over", func(c *ucv1.Cluster) bool { return c.Status.Step == ucv1.StepMachineController }, w.playEverybody)
	accept := w.refuse(frozen)
	w.until("the forceRestart value", func(c *ucv1.Cluster) bool { return c.Status.RollGeneration != "" }, w.playEverybody)
	began := w.clock.Now()
	w.clock.Step(time.Second)
	_, err := w.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: w.key()})
	g.Expect(err).To(MatchError(ContainSubstring("denied request")), "only once")
	g.Expect(w.condition("Ready").Reason).To(Equal("CouldNotAct"))
	w.until("a failure", func(*ucv1.Cluster) bool { return w.condition("Stalled").Reason == "BlockedMachines" }, w.playEverybody)
	g.Expect(w.clock.Since(began)).To(BeNumerically(">", 10*time.Minute))
	g.Expect(w.condition("MachineDeploymentsRolledOut").Message).To(Equal(
		"These cannot be rolled: ValidatingAdmissionPolicy frozen refuses changes of MachineDeployment kube-system/frozen; a dry run " +
			"shows why."))
	g.Expect(w.machineNames()).To(ConsistOf("frozen-0-0", "pool-1-0", "pool-1-1"))

	accept()
	w.until("the end", finished, w.playEverybody)
	g.Expect(w.machineNames()).To(ConsistOf("frozen-1-0", "pool-1-0", "pool-1-1"))
}
