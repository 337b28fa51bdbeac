package integration_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/machines/machinecontroller"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// refuse has a policy of the user cluster accept only such objects of a kind, waits until it refuses that change of one of them, and
// gives back what takes the policy away.
func (w *world) refuse(object client.Object, resource, accepts string, change map[string]any) (accept func()) {
	w.t.Helper()
	g := NewWithT(w.t)
	meta := metav1.ObjectMeta{Name: "frozen"}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: meta}
	policy.Spec.MatchConstraints = &admissionregistrationv1.MatchResources{
		ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
			RuleWithOperations: admissionregistrationv1.RuleWithOperations{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{"cluster.k8s.io"}, APIVersions: []string{"*"}, Resources: []string{resource},
				},
			},
		}},
	}
	policy.Spec.Validations = []admissionregistrationv1.Validation{{Expression: accepts, Message: "its image is gone"}}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta}
	binding.Spec = admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: meta.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
	}
	for _, object := range []client.Object{policy, binding} {
		g.Expect(w.user.client.Create(w.t.Context(), object)).To(Succeed())
	}
	// The API server reads policies from a watch.
	raw, err := json.Marshal(change)
	g.Expect(err).NotTo(HaveOccurred())
	try := func() error {
		tried, isObject := object.DeepCopyObject().(client.Object)
		g.Expect(isObject).To(BeTrue())
		return w.user.client.Patch(w.t.Context(), tried, client.RawPatch(types.MergePatchType, raw), client.DryRunAll)
	}
	g.Eventually(try, deadline, interval).Should(MatchError(ContainSubstring("its image is gone")))
	remove := func(ctx context.Context) {
		for _, object := range []client.Object{binding, policy} {
			g.Expect(client.IgnoreNotFound(w.user.client.Delete(ctx, object))).To(Succeed())
		}
	}
	w.t.Cleanup(func() { remove(context.Background()) }) // Another test takes the user cluster.
	accept = func() {
		remove(w.t.Context())
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
	accept := w.refuse(frozen, "machinedeployments", "object.metadata.name != 'frozen'",
		map[string]any{"metadata": map[string]any{"annotations": map[string]any{"tried": "now"}}})
	w.until("the forceRestart value", func(c *ucv1.Cluster) bool { return c.Status.RollGeneration != "" }, w.playEverybody)
	began := w.clock.Now()
	w.clock.Step(time.Second)
	w.refusal = "denied request"
	w.pass()
	g.Expect(w.condition("Ready").Reason).To(Equal("CouldNotAct"))
	w.refusal = "" // It is told once.
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

// A policy keeps an old MachineSet from being lowered: none of its Machines goes, and minReadySeconds is not given back.
func TestAMachineSetThatMayNotBeLoweredHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("a", 2)
	w.pool("b", 1)
	w.flip()
	w.edit(func(c *ucv1.Cluster) { c.Spec.Rollout.MaxConcurrent = new(intstr.FromInt32(2)) })
	w.until("the hand-over", func(c *ucv1.Cluster) bool { return c.Status.Step == ucv1.StepMachineController }, w.playEverybody)
	old := &machines.MachineSet{}
	g.Expect(w.user.client.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "a-0"}, old)).To(Succeed())
	accept := w.refuse(old, "machinesets", "object.metadata.name != 'a-0' || object.spec.replicas == oldObject.spec.replicas",
		map[string]any{"spec": map[string]any{"replicas": 1}})
	w.refusal = "denied request"
	w.until("the refusal", func(*ucv1.Cluster) bool { return w.condition("Ready").Reason == "CouldNotAct" }, w.playEverybody)
	w.refusal = "" // It is told once.
	w.until("a failure", func(*ucv1.Cluster) bool { return w.condition("Stalled").Reason == "BlockedMachines" }, w.playEverybody)
	g.Expect(w.condition("MachineDeploymentsRolledOut").Message).To(Equal(
		"These cannot be rolled: ValidatingAdmissionPolicy frozen refuses changes of Machines or MachineSets of MachineDeployment " +
			"kube-system/a; a dry run shows why."))
	g.Expect(w.machineNames()).To(ContainElements("a-0-0", "a-0-1", "a-1-0", "b-1-0"))
	g.Expect(w.machineNames()).NotTo(ContainElement("b-0-0"))

	accept()
	w.until("the end", finished, w.playEverybody)
	g.Expect(w.machineNames()).NotTo(ContainElement(HavePrefix("a-0")))
}

// To the API server, the UID of a Machine that is gone is an invalid change of the one that has its name now.
func TestAMachineThatWasMadeAgainIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	pool, former := w.pool("a", 1), &machines.Machine{}
	g.Expect(w.user.client.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "a-0-0"}, former)).To(Succeed())
	accept := w.refuse(former, "machines", "false", map[string]any{"metadata": map[string]any{"annotations": map[string]any{"tried": "now"}}})
	adapter := machinecontroller.New(w.user.client, w.clock, watches.New(watches.Clients{}, func() {}, logr.Discard()))
	ref := func(kind string, object client.Object) observation.Ref {
		return observation.Ref{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: string(object.GetUID())}
	}
	marks := outcome.Action{
		Kind: outcome.ActionMarkMachines, Objects: []observation.Ref{ref("Machine", former)},
		Step: &outcome.MachineSetStep{Deployment: ref("MachineDeployment", pool)},
	}
	g.Expect(adapter.Change(t.Context(), marks)).To(MatchError(ContainSubstring("denied request")))
	asksLater := func() observation.Refusal {
		w.clock.Step(time.Minute)
		return adapter.Observe(t.Context()).Value().Deployments[0].Refusal
	}
	g.Expect(asksLater().Of).To(Equal(observation.RefusedStep))

	g.Expect(w.user.client.Delete(t.Context(), former)).To(Succeed())
	former.ResourceVersion, former.UID = "", ""
	g.Expect(w.user.client.Create(t.Context(), former)).To(Succeed())
	g.Expect(asksLater()).To(BeZero())
	accept()
}
