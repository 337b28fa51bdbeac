package roll_test

import (
	"context"
	"fmt"

	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// makesMachinesAgain has a machine-controller that deletes each Machine whose Node does not join in time. None of these Machines
// gets as old as the deadline, and the wait counts from the first of them.
func (h *rolls) makesMachinesAgain(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	h.NodesJoin(ctx, s, u, 1)
	former := h.machines(ctx, s, u)
	refusal := keepExternalNodesOut()
	for _, object := range refusal {
		s.Expect(u.Client.Create(ctx, object)).To(Succeed())
	}
	h.Patch(ctx, s, u, `{"spec":{"rollout":{"canary":"None","nodeDeadlineSeconds":90},"slo":{"onViolation":"Continue"}}}`)
	h.Flip(ctx, s, u)
	made := map[string]bool{}
	stalled := h.WaitForCluster(ctx, s, u, "a call for a person", func(cluster *ucv1.Cluster) string {
		list := &machines.MachineList{}
		if err := u.Client.List(ctx, list); err != nil {
			return err.Error()
		}
		for _, machine := range external(list.Items) {
			made[machine.Name] = true
		}
		if reason := stalledOf(cluster).Reason; reason != ucv1.NodesNotInitializedReason {
			return fmt.Sprintf("step %s, Stalled is %q, %d Machines were made", cluster.Status.Step, reason, len(made))
		}
		return ""
	})
	s.Logf("%d Machines were made until a person was called: %s", len(made), stalledOf(stalled).Message)
	s.Expect(len(made)).To(BeNumerically(">", 1))
	s.Expect(h.machines(ctx, s, u)).To(ContainElements(former), "what serves was replaced by what does not join")

	for _, object := range refusal {
		s.Expect(u.Client.Delete(ctx, object)).To(Succeed())
	}
	h.WaitForCluster(ctx, s, u, "the end of its migration", suite.IsTrue(ucv1.CSIKubeletMigrationCompletedCondition))
	h.expectGivenBack(ctx, s, u, slowPool)
}

// keepExternalNodesOut is a policy that refuses the Nodes of kubelets with an external provider.
func keepExternalNodesOut() []client.Object {
	meta := metav1.ObjectMeta{Name: "no-external-nodes"}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: meta}
	policy.Spec.MatchConstraints = &admissionregistrationv1.MatchResources{
		ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"*"}, Resources: []string{"nodes"}},
		}}},
	}
	policy.Spec.Validations = []admissionregistrationv1.Validation{{
		Expression: "!has(object.spec.taints) || !object.spec.taints.exists(t, t.key == '" + machines.UninitializedTaint + "')",
	}}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta}
	binding.Spec.PolicyName = meta.Name
	binding.Spec.ValidationActions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}
	return []client.Object{binding, policy}
}
