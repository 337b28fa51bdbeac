package cluster

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

// relatedRecorder keeps what events are related to.
type relatedRecorder struct{ related []runtime.Object }

func (r *relatedRecorder) Eventf(_, related runtime.Object, _, _, _, _ string, _ ...any) {
	r.related = append(r.related, related)
}

func TestEventsNameWhatTheyAreAbout(t *testing.T) {
	kcm := &corev1.ObjectReference{Kind: "Deployment", APIVersion: "apps/v1", Namespace: "user", Name: "kube-controller-manager"}
	for name, tc := range map[string]struct {
		before func(*ucv1.Cluster)
		step   ucv1.Step
		decide func(*migration.Decision)
		want   runtime.Object
	}{
		"a step whose action changes something": {passes.AtStep(ucv1.StepMachineController), ucv1.StepRoll,
			func(d *migration.Decision) {
				d.Action = &outcome.Action{Kind: outcome.ActionRollMachineDeployment, Why: "Rolling.", Objects: passes.Refs(2)}
			}, &corev1.ObjectReference{
				Kind: "MachineDeployment", APIVersion: "cluster.k8s.io/v1alpha1", Namespace: "kube-system", Name: "pool-0",
			}},
		"a step that waits": {passes.AtStep(ucv1.StepAddons), ucv1.StepHandover, passes.Waiting("ProvingSilence", "Waiting."), kcm},
		"a step of the machine-controller": {passes.AtStep(ucv1.StepHandover), ucv1.StepMachineController,
			passes.Waiting("RollingOut", "Waiting."),
			&corev1.ObjectReference{Kind: "Deployment", APIVersion: "apps/v1", Namespace: "user", Name: "machine-controller"}},
		"the same in the user cluster": {func(c *ucv1.Cluster) {
			passes.AtStep(ucv1.StepHandover)(c)
			c.Spec.MachineController = ucv1.MachineControllerSpec{
				Location:          ucv1.UserClusterLocation,
				MachineController: ucv1.LocatedDeployment{DeploymentReference: ucv1.DeploymentReference{Name: "mc"}},
			}
		}, ucv1.StepMachineController, passes.Waiting("RollingOut", "Waiting."),
			&corev1.ObjectReference{Kind: "Deployment", APIVersion: "apps/v1", Namespace: "kube-system", Name: "mc"}},
		"a failure, by what its message names first": {passes.AtStep(ucv1.StepRoll), ucv1.StepRoll,
			passes.Failing("BlockedMachines", "These cannot be rolled: ", observation.Ref{
				Kind: "Machine", Namespace: "kube-system", Name: "pet",
			},
				" has no MachineDeployment."),
			&corev1.ObjectReference{Kind: "Machine", APIVersion: "cluster.k8s.io/v1alpha1", Namespace: "kube-system", Name: "pet"}},
		"a failure that names nothing": {passes.AtStep(ucv1.StepHandover), ucv1.StepHandover, passes.Failing("ProbeFailed", "It did not lead."), kcm},
		"static pods have no object of their own": {func(c *ucv1.Cluster) {
			passes.AtStep(ucv1.StepHandover)(c)
			c.Spec.ControlPlane.Type = ucv1.ExternalControlPlane
		}, ucv1.StepHandover, passes.Failing("ProbeFailed", "It did not lead."), nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o, recorder := newTold(t), &relatedRecorder{}
			o.reconciler.Recorder = recorder
			s := passOf(passes.ClusterOf(ucv1.OriginMigrating, tc.before), passes.Decided(ucv1.OriginMigrating, tc.step, tc.decide))
			o.reconciler.reporter().tell(s, s.Cluster.Status, reported(t, s).Status)
			g.Expect(recorder.related).To(HaveLen(1))
			if tc.want == nil {
				g.Expect(recorder.related[0]).To(BeNil())
				return
			}
			g.Expect(recorder.related[0]).To(Equal(tc.want))
		})
	}
}
